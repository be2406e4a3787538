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
/// A run may be lost with a daemon or with the coordinator. The claim then asks
/// for another one, which goes on from the step that is due. A batch, or a run
/// that has been on for some seconds, makes up for all losses before. The claim
/// is over when its patience has passed since a loss and nothing made up for
/// it. A coordinator that does not answer is no loss yet while the consumer's
/// share stands: owners still make batches. It knows neither actors nor
/// messages: its user carries out the tasks that it returns.
class feed_claim {
public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;

  enum class task : std::uint8_t {
    none,
    ask,  ///< Ask for a run, then call `asked`.
    look, ///< Ask how the run stands, then call `told`.
    end,  ///< Tell the consumer the `failure`: the claim is over.
  };

  /// @param patience How long it waits after a loss.
  explicit feed_claim(std::chrono::seconds patience) : patience_(patience) {}

  /// What is to be done now. Called every now and then.
  task due(time_point now);

  /// The consumer's share of a run has ended, or can make no more batches. How
  /// the run stands is due at once.
  void share_ended(const std::string& run, time_point now);

  /// All shares of the run are there.
  void begun(const std::string& run);

  /// A batch of the run has come.
  void fed() { lost_ = false; }

  /// The answer to `ask` has come.
  task asked(const result<std::string>& run, time_point now);
  /// The answer to `look` has come.
  task told(const result<feed_state_reply>& state, time_point now);

  /// The claim cannot go on, however the run stands.
  task give_up(error reason);

  const std::string& run() const { return run_; }

  /// What the consumer waits for; empty: for batches alone.
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
