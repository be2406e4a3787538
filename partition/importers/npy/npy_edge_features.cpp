#include "partition/importers/npy/npy_edge_features.hpp"

#include "partition/importers/npy/npy_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace graphmill {

namespace {

constexpr auto edge_feature_files = std::to_array<std::string_view>(
  {"edge_attr.npy", "edge_features.npy", "edge_feat.npy"});
constexpr std::int64_t edge_values_at_once = std::int64_t{1} << 20;

} // namespace

result<std::optional<npy_array>>
open_npy_edge_features(npy_folder& folder, const std::string& prefix,
                       std::int64_t edges) {
  GRAPHMILL_TRY(auto out, folder.only_array_of(edge_feature_files, prefix,
                                               "features of the same edges"));
  if (!out)
    return out;
  GRAPHMILL_TRYV(expect_columns(*out, edges));
  if (columns_of(*out) == 0)
    return fail(ec::invalid_data,
                "{} has no columns; leave it out with --ignore",
                out->path().string());
  return out;
}

npy_edge_scaler::npy_edge_scaler(const npy_array& array, row_norm norm)
  : array_(&array), norm_(norm), width_(columns_of(array)), scale_(width_) {}

result<npy_edge_scaler> npy_edge_scaler::make(const npy_array& array,
                                              row_norm norm) {
  npy_edge_scaler out{array, norm};
  if (norm != row_norm::standardise)
    return out;
  const auto step =
    std::max<std::int64_t>(1, edge_values_at_once / out.width_) * out.width_;
  for (std::int64_t first = 0; first < array.size(); first += step) {
    out.wide_.resize(
      static_cast<std::size_t>(std::min(step, array.size() - first)));
    GRAPHMILL_TRYV(copy_doubles(array, first, out.wide_));
    out.scale_.learn(out.wide_);
  }
  return out;
}

result<std::span<const float>> npy_edge_scaler::rows(std::int64_t first,
                                                     std::int64_t rows) {
  const auto size = static_cast<std::size_t>(rows * width_);
  if (norm_ == row_norm::none) {
    narrow_.resize(size);
    GRAPHMILL_TRYV(copy_floats(*array_, first * width_, narrow_));
    return std::span<const float>{narrow_};
  }
  wide_.resize(size);
  GRAPHMILL_TRYV(copy_doubles(*array_, first * width_, wide_));
  if (norm_ == row_norm::standardise)
    scale_.apply(wide_);
  normalise_rows(wide_, width_, norm_);
  return rounded(wide_, narrow_);
}

} // namespace graphmill
