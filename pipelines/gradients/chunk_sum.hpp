#pragma once

#include "messages/wire/frame.hpp"
#include "pipelines/gradients/buckets.hpp"
#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace graphmill {

/// Adds up one chunk of a bucket over all ranks, in rank order, while the
/// pieces of the others come: straight from the frames that brought them, which
/// are still in the processor's cache. A piece is held until those of all other
/// ranks for the same floats are there, so that what is held is at most what
/// the other ranks send of the chunk.
///
/// It owns all that it reads and writes. Thread-safe, since ranks of one
/// process send on threads of their own. The sum is complete when all that is
/// expected of the others has been taken.
class chunk_sum final : public piece_receiver {
public:
  /// @param mine The gradients of `rank`, whose chunk is final.
  /// @param sum As large; the chunk is written, and nothing else.
  chunk_sum(std::shared_ptr<const gradient_set> mine,
            std::shared_ptr<gradient_set> sum, const bucket& chunk,
            rank_id rank, rank_id ranks);

  void take(rank_id from, std::uint64_t offset, frame bytes) override;

private:
  /// Of one rank: what has come and is not added, by its place in the chunk.
  using pieces = std::map<std::uint64_t, frame>;

  bool find_next();
  void add(std::int64_t begin, std::int64_t end);
  void drop_added();

  const std::shared_ptr<const gradient_set> mine_;
  const std::shared_ptr<gradient_set> sum_;
  const bucket chunk_;
  const std::size_t rank_;
  std::mutex mutex_;         ///< Guards what follows, and the chunk's sum.
  std::vector<pieces> held_; ///< By rank; none of this one.
  std::uint64_t added_ = 0;  ///< Bytes of the chunk that are added up.
  std::uint64_t next_ = 0;   ///< How far all ranks' first pieces reach.
  std::vector<const float*> addends_; ///< By rank: the float at `added_`.
};

} // namespace graphmill
