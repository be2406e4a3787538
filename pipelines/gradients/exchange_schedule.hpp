#pragma once

#include "messages/base/buffer.hpp"
#include "pipelines/gradients/buckets.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// The order of a step's operations, fixed when the group forms, the same on
/// every rank; and memory that steps reuse.
class exchange_schedule {
public:
  /// How many buckets are received at once; each takes memory of its size.
  static constexpr std::size_t window = 2;

  enum class kind : std::uint8_t {
    listen, ///< For words, where bulk has a way of its own: so that a rank
            ///< that is gone is known while only bulk is under way.
    words,  ///< Step, stop flag, seeds, rows per table.
    parts,  ///< Chunks of a bucket, to those who add them up.
    sums,   ///< Sums of chunks, to all.
    tables, ///< Touched rows, to all.
  };
  struct post {
    kind content = kind::words;
    std::size_t bucket = 0;
  };

  explicit exchange_schedule(gradient_shape shape, bucket_limits limits = {});

  const gradient_shape& shape() const { return shape_; }
  const std::vector<bucket>& buckets() const { return buckets_; }
  const std::vector<post>& posts() const { return posts_; }

  /// Floats that came from other ranks, per bucket under way.
  std::array<pod_vector<float>, window> received;

private:
  gradient_shape shape_;
  std::vector<bucket> buckets_;
  std::vector<post> posts_;
};

} // namespace graphmill
