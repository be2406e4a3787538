#include "partition/writing/feature_writer.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/half.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

namespace graphmill {

std::optional<wrong_feature> find_wrong_feature(std::span<const float> values,
                                                dtype type) {
  const auto limit = type == dtype::float16 ? half_overflow : INFINITY;
  const auto bad = std::ranges::find_if_not(
    values, [limit](float value) { return std::fabs(value) < limit; });
  if (bad == values.end())
    return std::nullopt;
  return wrong_feature{bad - values.begin(), *bad,
                       std::isfinite(*bad) ? "float16 cannot hold"
                                           : "is not a finite number"};
}

result<feature_writer>
feature_writer::create(const std::filesystem::path& folder,
                       const node_type_info& type) {
  if (!type.sparse_features) {
    GRAPHMILL_TRY(auto out,
                  npy_writer::create(folder / features_file, type.feature_type,
                                     {type.feature_width}));
    return feature_writer{std::move(out), std::nullopt, type};
  }
  GRAPHMILL_TRY(auto values, npy_writer::create(folder / sparse_values_file,
                                                type.feature_type));
  GRAPHMILL_TRY(auto indptr,
                npy_writer::create(folder / sparse_indptr_file, dtype::int64));
  GRAPHMILL_TRY(auto indices,
                npy_writer::create(folder / sparse_indices_file, dtype::int32));
  constexpr std::array<std::int64_t, 1> begin{0};
  GRAPHMILL_TRYV(indptr.append(std::span<const std::int64_t>{begin}));
  return feature_writer{std::move(values),
                        sparse_files{std::move(indptr), std::move(indices)},
                        type};
}

result<void> feature_writer::append(std::span<const float> values) {
  if (const auto bad = find_wrong_feature(values, type_)) {
    const auto at = written_ + bad->place;
    return fail(ec::invalid_data,
                "features of {}: node {}, column {} is {}, which {}", name_,
                at / width_, at % width_, bad->value, bad->why);
  }
  const auto place = written_ + std::ssize(values);
  if (place > count_ * width_)
    return fail(ec::invalid_data,
                "features of {}: more values given than {} nodes of {} columns "
                "have",
                name_, count_, width_);
  const auto first = std::exchange(written_, place);
  if (type_ != dtype::float16)
    return write(values, first);
  halves_.resize(values.size());
  std::ranges::transform(values, halves_.begin(), to_half);
  return write(std::span<const std::uint16_t>{halves_}, first);
}

/// @param first How many values come before these.
template <class T>
result<void> feature_writer::write(std::span<const T> values,
                                   std::int64_t first) {
  return sparse_ ? write_sparse(values, first)
                 : out_.append_bytes(std::as_bytes(values));
}

template <class T>
result<void> feature_writer::write_sparse(std::span<const T> values,
                                          std::int64_t first) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>;
  std::vector<std::int64_t> ends;
  std::vector<std::int32_t> columns;
  std::vector<T> kept;
  auto& to = *sparse_;
  auto column = first % width_;
  for (const auto value : values) {
    if (std::bit_cast<bits>(value) != 0) {
      columns.push_back(static_cast<std::int32_t>(column));
      kept.push_back(value);
      ++to.entries;
    }
    if (++column == width_) {
      column = 0;
      ends.push_back(to.entries);
      to.most =
        std::max(to.most, to.entries - std::exchange(to.row_begin, to.entries));
    }
  }
  GRAPHMILL_TRYV(to.indptr.append(std::span<const std::int64_t>{ends}));
  GRAPHMILL_TRYV(to.indices.append(std::span<const std::int32_t>{columns}));
  return out_.append_bytes(std::as_bytes(std::span{kept}));
}

result<void> feature_writer::finish(node_type_info& type) {
  if (written_ != count_ * width_)
    return fail(ec::invalid_data,
                "features of {}: {} values given; {} nodes of {} columns have "
                "{}",
                name_, written_, count_, width_, count_ * width_);
  if (sparse_) {
    type.feature_entries = sparse_->entries;
    type.most_row_entries = sparse_->most;
    GRAPHMILL_TRYV(sparse_->indptr.finish());
    GRAPHMILL_TRYV(sparse_->indices.finish());
  }
  return out_.finish();
}

} // namespace graphmill
