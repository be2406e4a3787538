#pragma once

#include "messages/base/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace graphmill {

/// A dense row-major matrix of floats, [rows, columns], in memory that it does
/// not own. Value type. Indices are not checked.
/// @tparam T float, or const float for a matrix that is only read.
template <class T>
struct basic_matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  T* row(std::int64_t i) const { return data + i * columns; }
  std::int64_t size() const { return rows * columns; }

  operator basic_matrix<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns};
  }

  /// Rows [begin, end), in the same memory.
  basic_matrix slice(std::int64_t begin, std::int64_t end) const {
    return {data + begin * columns, end - begin, columns};
  }
};

using matrix = basic_matrix<float>;
using const_matrix = basic_matrix<const float>;

/// A matrix that owns its memory, with unspecified content at first. The memory
/// comes from a pool and returns to it, so steps do not ask the system for
/// memory again and again.
class owned_matrix {
public:
  owned_matrix() = default;
  owned_matrix(std::int64_t rows, std::int64_t columns,
               const std::shared_ptr<buffer_pool>& pool)
    : values_(pool), rows_(rows), columns_(columns) {
    values_.resize(static_cast<std::size_t>(rows * columns));
  }

  matrix view() { return {values_.data(), rows_, columns_}; }
  const_matrix view() const { return {values_.data(), rows_, columns_}; }
  float* data() { return values_.data(); }
  bool empty() const { return values_.empty(); }

private:
  pod_vector<float> values_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

} // namespace graphmill
