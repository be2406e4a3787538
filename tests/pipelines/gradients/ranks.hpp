#pragma once

#include "pipelines/gradients/devices/orphan_threads.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/gradients/group_rank.hpp"
#include "tests/support/memory_rendezvous.hpp"

#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill::test {

/// What connects the ranks of a test. Each program has its own: a network in
/// memory, or transports on loopback; with all exchanges by it, or with bulk by
/// a carrier.
group_rank::connector connector_of(std::shared_ptr<rendezvous_store> store,
                                   std::shared_ptr<orphan_threads> orphans);

inline std::vector<rank_id> all_ranks(rank_id ranks) {
  std::vector<rank_id> out(static_cast<std::size_t>(ranks));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Ranks as threads of this process.
struct rank_group {
  using milliseconds = std::chrono::milliseconds;

  std::shared_ptr<orphan_threads> orphans = std::make_shared<orphan_threads>();
  std::shared_ptr<memory_rendezvous> store =
    std::make_shared<memory_rendezvous>();
  /// Long enough for a loaded machine under a sanitizer; tests of what happens
  /// after these times choose their own.
  group_options options{.run = "test",
                        .join_timeout = milliseconds{200'000},
                        .step_timeout = milliseconds{200'000},
                        .slow_after = milliseconds{20},
                        .grace = milliseconds{200}};
  gradient_shape shape;
  bucket_limits limits;
  std::shared_ptr<stage_counters> counters =
    std::make_shared<stage_counters>("group", 1);
  std::vector<std::unique_ptr<group_rank>> joined;

  rank_group(rank_id ranks, gradient_shape of, bucket_limits how = {})
    : shape(std::move(of)), limits(how) {
    options.ranks = ranks;
  }

  std::unique_ptr<group_rank> join(rank_id rank) {
    auto own = options;
    own.rank = rank;
    return std::make_unique<group_rank>(
      own, shape, store, connector_of(store, orphans), counters, limits);
  }

  /// Makes all members; they join in their own time.
  void start() {
    for (rank_id r = 0; r < options.ranks; ++r)
      joined.push_back(join(r));
  }

  /// Takes a step with some ranks at once, each with 10 seeds and as many more
  /// as its number, of which as many as its number are correct, and with a loss
  /// of half of that: all have ended on return.
  std::vector<result<step_sum>>
  step(const std::vector<rank_id>& ranks,
       const std::vector<std::shared_ptr<const gradient_set>>& gradients,
       const std::vector<step_word>& words) {
    std::deque<gradient_progress> done(ranks.size());
    std::vector<gradient_progress*> progress;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      done[i].finish({ranks[i] * 0.5, ranks[i], ranks[i] + 10});
      progress.push_back(&done[i]);
    }
    return step(ranks, gradients, words, progress);
  }

  /// The same, while backward goes on.
  std::vector<result<step_sum>>
  step(const std::vector<rank_id>& ranks,
       const std::vector<std::shared_ptr<const gradient_set>>& gradients,
       const std::vector<step_word>& words,
       const std::vector<gradient_progress*>& progress) {
    std::vector<result<step_sum>> out(ranks.size(), error{});
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      threads.emplace_back([&, i] {
        const auto r = static_cast<std::size_t>(ranks[i]);
        out[i] = joined[r]->reduce(words[r], gradients[r], *progress[i]);
      });
    for (auto& thread : threads)
      thread.join();
    return out;
  }
};

} // namespace graphmill::test
