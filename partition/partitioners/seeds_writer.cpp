#include "partition/dataset/label_sets.hpp"
#include "partition/files/file_io.hpp"
#include "partition/partitioners/array_writer.hpp"
#include "partition/partitioners/parts_writer.hpp"

#include <algorithm>

namespace graphmill {

namespace fs = std::filesystem;

result<std::map<std::string, std::string>>
write_seeds(const graph_view& graph, const renumbering& numbers,
            const fs::path& folder) {
  const auto& info = graph.info();
  array_writer arrays{std::size_t{1} << 20};
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto to = folder / "seeds" / info.node_types[t].name;
    for (const auto& of : labels_in(graph.data(), t)) {
      const auto& splits = of.arrays.splits;
      if ((t != info.target || !of.set.empty())
          && std::ranges::none_of(
            splits, [](const auto& array) { return array.has_value(); }))
        continue;
      GRAPHMILL_TRYV(make_folders(to));
      for (auto which : all_splits) {
        std::vector<node_id> ids;
        if (const auto& from = splits[static_cast<std::size_t>(which)]) {
          GRAPHMILL_TRY(const auto seeds, from->as<node_id>());
          for (auto id : seeds)
            ids.push_back(numbers.globals[t][id]);
        }
        GRAPHMILL_TRYV(
          arrays.begin(to / seeds_file(which, of.set), dtype_of<node_id>()));
        GRAPHMILL_TRYV(arrays.append(std::span<const node_id>{ids}));
        GRAPHMILL_TRYV(arrays.finish());
      }
    }
  }
  return arrays.digests_within(folder);
}

} // namespace graphmill
