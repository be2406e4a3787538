#include "actors/commands/options/import_target.hpp"

#include "actors/commands/options/class_table.hpp"
#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/import_sources.hpp"
#include "actors/process/say.hpp"
#include "actors/process/signals.hpp"
#include "partition/dataset/inspection/class_census.hpp"
#include "partition/dataset/inspection/early_edges.hpp"
#include "partition/dataset/inspection/task_findings.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/writing/prepare.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

/// Beside dataset.json: which options and sources a dataset was made with.
constexpr const char* record_name = "import.json";
constexpr const char* sources_key = "sources";
constexpr std::size_t largest_record = std::size_t{1} << 24;

/// Edge types of a task that are printed.
constexpr std::size_t named_edge_types = 5;

/// "multi_label" or "regression" of labels that are not classes.
void tell_kind(nlohmann::json& labels, label_kind kind) {
  if (traits_of(kind).rows)
    labels[std::string{to_string(kind)}] = true;
}

/// The classes of a node type, of one of its label sets, or of a task; null if
/// labels are numbers.
nlohmann::json classes_of(const std::vector<class_census>& found,
                          const std::string& type, const std::string& set,
                          const std::string& task = {}) {
  const auto at = std::ranges::find_if(found, [&](const class_census& one) {
    return one.type == type && one.set == set && one.task == task
           && !one.classes.empty();
  });
  return at == found.end() ? nlohmann::json() : classes_json(*at);
}

nlohmann::json to_json(const dataset_info& info,
                       const std::vector<class_census>& found) {
  auto nodes = nlohmann::json::array();
  for (const auto& type : info.node_types) {
    nodes.push_back({{"name", type.name},
                     {"count", type.count},
                     {"feature_width", type.feature_width},
                     {"class_count", type.class_count},
                     {"classes", classes_of(found, type.name, "")},
                     {"train", type.split_counts[0]},
                     {"val", type.split_counts[1]},
                     {"test", type.split_counts[2]}});
    tell_kind(nodes.back(), type.labels);
    for (const auto& set : type.label_sets) {
      nodes.back()["label_sets"].push_back(
        {{"name", set.name},
         {"class_count", set.class_count},
         {"classes", classes_of(found, type.name, set.name)},
         {"train", set.split_counts[0]},
         {"val", set.split_counts[1]},
         {"test", set.split_counts[2]}});
      tell_kind(nodes.back()["label_sets"].back(), set.labels);
    }
  }
  auto edges = nlohmann::json::array();
  for (std::size_t i = 0; i < info.edge_types.size(); ++i)
    edges.push_back(
      {{"name", info.edge_type_name(static_cast<edge_type_id>(i))},
       {"count", info.edge_types[i].count},
       {"max_in_degree", info.edge_types[i].max_in_degree}});
  auto tasks = nlohmann::json::array();
  for (const auto& task : info.tasks) {
    tasks.push_back({{"name", task.name},
                     {"kind", traits_of(task.kind).name},
                     {"edge_types", nlohmann::json::array()},
                     {"class_count", task.class_count},
                     {"class_names", task.class_names},
                     {"classes", classes_of(found, "", "", task.name)},
                     {"unlabelled", task.unlabelled},
                     {"train", task.split_counts[0]},
                     {"val", task.split_counts[1]},
                     {"test", task.split_counts[2]}});
    for (const auto type : task.edge_types)
      tasks.back()["edge_types"].push_back(info.edge_type_name(type));
  }
  return {{"name", info.name},
          {"digest", info.digest},
          {"node_types", std::move(nodes)},
          {"edge_types", std::move(edges)},
          {"tasks", std::move(tasks)}};
}

/// A line with the numbers of each task, and one for each of its edge types.
void print_tasks(const dataset_info& info) {
  if (!info.tasks.empty())
    say("{:<40} {:>12} {:>8} {:>7} {:>9} {:>9} {:>9}\n", "task", "kind", "",
        "classes", "train", "val", "test");
  for (const auto& task : info.tasks) {
    say("{:<40} {:>12} {:>8} {:>7} {:>9} {:>9} {:>9}\n", task.name,
        traits_of(task.kind).name, "", task.class_count, task.split_counts[0],
        task.split_counts[1], task.split_counts[2]);
    const auto& types = task.edge_types;
    for (std::size_t i = 0; i < std::min(types.size(), named_edge_types); ++i)
      say("  of {}\n", info.edge_type_name(types[i]));
    if (types.size() > named_edge_types)
      say("  and of {} more edge types\n", types.size() - named_edge_types);
  }
}

