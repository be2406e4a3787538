#include "partition/gather.hpp"

#include "partition/half.hpp"

#include <algorithm>
#include <cstring>

namespace graphmill {

namespace {

constexpr std::size_t line = 64;    ///< Bytes of a cache line.
constexpr std::size_t ahead = 4096; ///< Bytes asked for before their use.

/// Where to read, what to write: the same for all element types.
struct gather_task {
  const std::byte* from;
  std::size_t row_bytes;
  node_id begin;
  std::span<const node_id> ids;
  std::span<const local_id> rows;

  const std::byte* source(std::size_t i) const {
    return from + static_cast<std::size_t>(ids[i] - begin) * row_bytes;
  }
  std::size_t target(std::size_t i) const {
    return rows.empty() ? i : static_cast<std::size_t>(rows[i]);
  }
};

template <class Copy>
void for_each_row(const gather_task& task, Copy copy) {
  const auto distance = std::clamp<std::size_t>(ahead / task.row_bytes, 2, 32);
  for (std::size_t i = 0; i < task.ids.size(); ++i) {
    if (i + distance < task.ids.size())
      for (std::size_t at = 0; at < task.row_bytes; at += line)
        __builtin_prefetch(task.source(i + distance) + at);
    copy(task.source(i), task.target(i));
  }
}

} // namespace

result<void> gather_features(const shard& graph, node_type_id type,
                             std::span<const node_id> ids,
                             std::span<const local_id> rows, float* out) {
  const auto& nodes = graph.nodes(type);
  const auto& info = graph.info().node_types[type];
  const auto width = static_cast<std::size_t>(info.feature_width);
  if (nodes.features == nullptr || width == 0)
    return fail(ec::invalid_argument, "node type \"{}\" has no features",
                info.name);
  if (!rows.empty() && rows.size() != ids.size())
    return fail(ec::invalid_argument, "{} rows were given for {} nodes",
                rows.size(), ids.size());
  for (auto id : ids)
    if (id < nodes.begin || id >= nodes.end)
      return fail(ec::invalid_argument,
                  "node {} of type \"{}\" is not in part {}, which owns [{}, "
                  "{})",
                  id, info.name, graph.part(), nodes.begin, nodes.end);
  const auto half = info.feature_type == dtype::float16;
  const gather_task task{nodes.features, width * (half ? 2 : 4), nodes.begin,
                         ids, rows};
  if (half)
    for_each_row(task, [out, width](const std::byte* from, std::size_t row) {
      const auto* values = reinterpret_cast<const std::uint16_t*>(from);
      std::transform(values, values + width, out + row * width, from_half);
    });
  else
    for_each_row(task, [out, width](const std::byte* from, std::size_t row) {
      std::memcpy(out + row * width, from, width * sizeof(float));
    });
  return ok();
}

} // namespace graphmill
