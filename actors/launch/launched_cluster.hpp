#pragma once

#include "actors/cluster/client/client.hpp"
#include "actors/launch/launch.hpp"
#include "actors/launch/processes.hpp"
#include "actors/transport/sockets/connections/keys.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

class temporary_folder;

/// A cluster that lives as long as this object: all of its daemons end with it,
/// and with this process. To be used by one thread.
class launched_cluster {
public:
  struct settings {
    std::filesystem::path key; ///< For the client, as in the launch.
    bool insecure = false;     ///< The same.
    signal_watch* signals = nullptr;
    /// Told what has happened to a daemon: a sentence, and lines that it
    /// quotes.
    std::function<void(const std::string&)> tell{};
    /// How long all daemons together may take until they are in service.
    std::chrono::milliseconds patience = std::chrono::seconds{120};
  };

  /// Starts daemons on this machine and waits until all are in service.
  /// `launch.ready` is chosen here, and the key if there is to be one and none
  /// is named: then nobody but this cluster and its client ever has it.
  static result<launched_cluster> start(local_launch launch, settings with);

  /// The same by ssh.
  static result<launched_cluster> start(const remote_launch& launch,
                                        settings with);

  ~launched_cluster();
  launched_cluster(launched_cluster&&) noexcept = default;
  launched_cluster& operator=(launched_cluster&&) = delete;

  cluster_client& client() { return *client_; }

  /// Starts daemons again that have died, for runs go on then: the coordinator
  /// however it ended, another one unless it was told to end. Fails if one dies
  /// too often, or after a signal. May take as long as the coordinator takes to
  /// listen; nobody waits for another one.
  result<void> check_daemons();

  /// Ends all daemons, if need be by force. Bounded.
  void end();

private:
  explicit launched_cluster(settings with) : with_(std::move(with)) {}
  result<void> launch_local(local_launch launch);
  result<void> add(process_command command);
  result<void> check(std::size_t index);
  result<void> start_again(std::size_t index);
  void forget_begun();
  bool interrupted() const;
  result<std::string> await_address(const std::filesystem::path& file);
  result<void> await_coordinator(const std::filesystem::path& file);
  result<void> open_client(const std::string& address);
  result<void> await_daemons();
  result<void> check_all();
  result<void> pause();

  using times = std::vector<std::chrono::steady_clock::time_point>;
  /// A daemon that was started again, until it has joined.
  struct beginning {
    std::filesystem::path ready_file;
    std::shared_ptr<temporary_folder> folder; ///< Of that, and of the key.
  };

  settings with_;
  std::optional<local_launch> local_;   ///< As the first daemons were started,
  std::optional<remote_launch> remote_; ///< one way or the other.
  std::optional<curve_keys> keys_;      ///< That this cluster alone has.
  std::map<std::size_t, times> deaths_; ///< Of each daemon, lately.
  std::map<std::size_t, beginning> begun_; ///< Daemons by their index.
  std::chrono::steady_clock::time_point until_;
  std::vector<child_process> daemons_; ///< The coordinator first.
  std::optional<cluster_client> client_;
};

} // namespace graphmill
