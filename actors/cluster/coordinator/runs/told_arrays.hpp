#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// Files of what ranks tell of rows, for the owner of this process alone. They
/// have other names until they are committed, and go if they never are. One
/// thread at a time.
class told_arrays {
public:
  virtual ~told_arrays() = default;

  /// Some rows, where they belong.
  /// @param begin The first of them.
  /// @param values [rows, `prediction_shape::columns`]
  virtual result<void> write(std::int64_t begin,
                             std::span<const float> values) = 0;

  /// Gives the files their names. @pre All rows have been written.
  virtual result<void> commit() = 0;
};

} // namespace graphmill
