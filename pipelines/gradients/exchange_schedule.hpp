#pragma once

#include "pipelines/gradients/buckets.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// The order of a step's operations, fixed when the group forms and the same on
/// every rank, as a `collective` demands. It does not change.
class exchange_schedule {
public:
  /// How many buckets are received at once; of each, as many bytes as it has
  /// may be held.
  static constexpr std::size_t window = 2;

  /// What an operation of a step carries.
  enum class kind : std::uint8_t {
    /// Expects the words of all ranks from the beginning of the step, where
    /// bulk has a way of its own: so that a rank that is gone is known while
    /// only bulk is under way. Else it carries nothing.
    listen,
    /// Sends each rank's step, stop flag, seeds and rows per table to all; and
    /// expects those of the others, unless `listen` does so already.
    words,
    parts,  ///< Sends the chunks of a bucket to the ranks that add them up.
    sums,   ///< Sends the sum of each chunk to all, if `sums_travel`.
    tables, ///< Sends the rows of tables that a rank has touched to all.
  };
  /// An operation of a step.
  struct post {
    kind content = kind::words;
    std::size_t bucket = 0; ///< Of `parts` and `sums`.
  };

  explicit exchange_schedule(gradient_shape shape, bucket_limits limits = {});

  const gradient_shape& shape() const { return shape_; }
  const std::vector<bucket>& buckets() const { return buckets_; }
  /// The operations of a step in the order in which they start.
  const std::vector<post>& posts() const { return posts_; }

private:
  gradient_shape shape_;
  std::vector<bucket> buckets_;
  std::vector<post> posts_;
};

} // namespace graphmill