void print_text(const dataset_info& info,
                const std::vector<class_census>& found) {
  say("{:<40} {:>12} {:>8} {:>7} {:>9} {:>9} {:>9}\n", "node type", "nodes",
      "features", "classes", "train", "val", "test");
  for (const auto& type : info.node_types) {
    say("{:<40} {:>12} {:>8} {:>7} {:>9} {:>9} {:>9}\n", type.name, type.count,
        type.feature_width, type.class_count, type.split_counts[0],
        type.split_counts[1], type.split_counts[2]);
    for (const auto& set : type.label_sets)
      say("{:<40} {:>12} {:>8} {:>7} {:>9} {:>9} {:>9}\n",
          "  label set " + set.name, "", "", set.class_count,
          set.split_counts[0], set.split_counts[1], set.split_counts[2]);
  }
  say("{:<40} {:>12} {:>8}\n", "edge type", "edges", "max in");
  for (std::size_t i = 0; i < info.edge_types.size(); ++i)
    say("{:<40} {:>12} {:>8}\n",
        info.edge_type_name(static_cast<edge_type_id>(i)),
        info.edge_types[i].count, info.edge_types[i].max_in_degree);
  print_tasks(info);
  for (const auto& one : found)
    say_lines(class_table(one));
  say("digest {}\n", info.digest);
}

/// What may go wrong with the dataset without a word, a sentence each.
std::vector<std::string> warnings_on(const dataset& data,
                                     const std::vector<class_census>& found,
                                     std::vector<std::string> on_edges) {
  auto out = notes_on_target(data.info());
  std::ranges::move(on_edges, std::back_inserter(out));
  std::ranges::move(notes_on_tasks(data), std::back_inserter(out));
  for (const auto& one : found) {
    std::ranges::move(notes_on_names(one), std::back_inserter(out));
    std::ranges::move(notes_on_training(one), std::back_inserter(out));
  }
  return out;
}

/// @param notes What the import took for what.
void report(const import_target& target, const dataset& data, bool built,
            double seconds, std::vector<std::string> notes,
            const std::vector<class_census>& found,
            std::vector<std::string> on_edges) {
  const auto& info = data.info();
  auto warnings = warnings_on(data, found, std::move(on_edges));
  if (target.json) {
    auto line = to_json(info, found);
    std::ranges::move(warnings, std::back_inserter(notes));
    line["notes"] = notes;
    line["dataset"] = target.folder.string();
    line["built"] = built;
    line["seconds"] = seconds;
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    say("{}\n", line.dump(-1, ' ', false, replace));
    return;
  }
  for (const auto& sentence : notes)
    say("{}\n", sentence);
  if (built)
    say("{}: {} imported in {:.1f} s\n", target.folder.string(), info.name,
        seconds);
  else
    say("{}: {} is there already ({}); nothing done. --replace imports it "
        "again.\n",
        target.folder.string(), info.name, info.provenance);
  print_text(info, found);
  for (const auto& sentence : warnings)
    say("warning: {}\n", sentence);
}

/// Nothing there yet, or an empty folder.
bool is_free(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto status = std::filesystem::status(folder, failed);
  return !std::filesystem::exists(status)
         || (std::filesystem::is_directory(status)
             && std::filesystem::is_empty(folder, failed) && !failed);
}

result<void> expect_dataset(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "dataset.json", ignored))
    return ok();
  return fail(ec::invalid_argument,
              "{} exists and is no dataset; give another --out, or remove it",
              folder.string());
}

/// Fails, and names the options that differ, if a dataset was made with others.
result<void> check_same_options(const import_target& target,
                                const nlohmann::json& there) {
  GRAPHMILL_TRY(const auto wanted, parse_json(target.options, record_name));
  const auto part = [](const nlohmann::json& of, const char* key) {
    return of.is_object() ? of.value(key, nlohmann::json{}) : nlohmann::json{};
  };
  const auto before = part(there, "options");
  const auto now = part(wanted, "options");
  const auto same_kind = part(there, "kind") == part(wanted, "kind");
  if (same_kind && before == now)
    return ok();
  std::string differ;
  const auto compare = [&](const nlohmann::json& in, bool both) {
    if (in.is_object())
      for (const auto& [key, value] : in.items())
        if (both ? part(before, key.c_str()) != value : !now.contains(key))
          differ += fmt::format("{}{}", differ.empty() ? "" : ", ", key);
  };
  compare(now, true);
  compare(before, false);
  if (!same_kind || differ.empty())
    differ = "kind of import";
  return fail(ec::invalid_argument,
              "{} holds a dataset that was imported with other options ({}); "
              "--replace imports it again, and --out chooses another folder",
              target.folder.string(), differ);
}

