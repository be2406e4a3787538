#pragma once

#include "messages/wire/bulk.hpp"
#include "messages/wire/frame.hpp"

#include <cstdint>
#include <vector>

namespace graphmill::test {

using numbers = std::vector<std::int64_t>;

/// What an array of whole numbers says.
inline numbers read(const bulk_array& array, const payload& from) {
  numbers out(array.count);
  read_integers(array, from.bulk, out.data());
  return out;
}

} // namespace graphmill::test
