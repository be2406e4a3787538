#include "partition/dataset/inspection/inspect.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/text/inspect_report.hpp"
#include "actors/process/say.hpp"
#include "partition/dataset/data_records.hpp"
#include "partition/dataset/inspection/task_findings.hpp"
#include "partition/dataset/shard.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

struct inspect_arguments {
  fs::path folder;
  bool json = false;
  bool quiet = false;
};

/// What there is to be inspected, and what its files must hold.
struct subject {
  dataset data;
  std::vector<digest_record> records;
};

/// Opens a dataset, or all parts of a partitioned one. The files of seeds count
/// as the first part's.
result<std::vector<subject>> open_all(const fs::path& folder) {
  std::vector<subject> opened;
  std::error_code failed;
  if (!fs::exists(folder / "partitions.json", failed)) {
    GRAPHMILL_TRY(auto data, dataset::open(folder));
    opened.push_back({std::move(data), {}});
    return opened;
  }
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(folder));
  for (part_id p = 0; p < graph.part_count(); ++p) {
    GRAPHMILL_TRYV(graph.open_shard(p)); // Does it belong to the others?
    GRAPHMILL_TRY(auto part, dataset::open(folder / fmt::format("part-{}", p)));
    GRAPHMILL_TRY(auto records, p == 0 ? records_in(folder, std::array{p})
                                       : records_of_part(folder, p));
    opened.push_back({std::move(part), std::move(records)});
  }
  return opened;
}

/// Nodes per type over all parts.
std::vector<std::int64_t> whole_counts(const std::vector<subject>& parts) {
  std::vector<std::int64_t> counts(parts.front().data.info().node_types.size());
  for (const auto& part : parts)
    for (std::size_t t = 0; t < counts.size(); ++t)
      counts[t] += part.data.info().node_types[t].count;
  return counts;
}

/// Looks at what a partitioned dataset has beside its parts: its tasks and the
/// maps of ids, unless something else is broken that they refer to.
/// @returns the whole dataset.
result<dataset_info> inspect_book(const fs::path& folder, inspection& first) {
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(folder));
  find_bad_orders(folder, graph, first.broken);
  if (first.broken.empty()) {
    GRAPHMILL_TRY(first.tasks, inspect_tasks(folder, graph, first.broken));
  }
  return graph.info();
}

result<int> run_inspect(const inspect_arguments& given) {
  const auto on_progress = show_progress(given.quiet);
  GRAPHMILL_TRY(auto opened, open_all(given.folder));
  std::error_code failed;
  const auto partitioned = fs::exists(given.folder / "partitions.json", failed);
  inspect_options options;
  if (partitioned)
    options.whole_counts = whole_counts(opened);
  GRAPHMILL_TRY(const auto names, read_original_names(given.folder));
  auto sound = true;
  std::vector<inspected> found;
  for (auto& [data, records] : opened) {
    options.records = std::move(records);
    GRAPHMILL_TRY(auto inspection, inspect_dataset(data, options, on_progress));
    sound = sound && inspection.broken.empty();
    found.push_back({data, std::move(inspection), names});
  }
  std::optional<dataset_info> whole;
  if (partitioned) {
    GRAPHMILL_TRY(whole, inspect_book(given.folder, found.front().found));
    found.front().whole = &*whole;
    sound = sound && found.front().found.broken.empty();
  }
  if (on_progress)
    on_progress({.phase = "done"});
  if (given.json)
    say("{}\n", inspection_json(found, partitioned));
  else
    say_lines(inspection_text(found, partitioned));
  return sound ? 0 : 1;
}

} // namespace

void add_inspect_command(command_line& cli) {
  auto* app = cli.app.add_subcommand(
    "inspect", "Show the content of a dataset and check it for damage");
  auto given = std::make_shared<inspect_arguments>();
  app
    ->add_option("DATASET", given->folder,
                 "Folder of a dataset or of a partitioned dataset")
    ->required();
  app->add_flag("--json", given->json, "Print one line of JSON");
  app->add_flag("-q,--quiet", given->quiet, "Show no progress");
  app->footer("Reads every array and compares it with its recorded digest.\n"
              "The exit code is 1 if anything is broken.");
  app->callback(
    [&cli, given] { cli.run = [given] { return run_inspect(*given); }; });
}

} // namespace graphmill
