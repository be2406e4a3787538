#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/files/npy/npy.hpp"
#include "partition/writing/edge_index.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace graphmill {

/// An edge that may be a row of a task.
struct task_edge {
  std::int32_t type = 0; ///< Place among the task's edge types.
  edge_id given = 0; ///< Number among the edges that were appended to its type.
  node_id source = 0;
  node_id destination = 0;
  double time = 0; ///< If the task is timed.
};

/// Writes an array of a split of a task.
/// @param values Of all rows. @param row_shape Of each; empty: one element.
template <class T>
result<void> write_task_array(const std::filesystem::path& folder,
                              const edge_task_info& task, split which,
                              std::string_view name, std::span<const T> values,
                              std::vector<std::int64_t> row_shape = {}) {
  auto rows = std::ssize(values);
  for (const auto extent : row_shape)
    rows = extent == 0 ? 0 : rows / extent;
  row_shape.insert(row_shape.begin(), rows);
  return write_npy_bytes(folder / task_file(task.name, file_stem(which), name),
                         dtype_of<T>(), row_shape, std::as_bytes(values));
}

/// Writes which edges each training row of a link task excludes.
/// @param folder Of the dataset, with the lists of all edge types.
/// @param rows Those of training, in order.
result<void> write_exclusions(const std::filesystem::path& folder,
                              const dataset_info& info,
                              const edge_task_info& task,
                              std::span<const task_edge> rows);

/// Writes the known links of each row of another split of a link task.
/// @param folder As above.
result<void> write_known_links(const std::filesystem::path& folder,
                               const dataset_info& info,
                               const edge_task_info& task, split which,
                               std::span<const task_edge> rows);

struct node_pair_hash {
  std::size_t operator()(const node_pair& of) const;
};

/// The levels that edges of a reverse type have because of rows that are held
/// out. Value type.
class held_reverses {
public:
  /// Edges and rows without a time are those of any time.
  static constexpr double any_time = -std::numeric_limits<double>::infinity();

  /// Adds a row of a type that the reverse type reverses.
  void add(const task_edge& row, double time, std::uint8_t level);

  bool empty() const { return levels_.empty(); }

  /// The level that an edge of the reverse type has at least.
  std::uint8_t level(node_id source, node_id destination, double time) const;

private:
  /// By the ends of edges of the reverse type.
  std::unordered_map<node_pair, std::map<double, std::uint8_t>, node_pair_hash>
    levels_;
};

} // namespace graphmill