/// Fails if a dataset was made with other options, or its sources changed. One
/// of an older Graphmill or of somebody's own has no record of them.
result<void> check_same_import(const import_target& target,
                               const source_lister& sources,
                               std::vector<std::string>& notes) {
  GRAPHMILL_TRY(const auto steps, read_growth(target.folder));
  if (!steps.empty())
    return fail(ec::invalid_argument,
                "{} has been appended to, so it is no more what an import "
                "makes; --replace imports it anew, without what was appended, "
                "and --out chooses another folder",
                target.folder.string());
  const auto stored = read_json(target.folder / record_name, largest_record);
  if (!stored && stored.error().code != ec::not_found)
    return stored.error();
  if (stored)
    GRAPHMILL_TRYV(check_same_options(target, *stored));
  if (!stored || !stored->is_object() || !stored->contains(sources_key)) {
    notes.push_back(fmt::format("{} has no record of its sources, so it is "
                                "unknown whether they have changed",
                                target.folder.string()));
    return ok();
  }
  GRAPHMILL_TRY(auto files, sources());
  return import_sources{std::move(files)}.expect_same((*stored)[sources_key],
                                                      target.folder);
}

/// Imports into a folder, and keeps a record of options and sources there.
result<bool> build_import(const import_target& target, const importer& import,
                          const source_lister& sources,
                          const std::filesystem::path& folder,
                          const progress_callback& on_progress,
                          std::vector<std::string>& notes) {
  GRAPHMILL_TRY(auto files, sources());
  const import_sources before{std::move(files)};
  GRAPHMILL_TRYV(import(folder, on_progress, [&notes](std::string sentence) {
    notes.push_back(std::move(sentence));
  }));
  GRAPHMILL_TRY(auto record, parse_json(target.options, record_name));
  GRAPHMILL_TRY(record[sources_key], before.record());
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  GRAPHMILL_TRYV(write_text(folder / record_name,
                            record.dump(-1, ' ', false, replace) + '\n'));
  return true;
}

/// Makes Ctrl-C and SIGTERM end the process, but not before what was begun is
/// removed: importers are pure, and read for minutes without a chance to hear
/// of it.
class tidy_interrupt {
public:
  explicit tidy_interrupt(folder_preparation& of)
    : of_(of), thread_([this] { watch(); }) {}

  ~tidy_interrupt() {
    over_ = true;
    signals_.wake();
    thread_.join();
  }

private:
  void watch() {
    while (!over_ && signals_.count() == 0)
      signals_.wait(std::chrono::seconds{1});
    if (signals_.count() == 0)
      return;
    const auto stopped = of_.abandon();
    if (stopped && !stopped.value())
      return; // Too late: the dataset is complete, and is reported.
    say(stderr, "\ngraphmill: stopped by the user; {}\n",
        stopped ? "nothing was kept" : stopped.error().message);
    std::fflush(stderr);
    _exit(exit_interrupted);
  }

  static constexpr int exit_interrupted = 130; // As shells give for SIGINT.

  folder_preparation& of_;
  signal_watch signals_;
  std::atomic<bool> over_{false};
  std::thread thread_; ///< Last: uses the others.
};

} // namespace

std::string dataset_name(const import_target& target) {
  if (!target.name.empty())
    return target.name;
  auto folder = target.folder.lexically_normal();
  if (!folder.has_filename())
    folder = folder.parent_path();
  return folder.filename().string();
}

result<int> run_import(const import_target& target, const importer& import,
                       const source_lister& sources) {
  const auto start = clock::now();
  const auto on_progress = show_progress(target.quiet);
  auto built = false;
  std::vector<std::string> notes;
  const auto is_new = is_free(target.folder);
  if (!is_new)
    GRAPHMILL_TRYV(expect_dataset(target.folder));
  if (is_new || target.replace) {
    folder_preparation preparation{target.folder, target.replace
                                                    ? present_folder::replace
                                                    : present_folder::keep};
    const tidy_interrupt interrupt{preparation};
    GRAPHMILL_TRY(built, preparation.run(
                           [&](const std::filesystem::path& folder) {
                             return build_import(target, import, sources,
                                                 folder, on_progress, notes);
                           },
                           on_progress));
    if (built && on_progress)
      on_progress({"done", 0, 0, 0});
  }
  GRAPHMILL_TRYV(expect_dataset(target.folder));
  GRAPHMILL_TRY(const auto info, read_dataset_info(target.folder));
  if (!built) {
    GRAPHMILL_TRYV(check_same_import(target, sources, notes));
  }
  const std::chrono::duration<double> elapsed = clock::now() - start;
  GRAPHMILL_TRY(const auto data, dataset::open(target.folder, info));
  GRAPHMILL_TRY(const auto found, count_classes_of(data));
  GRAPHMILL_TRY(auto on_edges, notes_on_early_edges(data));
  report(target, data, built, elapsed.count(), std::move(notes), found,
         std::move(on_edges));
  return 0;
}

} // namespace graphmill
