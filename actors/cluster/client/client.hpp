#pragma once

#include "actors/process/signals.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"
#include "messages/wire/trace.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace graphmill {

/// The default address of daemons, and of the coordinator for clients.
inline constexpr const char* default_cluster = "tcp://127.0.0.1:7800";

/// A command's connection to a cluster's coordinator. Every call is a request
/// that waits for its answer. It ends within seconds, also without a
/// coordinator: then with `ec::unavailable` and the remedy. Calls come from one
/// thread. Answers of the coordinator, errors included, are passed on.
class cluster_client {
public:
  struct settings {
    std::string command; ///< Our name in handshakes.
    /// Of the coordinator; with stand-ins, several with commas between them.
    std::string address = default_cluster;
    std::filesystem::path key; ///< Key file; empty: the user's own.
    bool insecure = false;     ///< The cluster has no key.
    /// If given, a signal ends the call under way with `ec::cancelled`. Must
    /// outlive the client.
    signal_watch* signals = nullptr;
    /// Ends the current call and all later ones with `ec::cancelled`: for calls
    /// of a thread that another one must end.
    std::stop_token stop{};
    std::chrono::milliseconds deadline = std::chrono::seconds{15};
    std::chrono::milliseconds unreachable = std::chrono::seconds{4};
    /// Instead of `unreachable`, while nobody listens at an address where
    /// nobody has answered before: a coordinator may be about to start there,
    /// and is not about to come back.
    std::chrono::milliseconds refused = std::chrono::milliseconds{1500};
  };

  /// Reads the key and gets ready; does not wait for the coordinator.
  static result<cluster_client> make(settings with);

  /// The last address of the coordinator, or the first to try.
  const std::string& address() const { return addresses_[current_]; }

  /// @param tensorboard Whether its folder gets curves for TensorBoard.
  /// @returns the id of the run.
  result<std::string> submit(const definition& def, bool tensorboard = false);
  /// The same for a run that continues another one of the cluster, or an upload
  /// of this client.
  result<std::string> resume(const definition& def, const resume_request& of);
  result<plan_reply> plan(const definition& def);
  result<status_reply> status();
  /// The health of a running run.
  result<run_health> health(const health_request& request);
  /// Lines of the logs of all daemons.
  result<log_reply> logs(const log_request& request);
  /// The events of the cluster.
  result<events_reply> events(const events_request& request);
  /// The actions of a daemon's actors; see `fetch_trace`.
  result<trace_reply> trace(const trace_request& request);
  result<runs_reply> runs(const runs_request& request);
  result<watch_reply> watch(const watch_request& request);
  result<void> cancel(const cancel_request& request);
  result<void> drain(const daemon_request& request);
  result<void> stop(const daemon_request& request);
  /// Answered before the daemon is harmed.
  result<void> chaos(const chaos_request& request);
  result<file_reply> fetch_file(const file_request& request);
  result<void> upload(const upload_request& piece);

  /// The record of a run; of the latest one if `id` is empty.
  result<run_record> run(const std::string& id);

  /// After a signal has ended a call: only later signals end another one.
  void forget_signals();

private:
  struct peer_states;

  explicit cluster_client(settings with) : with_(std::move(with)) {}
  result<payload> call(method method_id, const payload& body,
                       std::chrono::milliseconds more = {});
  result<payload> call_there(method method_id, payload body,
                             std::chrono::milliseconds more);
  error explain(error reason) const;

  settings with_;
  std::vector<std::string> addresses_; ///< Not empty.
  std::size_t current_ = 0;
  int signals_seen_ = 0;
  /// By address. Written by the transport's thread.
  std::shared_ptr<peer_states> peers_;
  std::unique_ptr<transport> transport_;
};

} // namespace graphmill
