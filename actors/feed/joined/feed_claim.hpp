#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/cluster.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// A consumer's claim to be fed by a cluster, over as many runs as that takes:
///
///     unclaimed -- due --> asking -- a run --> claimed
///         |                   |                  |
///         '<----- a loss -----+------------------'
///
///     any -- refused, failed, cancelled, waited for too long --> over
///
/// A run that is lost with a daemon, or with the coordinator, is followed by
/// another one, which goes on from the step that is due. The claim waits for
/// that no longer than its patience after the first loss since it was fed, or
/// stood. It knows neither actors nor messages: whoever uses it carries out
/// what it says.
class feed_claim {
public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;

  enum class task : std::uint8_t {
    none,
    ask,  ///< Ask for a run, then call `asked`.
    look, ///< Ask how the run stands, then call `told`.
    end,  ///< It is over: tell the consumer of `failure`.
  };

  /// @param patience How long it waits after a loss.
  explicit feed_claim(std::chrono::seconds patience) : patience_(patience) {}

  /// At each look at the time.
  task due(time_point now);

  /// The share of the run has ended here: what has become of the run is to be
  /// known soon.
  void share_ended(const std::string& run, time_point now);

  /// All shares of the run are there.
  void begun(const std::string& run);

  /// A batch of the run has come. One that nobody asks for batches counts as
  /// good, too, once it has been on for some seconds.
  void fed() { lost_ = false; }

  task asked(const result<std::string>& run, time_point now);
  task told(const result<feed_state_reply>& state, time_point now);

  /// It cannot go on, whatever the run does.
  task give_up(error reason);

  const std::string& run() const { return run_; }

  /// What it waits for; empty: for batches alone.
  const std::string& waits() const { return waits_; }

  const error& failure() const { return failure_; }

private:
  task lose(const error& reason, time_point now);

  std::chrono::seconds patience_;
  std::string run_; ///< Empty: none is claimed.
  bool asking_ = false;
  bool begun_ = false;
  bool over_ = false;
  bool lost_ = false;
  time_point lost_at_{}; ///< If it is lost.
  /// Since when the run is known to be on, with all shares.
  std::optional<time_point> stands_since_;
  time_point next_{}; ///< Nothing is due before.
  std::string waits_;
  error failure_;
};

} // namespace graphmill
