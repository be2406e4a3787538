#pragma once

#include "messages/error.hpp"
#include "messages/progress.hpp"
#include "partition/dataset.hpp"

#include <string>

namespace graphmill {

/// A fingerprint of a dataset's content: XXH3 with 128 bits (Collet) over its
/// types, counts, features, labels, splits and edge lists, as 32 hexadecimal
/// digits. Neither names of files nor provenance count, nor degrees, which
/// follow from the rest. Reads all of it once.
result<std::string> content_digest(const dataset& data,
                                   const progress_callback& on_progress = {});

} // namespace graphmill
