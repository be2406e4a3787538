#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"
#include "partition/dataset/dataset.hpp"

#include <atomic>

namespace graphmill {

/// Compares a dataset with its digests before another one is made of it: what
/// is made of damaged data would have digests that say it is sound.
/// @param stop Set it to end with code `cancelled`; may be null.
result<void> verify_source(const dataset& data,
                           const progress_callback& on_progress,
                           const std::atomic<bool>* stop);

} // namespace graphmill
