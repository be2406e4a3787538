#include "pipelines/gradients/exchange_schedule.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

exchange_schedule::exchange_schedule(gradient_shape shape, bucket_limits limits)
  : shape_(std::move(shape)), buckets_(cut_buckets(shape_.dense, limits)) {
  // Words follow the last parts: then backward is done. When the sums of
  // bucket i are posted, nothing of it is held any more, which makes room for
  // bucket i + window.
  posts_.push_back({kind::listen, 0});
  const auto count = buckets_.size();
  const auto parts = [this, count](std::size_t i) {
    if (i < count)
      posts_.push_back({kind::parts, i});
    if (i + 1 == std::max(count, window))
      posts_.push_back({kind::words, 0});
  };
  for (std::size_t i = 0; i < window; ++i)
    parts(i);
  for (std::size_t i = 0; i < count; ++i) {
    posts_.push_back({kind::sums, i});
    parts(i + window);
  }
  if (!shape_.tables.empty())
    posts_.push_back({kind::tables, 0});
}

} // namespace graphmill
