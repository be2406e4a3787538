#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/interrupt_flag.hpp"
#include "actors/commands/options/source_check.hpp"
#include "actors/commands/options/typed_file.hpp"
#include "actors/process/say.hpp"
#include "messages/base/pluralized.hpp"
#include "partition/files/json_text.hpp"
#include "partition/growing/appending.hpp"
#include "partition/partitioners/partition_dataset.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace graphmill {

namespace {

constexpr std::size_t largest_book = std::size_t{1} << 28;

struct append_arguments {
  std::filesystem::path dataset;
  std::vector<std::string> nodes;
  std::vector<std::string> edges;
  std::vector<std::string> splits; ///< Of new rows of tasks.
  std::filesystem::path parts;     ///< Empty: none.
  bool roll_forward = false;
  bool no_verify = false;
  bool json = false;
  bool quiet = false;
};

new_array appended_file(const std::string& text) {
  auto [type, file] = split_typed_file(text);
  return {std::move(type), std::move(file)};
}

/// The splits of new rows that the words say.
result<new_row_splits> splits_of_rows(const std::vector<std::string>& words) {
  new_row_splits out;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto named = equals != std::string::npos;
    const auto text = named ? word.substr(equals + 1) : word;
    const auto at = std::ranges::find(all_splits, text, file_stem);
    if (at == all_splits.end() && text != "none")
      return fail(ec::invalid_argument,
                  "--split {}: train, val, test or none expected, with TASK= "
                  "before it if it is for one of several tasks",
                  word);
    out.emplace_back(named ? word.substr(0, equals) : std::string{},
                     text == "none" ? std::nullopt : std::optional{*at});
  }
  return out;
}

/// What the words ask for. Arrays and tables are not mixed.
result<additions> additions_of(const append_arguments& given,
                               std::vector<std::string>& notes) {
  new_arrays arrays;
  GRAPHMILL_TRY(arrays.rows, splits_of_rows(given.splits));
  for (const auto& text : given.nodes)
    arrays.nodes.push_back(appended_file(text));
  for (const auto& text : given.edges)
    arrays.edges.push_back(appended_file(text));
  const auto is_array = [](const new_array& one) {
    return one.file.extension() == ".npy";
  };
  const auto count = std::ranges::count_if(arrays.nodes, is_array)
                     + std::ranges::count_if(arrays.edges, is_array);
  if (count == std::ssize(arrays.nodes) + std::ssize(arrays.edges))
    return additions{std::move(arrays)};
  if (count > 0)
    return fail(ec::invalid_argument,
                "some of the files are arrays (.npy) and others are text "
                "tables; append one kind after the other");
  csv_import_options tables;
  tables.new_rows = arrays.rows;
  for (const auto& [from, to] : {std::pair{&arrays.nodes, &tables.nodes},
                                 std::pair{&arrays.edges, &tables.edges}})
    for (const auto& one : *from)
      to->push_back({one.type, one.file});
  tables.on_note = [&notes](std::string note) {
    notes.push_back(std::move(note));
  };
  return additions{std::move(tables)};
}

/// Fails for a folder of parts.
result<void> expect_whole(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::exists(folder / "partitions.json", failed))
    return ok();
  return fail(ec::invalid_argument,
              "{} is a dataset in parts; append to the dataset that it was "
              "made of, and name the parts with --parts",
              folder.string());
}

/// Fails if this process is in a folder that is to be replaced, where relative
/// paths lead nowhere afterwards.
result<void> expect_outside(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(folder, failed);
  if (failed)
    return ok(); // There is none, or opening it reports why.
  const auto here = std::filesystem::current_path(failed);
  if (failed
      || std::mismatch(real.begin(), real.end(), here.begin(), here.end()).first
           != real.end())
    return ok();
  return fail(
    ec::invalid_argument,
    "append replaces {}, which is or holds the current folder: run it "
    "from another one, such as {}",
    folder.string(), real.parent_path().string());
}

/// Whether parts are of a dataset as it is now.
result<bool> are_parts_of(const std::filesystem::path& parts,
                          const dataset& data) {
  GRAPHMILL_TRY(const auto book,
                read_json(parts / "partitions.json", largest_book));
  return book.is_object()
         && book.value("source_digest", nlohmann::json{}) == data.info().digest;
}

error other_parts(const std::filesystem::path& parts, const dataset& data) {
  return fail(ec::invalid_argument,
              "{} holds parts of another dataset than {}, or of another state "
              "of it; if that is the state before the last append, append "
              "nothing with --parts first",
              parts.string(), data.folder().string());
}

