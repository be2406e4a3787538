#include "partition/dataset/edge_tasks.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/files/file_io.hpp"
#include "partition/partitioners/array_writer.hpp"
#include "partition/partitioners/parts_writer.hpp"

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// One split of a task, whose nodes get global ids.
class task_renumbering {
public:
  task_renumbering(const dataset_info& info, const edge_task_info& task,
                   const task_split_arrays& from, const renumbering& numbers)
    : info_(info), task_(task), from_(from), numbers_(numbers) {}

  /// Elements of the array with that name, renumbered; nothing: they stay.
  result<std::optional<std::vector<std::int64_t>>>
  renumbered(std::string_view name) const {
    using ids = std::optional<std::vector<std::int64_t>>;
    const auto edges = name == "edges";
    if (!edges && name != "negatives" && name != "known.ids")
      return ids{};
    const auto& array = edges                 ? from_.edges
                        : name == "negatives" ? *from_.negatives
                                              : from_.known->ids;
    GRAPHMILL_TRY(const auto values, array.as<std::int64_t>());
    if (name == "known.ids") {
      GRAPHMILL_TRY(auto known, renumber_known(values));
      return ids{std::move(known)};
    }
    std::vector<std::int64_t> out;
    const auto rows = static_cast<std::size_t>(from_.edges.rows());
    const auto each = values.size() / rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      GRAPHMILL_TRY(const auto type, type_of_row(i / each));
      const auto at_source = edges && i % 2 == 0;
      out.push_back(
        global(at_source ? type->source : type->destination, values[i]));
    }
    return ids{std::move(out)};
  }

private:
  std::int64_t global(node_type_id type, node_id id) const {
    return numbers_
      .globals[static_cast<std::size_t>(type)][static_cast<std::size_t>(id)];
  }

  result<const edge_type_info*> type_of_row(std::size_t row) const {
    GRAPHMILL_TRY(const auto type, edge_type_of_row(task_, from_, row));
    return &info_.edge_types[static_cast<std::size_t>(type)];
  }

  /// The type of the nodes of a list is what its rows have at that end.
  result<std::vector<std::int64_t>>
  renumber_known(std::span<const std::int64_t> values) const {
    GRAPHMILL_TRY(const auto indptr, from_.known->indptr.as<std::int64_t>());
    GRAPHMILL_TRY(const auto rows, from_.known->rows.as<std::int64_t>());
    std::vector<node_type_id> types(indptr.size() - 1); // Of empty ones, any.
    for (std::size_t i = 0; i < rows.size(); ++i) {
      GRAPHMILL_TRY(const auto type, type_of_row(i / 2));
      types[static_cast<std::size_t>(rows[i])] =
        i % 2 == 0 ? type->destination : type->source;
    }
    std::vector<std::int64_t> out(values.begin(), values.end());
    for (std::size_t list = 0; list < types.size(); ++list) {
      const auto first = out.begin() + indptr[list];
      const auto last = out.begin() + indptr[list + 1];
      for (auto at = first; at != last; ++at)
        *at = global(types[list], *at);
      std::sort(first, last);
    }
    return out;
  }

  const dataset_info& info_;
  const edge_task_info& task_;
  const task_split_arrays& from_;
  const renumbering& numbers_;
};

} // namespace

result<std::map<std::string, std::string>>
write_tasks(const graph_view& graph, const renumbering& numbers,
            const fs::path& folder) {
  const auto& info = graph.info();
  array_writer arrays{std::size_t{1} << 20};
  for (std::size_t t = 0; t < info.tasks.size(); ++t) {
    const auto& task = info.tasks[t];
    GRAPHMILL_TRYV(make_folders(folder / "tasks" / task.name));
    for (auto which : all_splits) {
      const auto& from =
        graph.data().task(t).splits[static_cast<std::size_t>(which)];
      if (!from)
        continue;
      GRAPHMILL_TRYV(check_rows(info, task, which, *from));
      const task_renumbering ids{info, task, *from, numbers};
      for (const auto& [name, array] : from->all()) {
        GRAPHMILL_TRYV(
          arrays.begin(folder / task_file(task.name, file_stem(which), name),
                       array->type(), array->row_shape()));
        GRAPHMILL_TRY(const auto values, ids.renumbered(name));
        GRAPHMILL_TRYV(values
                         ? arrays.append(std::span<const std::int64_t>{*values})
                         : arrays.append(array->bytes()));
        GRAPHMILL_TRYV(arrays.finish());
      }
    }
  }
  if (auto fault = mapped_file::first_fault())
    return std::move(*fault);
  return arrays.digests_within(folder);
}

} // namespace graphmill
