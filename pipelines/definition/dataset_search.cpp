#include "pipelines/definition/dataset_search.hpp"

#include "partition/dataset/shard.hpp"
#include "pipelines/definition/yaml/problem.hpp"

namespace graphmill {

namespace fs = std::filesystem;

bool is_dataset(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "dataset.json", ignored)
         || fs::exists(folder / "partitions.json", ignored);
}

result<fs::path> find_dataset(const definition& def, const fs::path& data) {
  if (!data.empty() && is_dataset(data))
    return data;
  const auto inside = (data.empty() ? fs::path{"data"} : data) / def.dataset;
  if (is_dataset(inside))
    return inside;
  if (data.empty())
    return fail(ec::not_found,
                "the dataset {} is not at {}; say where it lies with --data, "
                "or import it (graphmill import --help)",
                in_quotes(def.dataset), inside.string());
  std::error_code failed;
  for (const auto& place : {data, inside}) {
    const auto there = fs::exists(place / "dataset.json", failed);
    if (!there && failed)
      return fail_errno(failed.value(), "--data: cannot look into {}",
                        place.string());
  }
  if (!fs::is_directory(data, failed))
    return fail(ec::not_found, "--data: there is no folder {}", data.string());
  return fail(ec::not_found,
              "--data: neither {} nor {} has a dataset.json or a "
              "partitions.json",
              data.string(), inside.string());
}

result<fs::path> find_dataset(const definition_source& source,
                              const fs::path& data) {
  if (source.dataset_path.empty() || !data.empty())
    return find_dataset(source.value, data);
  const fs::path path{source.dataset_path};
  if (is_dataset(path))
    return path;
  return fail(ec::not_found,
              "`dataset` is the path {}, where there is no dataset.json and no "
              "partitions.json; import it there (graphmill import --help), or "
              "say where it lies with --data",
              in_quotes(source.dataset_path));
}

void take_name_at_path(definition_source& source, const fs::path& data,
                       const dataset_info& info) {
  if (!source.dataset_path.empty() && data.empty())
    source.value.dataset = info.name;
}

result<void> take_name_if_there(definition_source& source) {
  if (source.dataset_path.empty() || !is_dataset(source.dataset_path))
    return ok();
  GRAPHMILL_TRY(const auto graph,
                partitioned_graph::open(source.dataset_path));
  take_name_at_path(source, {}, graph.info());
  return ok();
}

} // namespace graphmill
