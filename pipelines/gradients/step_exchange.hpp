#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/exchange_schedule.hpp"
#include "pipelines/gradients/gradient_progress.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// What ranks tell each other beside their gradients.
struct step_word {
  std::int64_t step = 0; ///< Must be the same on all ranks.
  bool stop = false;     ///< This rank asks to stop.
};

/// One step of one rank: adds up gradients over ranks in rank order, bit by bit
/// like `add` would. A bucket's chunks go to the ranks that add them up, and
/// their sums to all: as many bytes as a ring all-reduce moves, but in an order
/// that does not depend on the ring. Of two ranks, each adds up all.
///
/// It is a state machine in which nothing blocks. It starts the operations of
/// the schedule one after the other, as soon as the next one is ready: parts of
/// a bucket when backward has made its gradients final, words when backward has
/// ended, sums of a bucket when its parts have come, and tables when words have
/// come, for only these say how many rows to expect. When all have been started
/// and are done, the step is; when one fails, the step has failed and is not to
/// be advanced again. One thread uses it, the one that calls
/// `group_rank::reduce`.
class step_exchange {
public:
  /// Unless the step ends well, this object must stay as long as `group`, which
  /// may still write to its memory.
  /// @param mine Is not changed; read as `progress` allows, and not changed by
  /// anybody while it has other owners.
  /// @param sum Receives the sum, and is then not changed either.
  step_exchange(collective& group, exchange_schedule& schedule,
                const step_word& word, std::shared_ptr<const gradient_set> mine,
                const gradient_progress& progress,
                std::shared_ptr<gradient_set> sum);

  /// Does what can be done now. Fails with the reason of the operation that has
  /// failed, or because ranks do not say what fits together.
  /// @returns whether `sum` is complete.
  result<bool> advance();

  /// Whether any rank asks to stop; after the step, as the next one.
  bool stop() const { return stop_; }
  /// What each rank's batch gave, by rank; after the step. Whoever has the sum
  /// knows them all, so that no rank's are lost with it.
  const std::vector<batch_metrics>& metrics() const { return metrics_; }
  /// How many bytes this rank has sent and received, or begun to.
  std::uint64_t bytes() const { return bytes_; }

  /// After a failure: the rank whose connection has failed, if it was one's.
  std::optional<rank_id> lost() const { return lost_; }
  /// The ranks that have not sent all that is expected of them, in the first
  /// operation of which that can be told; or all other ranks, if there is none.
  std::vector<rank_id> silent() const;

private:
  using kind = exchange_schedule::kind;
  using transfers = std::vector<transfer>;

  bool ready(const exchange_schedule::post& next) const;
  result<void> start(const exchange_schedule::post& next);
  void start_listening();
  result<void> start_words();
  void start_parts(std::size_t bucket);
  void start_sums(std::size_t bucket);
  void start_tables();
  std::span<std::byte> sum_of(const bucket& chunk) const;
  result<void> read_words();
  result<void> finish_tables();
  void post(const transfers& out, const transfers& in,
            std::shared_ptr<operation> posted);
  std::span<std::int64_t> words_of(rank_id rank);
  std::vector<rank_id> unheard(const operation& of) const;
  template <class F>
  void for_peers(const F& f) const;

  collective& group_;
  exchange_schedule& schedule_;
  const step_word word_;
  const std::shared_ptr<const gradient_set> mine_;
  const gradient_progress& progress_;
  const std::shared_ptr<gradient_set> sum_;
  std::vector<std::shared_ptr<operation>> operations_; ///< In posting order.
  std::vector<std::shared_ptr<operation>> parts_;      ///< By bucket.
  /// The operation that receives the words of the other ranks.
  std::shared_ptr<operation> spoken_;
  std::vector<std::int64_t> words_;  ///< [ranks, words of a rank]
  std::vector<gradient_set> tables_; ///< By rank; that of this one is empty.
  std::optional<rank_id> lost_;
  std::uint64_t bytes_ = 0;
  std::vector<batch_metrics> metrics_;
  bool stop_ = false;
};

} // namespace graphmill