void print_parts(const std::filesystem::path& folder,
                 const grown_partitions& parts) {
  const auto& [before, now] = parts;
  say("{}: {:.2f} % of all edges are cut, {:.2f} % were before\n",
      folder.string(), now.cut() * 100, before.cut() * 100);
  if (const auto why = wear_of(now); !why.empty())
    say("warning: partition the dataset again: {}\n", why);
}

nlohmann::json parts_json(const grown_partitions& parts) {
  auto out = to_json(parts.report);
  out["cut_before"] = parts.before.cut();
  out["wear"] = wear_of(parts.report);
  return out;
}

/// How many nodes or edges types have got.
template <class Types>
std::int64_t more_in(const Types& before, const Types& now) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < now.size(); ++i)
    out += now[i].count - before[i].count;
  return out;
}

/// How many rows tasks have got, by their names and splits.
nlohmann::json new_rows_json(const growth_report& grown) {
  const auto& now = grown.now.tasks;
  auto out = nlohmann::json::object();
  for (std::size_t t = 0; t < now.size(); ++t) {
    auto before = grown.before.tasks[t].split_counts;
    if (const auto rolled = grown.rolled_tasks.find(now[t].name);
        rolled != grown.rolled_tasks.end())
      before = {before[0] + rolled->second.moved, 0, 0};
    for (const auto which : all_splits) {
      const auto s = static_cast<std::size_t>(which);
      out[now[t].name][std::string{file_stem(which)}] =
        now[t].split_counts[s] - before[s];
    }
  }
  return out;
}

/// How many rows were held out and became training rows.
nlohmann::json rolled_json(const growth_report& grown) {
  auto out = nlohmann::json::object();
  for (const auto& [kind, rolled] : {std::pair{"tasks", &grown.rolled_tasks},
                                     std::pair{"nodes", &grown.rolled_nodes}})
    for (const auto& [name, rows] : *rolled)
      out[kind][name] = {{"moved", rows.moved}, {"left_out", rows.left_out}};
  return out;
}

void print_rolled(const nlohmann::json& rolled) {
  for (const auto& [kind, all] : rolled.items())
    for (const auto& [name, rows] : all.items()) {
      const auto left_out = rows["left_out"].get<std::int64_t>();
      say("{} {}: {} of validation and test moved to training{}\n",
          kind == "tasks" ? "task" : "nodes", name,
          pluralized(rows["moved"].get<std::int64_t>(), "row"),
          left_out == 0 ? ""
                        : fmt::format(", and {} without a label left out",
                                      pluralized(left_out, "row")));
    }
}

void print_new_rows(const nlohmann::json& tasks) {
  for (const auto& [name, splits] : tasks.items())
    say("task {}: {} for training, {} for validation and {} for the test "
        "appended\n",
        name, pluralized(splits["train"].get<std::int64_t>(), "row"),
        splits["val"].get<std::int64_t>(), splits["test"].get<std::int64_t>());
}

/// @param line Gets the numbers.
void report_growth(const append_arguments& given, const growth_report& grown,
                   const std::vector<std::string>& notes,
                   nlohmann::json& line) {
  const auto& before = grown.before;
  const auto& now = grown.now;
  const auto nodes = more_in(before.node_types, now.node_types);
  const auto edges = more_in(before.edge_types, now.edge_types);
  line["nodes"] = nodes;
  line["edges"] = edges;
  if (!now.tasks.empty())
    line["tasks"] = new_rows_json(grown);
  if (given.roll_forward)
    line["rolled_forward"] = rolled_json(grown);
  if (given.json)
    return;
  for (const auto& note : notes)
    say("{}\n", note);
  if (given.roll_forward)
    print_rolled(line["rolled_forward"]);
  if (line.contains("tasks"))
    print_new_rows(line["tasks"]);
  say("{}: {} and {} appended, digest {}\n", given.dataset.string(),
      pluralized(nodes, "node"), pluralized(edges, "edge"), now.digest);
}

