#include "actors/cluster/coordinator/runs/output_arrays.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace graphmill {

result<std::unique_ptr<told_arrays>>
output_arrays::create(const std::filesystem::path& folder,
                      const prediction_shape& shape) {
  files made;
  for (std::size_t b = 0; b < shape.blocks.size(); ++b)
    for (std::size_t end = 0; end < 2; ++end) {
      const auto& name = shape.types[b][end];
      const std::array rows{shape.blocks[b].counts[end], shape.columns / 2};
      if (rows[0] == 0 || made.contains(name))
        continue;
      GRAPHMILL_TRY(
        auto file, begun_array::create(folder / ("embeddings." + name + ".npy"),
                                       dtype::float32, rows));
      made.emplace(name, std::move(file));
    }
  return std::unique_ptr<told_arrays>{
    new output_arrays{shape, std::move(made)}};
}

result<void> output_arrays::write(std::int64_t begin,
                                  std::span<const float> ends) {
  const auto columns = static_cast<std::size_t>(shape_.columns);
  const auto end = begin + static_cast<std::int64_t>(ends.size() / columns);
  for (std::size_t b = 0; b < shape_.blocks.size(); ++b) {
    const auto& block = shape_.blocks[b];
    const auto from = std::max(begin, block.first);
    const auto to = std::min(end, block.first + block.rows());
    if (from < to)
      GRAPHMILL_TRYV(write_block(
        b, from - block.first,
        ends.subspan(static_cast<std::size_t>(from - begin) * columns,
                     static_cast<std::size_t>(to - from) * columns)));
  }
  return ok();
}

/// @param begin Row of the block.
result<void> output_arrays::write_block(std::size_t block, std::int64_t begin,
                                        std::span<const float> ends) {
  const auto& of = shape_.blocks[block];
  const auto columns = static_cast<std::size_t>(shape_.columns);
  const auto each = static_cast<std::size_t>(width());
  const auto rows = static_cast<std::int64_t>(ends.size() / columns);
  if (of.within_type()) { // Ends of rows are all nodes, in order.
    const auto nodes = std::min(2 * rows, of.counts[0] - 2 * begin);
    return write_nodes(shape_.types[block][0], 2 * begin,
                       ends.first(static_cast<std::size_t>(nodes) * each));
  }
  for (std::size_t end = 0; end < 2; ++end) {
    const auto nodes = std::min(rows, of.counts[end] - begin);
    if (nodes <= 0)
      continue;
    std::vector<float> told(static_cast<std::size_t>(nodes) * each);
    for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i)
      std::copy_n(ends.data() + i * columns + end * each, each,
                  told.data() + i * each);
    GRAPHMILL_TRYV(write_nodes(shape_.types[block][end], begin, told));
  }
  return ok();
}

result<void> output_arrays::write_nodes(const std::string& type,
                                        std::int64_t first,
                                        std::span<const float> rows) {
  return files_.at(type).write(static_cast<std::uint64_t>(first * width())
                                 * sizeof(float),
                               std::as_bytes(rows));
}

result<void> output_arrays::commit() {
  for (const auto& [name, file] : files_)
    GRAPHMILL_TRYV(file.sync());
  for (auto& [name, file] : files_)
    GRAPHMILL_TRYV(file.commit());
  return ok();
}

} // namespace graphmill
