#include "partition/importers/npy/npy_weights.hpp"

#include "partition/dataset/edge_weights.hpp"
#include "partition/importers/npy/npy_values.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace graphmill {

namespace {

constexpr auto weight_files = std::to_array<std::string_view>(
  {"edge_weight.npy", "edge_weights.npy", "weight.npy", "weights.npy"});

} // namespace

result<std::optional<npy_array>> open_npy_weights(npy_folder& folder,
                                                  const std::string& prefix,
                                                  std::int64_t edges) {
  GRAPHMILL_TRY(auto out, folder.only_array_of(weight_files, prefix,
                                               "weights of the same edges"));
  if (!out)
    return out;
  if (out->type() == dtype::boolean)
    return fail(ec::invalid_data, "{} holds bool; numbers expected",
                out->path().string());
  GRAPHMILL_TRYV(expect_numbers(*out, edges));
  return out;
}

result<void> copy_weights(const npy_array& array, std::int64_t begin,
                          std::span<float> out) {
  GRAPHMILL_TRYV(copy_floats(array, begin, out));
  const auto* doubles =
    array.type() == dtype::float64
      ? reinterpret_cast<const double*>(array.data()) + begin
      : nullptr;
  for (std::size_t i = 0; i < out.size(); ++i) {
    // As it was before it was rounded.
    const auto value = doubles != nullptr ? doubles[i] : double{out[i]};
    const auto weight = edge_weight_from(value);
    if (!weight)
      return no_edge_weight(value,
                            fmt::format("{}: element {}", array.path().string(),
                                        begin + static_cast<std::int64_t>(i)));
    out[i] = *weight;
  }
  return ok();
}

} // namespace graphmill