result<int> run_append(const append_arguments& given) {
  const auto start = std::chrono::steady_clock::now();
  const interrupt_flag interrupted;
  const auto* stop = &interrupt_flag::raised();
  const auto on_progress = show_progress(given.quiet);
  const auto appends =
    !given.nodes.empty() || !given.edges.empty() || given.roll_forward;
  for (const auto& folder : {given.dataset, given.parts})
    GRAPHMILL_TRYV(expect_outside(folder));
  GRAPHMILL_TRYV(expect_whole(given.dataset));
  std::vector<std::string> notes;
  std::string digest;
  auto parts_grow = !given.parts.empty();
  const auto note_current = [&] {
    notes.push_back(fmt::format("{}: the parts of {} as it is now; nothing to "
                                "do",
                                given.parts.string(), given.dataset.string()));
    if (!given.json)
      say("{}\n", notes.back());
  };
  {
    GRAPHMILL_TRY(const auto data, dataset::open(given.dataset));
    digest = data.info().digest;
    if (appends)
      GRAPHMILL_TRYV(expect_growable(data));
    if (!given.parts.empty()) {
      GRAPHMILL_TRY(const auto current, are_parts_of(given.parts, data));
      if (appends && !current)
        return other_parts(given.parts, data);
      parts_grow = appends || !current;
    }
    if (!given.parts.empty() && !parts_grow)
      note_current();
    if (!given.no_verify)
      GRAPHMILL_TRYV(verify_source(data, on_progress, stop));
  }
  nlohmann::json line{{"dataset", given.dataset.string()}};
  if (appends) {
    GRAPHMILL_TRY(const auto what, additions_of(given, notes));
    GRAPHMILL_TRY(const auto grown,
                  append_to_dataset(given.dataset, what, on_progress, stop,
                                    given.roll_forward));
    digest = grown.now.digest;
    notes.insert(notes.end(), grown.notes.begin(), grown.notes.end());
    report_growth(given, grown, notes, line);
  }
  line["digest"] = digest;
  if (parts_grow) {
    GRAPHMILL_TRY(const auto data, dataset::open(given.dataset));
    const auto parts = grow_partitions(data, given.parts, on_progress, stop);
    if (parts) {
      line["parts"] = parts_json(*parts);
      if (!given.json)
        print_parts(given.parts, *parts);
    } else {
      // Another append may have brought them up to date meanwhile.
      const auto current = are_parts_of(given.parts, data);
      if (!current || !*current)
        return parts.error();
      note_current();
    }
  }
  const std::chrono::duration<double> seconds =
    std::chrono::steady_clock::now() - start;
  if (!given.json) {
    say("took {:.1f} s\n", seconds.count());
    return 0;
  }
  line["notes"] = notes;
  line["seconds"] = seconds.count();
  say("{}\n", one_line(line));
  return 0;
}

} // namespace

void add_append_command(command_line& cli) {
  auto given = std::make_shared<append_arguments>();
  auto* command = cli.app.add_subcommand(
    "append", "Add new nodes and edges to a dataset of an import");
  command->add_option("dataset", given->dataset, "Folder of the dataset")
    ->required();
  one_each(command->add_option(
             "--nodes", given->nodes,
             "Table of new nodes, with the columns of the first import; or "
             "their features, an array .npy"))
    ->type_name("[TYPE=]FILE");
  one_each(command->add_option(
             "--edges", given->edges,
             "Table of new edges, with the columns of the first import; or an "
             "array .npy [2, edges] of sources and destinations"))
    ->type_name("[TYPE=]FILE");
  one_each(command->add_option(
             "--split", given->splits,
             "Split of the new rows of tasks: train, val, test or none; "
             "default: test. Refused if the table has the import's column "
             "of splits, which then decides"))
    ->type_name("[TASK=]SPLIT");
  command->add_flag("--roll-forward", given->roll_forward,
                    "Rows that were held out so far become training rows, "
                    "before new ones get their split. Rows without a label "
                    "are left out. Seeds of nodes, too. May be given alone, or "
                    "with new rows");
  command->add_option("--parts", given->parts,
                      "Folder of the dataset in parts, which grows, too. "
                      "Without --nodes and --edges, it catches up with the "
                      "dataset");
  command->add_flag(
    "--no-verify", given->no_verify,
    "Do not compare the dataset with its recorded digests first");
  command->add_flag("--json", given->json,
                    "Print the summary as one line of JSON");
  command->add_flag("-q,--quiet", given->quiet, "Show no progress");
  command->footer("The dataset is replaced at once when the new one is "
                  "complete: whenever this is\n"
                  "ended, one or the other is there, whole.");
  command->callback([&cli, given] {
    if (given->nodes.empty() && given->edges.empty() && given->parts.empty()
        && !given->roll_forward)
      refuse_words("--nodes, --edges, --roll-forward or --parts is required");
    if (!given->splits.empty() && given->edges.empty())
      refuse_words("--split is for new --edges");
    cli.run = [given] { return run_append(*given); };
  });
}

} // namespace graphmill
