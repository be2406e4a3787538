#include "partition/files/file_io.hpp"
#include "partition/partitioners/array_writer.hpp"
#include "partition/partitioners/parts_writer.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

result<void> write_ids(const fs::path& path, std::span<const node_id> ids,
                       array_writer& arrays) {
  if (std::ssize(ids) > std::numeric_limits<std::int32_t>::max()) {
    GRAPHMILL_TRYV(arrays.begin(path, dtype_of<node_id>()));
    GRAPHMILL_TRYV(arrays.append(ids));
    return arrays.finish();
  }
  GRAPHMILL_TRYV(arrays.begin(path, dtype_of<std::int32_t>()));
  for (const auto id : ids)
    GRAPHMILL_TRYV(arrays.append_one(static_cast<std::int32_t>(id)));
  return arrays.finish();
}

} // namespace

result<std::map<std::string, std::string>>
write_orders(const graph_view& graph, const renumbering& numbers,
             const fs::path& folder) {
  array_writer arrays{std::size_t{1} << 20};
  for (std::size_t t = 0; t < graph.info().node_types.size(); ++t) {
    const auto& type = graph.info().node_types[t];
    for (const auto& [name, ids] :
         {std::pair{order_file(type), &numbers.globals[t]},
          std::pair{originals_file(type), &numbers.originals[t]}}) {
      const auto path = folder / name;
      GRAPHMILL_TRYV(make_folders(path.parent_path()));
      GRAPHMILL_TRYV(write_ids(path, *ids, arrays));
    }
    if (const auto& from =
          graph.data().nodes(static_cast<node_type_id>(t)).times) {
      GRAPHMILL_TRY(const auto times, from->as<std::int64_t>());
      const auto path = folder / node_times_file(type);
      GRAPHMILL_TRYV(make_folders(path.parent_path()));
      GRAPHMILL_TRYV(arrays.begin(path, dtype_of<std::int64_t>()));
      for (const auto original : numbers.originals[t])
        GRAPHMILL_TRYV(
          arrays.append_one(times[static_cast<std::size_t>(original)]));
      GRAPHMILL_TRYV(arrays.finish());
    }
  }
  return arrays.digests_within(folder);
}

} // namespace graphmill
