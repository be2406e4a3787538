#pragma once

#include "messages/base/counter.hpp"
#include "messages/wire/health.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// What has gone between this daemon and another one of its run beside what the
/// gauges of proxies count: gradients, and what that daemon has asked for here.
/// Bytes are those of bodies and bulk. A copy is a reading.
struct peer_flow {
  counter asked;              ///< Messages with gradients to that daemon.
  counter served;             ///< Its requests for data, and its gradients.
  counter gradients_sent;     ///< Bytes.
  counter gradients_received; ///< The same.
  counter data_sent;          ///< Bytes of answers to its requests for data.
  counter data_received;      ///< Bytes of these requests.

  bool is_empty() const;
};

/// The flows between this daemon and the others of the runs that are on, all of
/// these together. Nobody else is counted, so that strangers take no room. Any
/// thread may call it; the lock is held to find a flow, and not to count.
class peer_flows {
public:
  using clock = std::chrono::steady_clock;

  /// All flows at one moment, by daemon, and since when they are counted.
  struct reading {
    clock::time_point begun;
    clock::time_point at;
    std::map<std::string, peer_flow> flows;
  };

  /// Counts what goes between here and the daemons of a run that begins.
  /// @param beside Runs that go on here: what is counted for them goes on, too.
  /// Without any, all is forgotten and counted anew.
  void begin(const std::string& run, const std::vector<std::string>& daemons,
             const std::vector<std::string>& beside = {},
             clock::time_point now = clock::now());

  /// Null: it is none of these runs'.
  std::shared_ptr<peer_flow> to(std::string_view daemon) const;

  reading read(clock::time_point now) const;

private:
  mutable std::mutex mutex_;
  clock::time_point begun_{};
  std::map<std::string, std::vector<std::string>> daemons_; ///< By run.
  std::map<std::string, std::shared_ptr<peer_flow>, std::less<>> flows_;
};

/// Adds flows to what gauges tell of peers, over a window of the last readings.
/// For one caller at a time, who asks about once a second.
class peer_flow_sampler {
public:
  /// Peers that the gauges have not named are appended, as far as a report has
  /// room, once something has gone there or come from there.
  void add_to(std::vector<peer_health>& peers, const peer_flows& flows,
              peer_flows::clock::time_point now);

private:
  /// The oldest first, as many as the window of the gauges spans.
  std::deque<peer_flows::reading> readings_;
};

} // namespace graphmill
