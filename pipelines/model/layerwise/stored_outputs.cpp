#include "pipelines/model/layerwise/stored_outputs.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

fs::path file_of(const fs::path& folder, const node_type_info& type) {
  return folder / ("embeddings." + type.name + ".npy");
}

} // namespace

bool stored_outputs::are_in(const fs::path& folder, const model_layout& layout,
                            const dataset_info& info) {
  return std::ranges::all_of(layout.outputs, [&](node_type_id type) {
    std::error_code ignored;
    return fs::is_regular_file(
      file_of(folder, info.node_types[static_cast<std::size_t>(type)]),
      ignored);
  });
}

result<stored_outputs> stored_outputs::open(const fs::path& folder,
                                            const model_layout& layout,
                                            const dataset_info& info) {
  stored_outputs out;
  for (const auto of : layout.outputs) {
    const auto& type = info.node_types[static_cast<std::size_t>(of)];
    GRAPHMILL_TRY(auto array, npy_array::open(file_of(folder, type)));
    GRAPHMILL_TRYV(array.expect_type(dtype::float32));
    GRAPHMILL_TRYV(array.expect_shape({type.count, layout.output_width}));
    out.arrays_.push_back(std::move(array));
  }
  return out;
}

const_matrix stored_outputs::at(std::size_t place) const {
  const auto& array = arrays_[place];
  return {reinterpret_cast<const float*>(array.data()), array.rows(),
          array.shape().back()};
}

} // namespace graphmill
