#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/columns_file.hpp"
#include "actors/commands/options/import_flags.hpp"
#include "actors/commands/options/import_sources.hpp"
#include "actors/commands/options/import_target.hpp"
#include "actors/commands/options/typed_file.hpp"
#include "actors/process/say.hpp"
#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/draft/csv_draft.hpp"
#include "partition/importers/csv/import/csv_files.hpp"
#include "partition/importers/npy/npy.hpp"
#include "partition/importers/rmat/rmat.hpp"
#include "partition/importers/wordnet/wordnet.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace graphmill {

namespace {

/// Gives the options what came of flags, before an import into a folder begins.
template <class Options>
using preparation = std::function<result<void>(
  Options&, const std::filesystem::path&, const note_callback&)>;

/// Does something else where flags ask for it, and says whether they did.
using instead_of_import = std::function<result<bool>()>;

/// Adds a kind of import with the flags that all kinds have. `options` live as
/// long as the callback; `import` makes a dataset of them in a folder.
template <class Options>
CLI::App* add_kind(command_line& cli, CLI::App& parent, const char* name,
                   const char* description, std::shared_ptr<Options> options,
                   result<dataset_info> (*import)(const Options&,
                                                  const std::filesystem::path&,
                                                  const progress_callback&),
                   source_lister sources, preparation<Options> prepare = {},
                   instead_of_import instead = {}) {
  auto* app = parent.add_subcommand(name, description);
  auto target = std::make_shared<import_target>();
  app
    ->add_option("--out", target->folder,
                 "Folder of the new dataset. A dataset there from the same "
                 "options and sources is kept")
    ->required(!instead);
  app->add_flag("--replace", target->replace,
                "Import again, and replace the dataset in --out when the new "
                "one is complete; all its files are removed");
  app->add_option("--name", target->name,
                  "Name of the dataset; default: that of the folder");
  app->add_flag("--reverse", options->reverse,
                "Add the reverse of each edge type as rev_<name>");
  app->add_flag("--json", target->json,
                "Print the summary as one line of JSON");
  app->add_flag("-q,--quiet", target->quiet, "Show no progress");
  app->callback(
    [&cli, app, target, options, import, sources, prepare, instead] {
      target->options = options_text(*app);
      cli.run = [target, options, import, sources, prepare,
                 instead]() -> result<int> {
        if (instead) {
          GRAPHMILL_TRY(const auto done, instead());
          if (done)
            return 0;
        }
        if (target->folder.empty())
          refuse_words("--out is required");
        return run_import(
          *target,
          [target, options, import,
           prepare](const auto& folder, const auto& on_progress,
                    const note_callback& on_note) -> result<dataset_info> {
            options->name = dataset_name(*target);
            if (prepare) {
              GRAPHMILL_TRYV(prepare(*options, folder, on_note));
            }
            return import(*options, folder, on_progress);
          },
          sources);
      };
    });
  return app;
}

void add_wordnet(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<wordnet_options>();
  auto* app = add_kind(
    cli, parent, "wordnet",
    "WordNet's synsets and pointers, with the lexicographer file as label",
    options, import_wordnet, [options] { return wordnet_files(*options); });
  app
    ->add_option("--source", options->source,
                 "Folder with data.noun, data.verb, data.adj and data.adv "
                 "(Debian package wordnet-base)")
    ->capture_default_str();
  app
    ->add_option("--features", options->feature_width,
                 "Number of features to which the words of lemmas and "
                 "definitions are hashed")
    ->capture_default_str();
  app->add_option("--seed", options->seed, "Seed of the split 10/10/80")
    ->capture_default_str();
}

/// An option that may come several times, each time one label set.
void add_sets(CLI::App& app, const char* flag, const char* help,
              std::vector<std::string>& sets) {
  one_each(app.add_option(flag, sets, help))->type_name("SET");
}

void add_no_label(CLI::App& app, std::vector<std::string>& values) {
  one_each(
    app.add_option("--no-label", values,
                   "A label that means unknown, in all labels of nodes and "
                   "edges; repeatable"))
    ->type_name("VALUE");
}

void add_time_unit(CLI::App& app, time_unit& unit) {
  app
    .add_option(
      "--time-unit", unit,
      "What whole numbers count in --edge-time and --node-time: s, ms "
      "or us since 1970, or step; default: told by their size where "
      "that is clear")
    ->transform(CLI::CheckedTransformer(
      std::map<std::string, time_unit>{{"s", time_unit::seconds},
                                       {"ms", time_unit::milliseconds},
                                       {"us", time_unit::microseconds},
                                       {"step", time_unit::steps}}));
}

void add_npy(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<npy_import_options>();
  auto flags = std::make_shared<change_flags>();
  const auto prepare = [flags](npy_import_options& to,
                               const std::filesystem::path&,
                               const note_callback& on_note) -> result<void> {
    to.on_note = on_note;
    GRAPHMILL_TRY(to.changes, changes_of(*flags, to.normalise));
    return ok();
  };
  auto* app = add_kind<npy_import_options>(
    cli, parent, "npy",
    "A folder of .npy arrays: edges, features (dense or CSR), labels, splits",
    options, import_npy, [options] { return npy_files(*options); }, prepare);
  app->add_option("source", options->source, "Folder of the arrays")
    ->required();
  one_each(app->add_option("--ignore", options->ignore,
                           "A file of the folder to leave out; any other "
                           "unknown file is an error"))
    ->type_name("FILE");
  app->add_flag("--renumber-labels", options->renumber_labels,
                "Renumber labels from 0, and keep the old ones as names of "
                "classes. Labels with gaps are always renumbered");
  app->add_flag("--multi-label", options->multi_label,
                "Nodes have several labels: rows of labels.npy are 0 and 1. "
                "The default, unless each row marks one label");
  app->add_flag("--regression", options->regression,
                "Labels are numbers to learn, one or several for each node; "
                "nan means unknown");
  add_sets(*app, "--multi-label-set",
           "As --multi-label, for the label set labels.SET.npy",
           options->multi_label_sets);
  add_sets(*app, "--regression-set",
           "As --regression, for the label set labels.SET.npy",
           options->regression_sets);
  app->add_flag("--edge-time", options->edge_times,
                "edge_time.npy has the times of edges, for sampler.time");
  app->add_flag("--node-time", options->node_times,
                "time.npy has the times of nodes, before which they do not "
                "exist, for sampler.time");
  add_time_unit(*app, options->times);
  add_no_label(*app, options->no_label);
  add_change_flags(*app, *flags);
  add_task_flags(*app, *flags);
  app->footer(
    "The arrays of a graph of one node type:\n"
    "  edges.npy                   [2, E]: sources, destinations\n"
    "  edge_weight.npy             [E], weights of edges, not negative\n"
    "  edge_attr.npy               [E, F] or [E], features of edges\n"
    "  labels.npy                  [N], -1 = none; or [N, labels] of 0 and 1,\n"
    "                              if nodes have several labels; or numbers\n"
    "                              [N] or [N, numbers], with --regression\n"
    "  {train,val,test}_idx.npy    node ids, or _mask.npy: [N] of booleans\n"
    "  features.npy                [N, F] or [N], or as CSR:\n"
    "                              features_indptr.npy,\n"
    "                              features_indices.npy, "
    "features_values.npy\n"
    "  labels.<set>.npy            a label set: other labels, as above, with\n"
    "                              train_idx.<set>.npy and so on, or those\n"
    "                              alone for another split of the labels;\n"
    "                              numbers with --regression-set <set>\n"
    "  time.npy                    [N], for --split with --by time, or with\n"
    "                              --node-time\n"
    "  edge_time.npy               [E], with --edge-time, or for a task\n"
    "  edge_split.npy              [E], for a task of edges: 0, 1, 2 or -1\n"
    "                              for training, validation, test, none;\n"
    "                              with it edge_label.npy, edge_time.npy,\n"
    "                              edge_row_weight.npy, edge_negatives.npy;\n"
    "                              edge_split.<task>.npy and so on, for one\n"
    "                              of several tasks\n"
    "  meta.json                   counts, num_features, class_names\n"
    "Of several types: the same with a prefix <type>., and edges in\n"
    "<source>__<name>__<destination>.edges.npy, beside which stands\n"
    "<source>__<name>__<destination>.edge_weight.npy and .edge_attr.npy.");
}

csv_table table_of(const std::string& text) {
  auto [type, file] = split_typed_file(text);
  return {std::move(type), file == "-" ? standard_input : std::move(file)};
}

bool reads_standard_input(const csv_import_options& options) {
  const auto is_it = [](const csv_table& table) {
    return table.file == standard_input;
  };
  return std::ranges::any_of(options.nodes, is_it)
         || std::ranges::any_of(options.edges, is_it);
}

/// An option that may come several times, each time one file.
void add_tables(CLI::App& app, const char* flag, const char* help,
                std::vector<csv_table>& tables, bool required) {
  app
    .add_option_function<std::vector<std::string>>(
      flag,
      [&tables](const std::vector<std::string>& texts) {
        for (const auto& text : texts)
          tables.push_back(table_of(text));
      },
      help)
    ->type_name("[TYPE=]FILE")
    ->required(required);
}

/// Edge lists that are each a split of tasks.
void add_task_files(CLI::App& app, csv_import_options& options) {
  for (const auto& [flag, which, what] :
       {std::tuple{"--task-train", split::train, "training"},
        std::tuple{"--task-val", split::validation, "validation"},
        std::tuple{"--task-test", split::test, "test"}})
    app
      .add_option_function<std::vector<std::string>>(
        flag,
        [&options, which = which](const std::vector<std::string>& texts) {
          for (const auto& text : texts) {
            options.edges.push_back(table_of(text));
            options.task_files.emplace_back(options.edges.back().file.string(),
                                            which);
          }
        },
        fmt::format("Edge list, as --edges, whose edges are {} rows of tasks",
                    what))
      ->type_name("[TYPE=]FILE");
}

/// The flags of `import csv` that its options do not hold as they are given.
struct csv_flags {
  change_flags changes;
  std::vector<std::string> header; ///< "true" where no name was given.
  std::vector<std::string> no_header;
  std::filesystem::path columns; ///< Empty: there is no columns file.
  bool suggest = false;
  std::string fill;
  std::string decimal;
  bool indicate_missing = false;
  std::string fit = "all";
};

/// An option that may come several times, each time one column.
struct column_flag {
  const char* flag;
  csv_role role;
  const char* help;
  bool of_task = false; ///< It may name one of several tasks.
};

constexpr column_flag column_flags[]{
  {"--source", csv_role::source, "Sources of edges"},
  {"--destination", csv_role::destination, "Destinations of edges"},
  {"--relation", csv_role::relation,
   "Relations of edges: each value becomes an edge type"},
  {"--weight", csv_role::weight,
   "Weights of edges, not negative; default: weight, weights or edge_weight"},
  {"--edge-time", csv_role::edge_time,
   "Times of edges, ISO 8601 or numbers, for sampler.time"},
  {"--node-time", csv_role::node_time,
   "Times of nodes, before which they do not exist, for sampler.time"},
  {"--id", csv_role::id, "Ids of nodes; default: id"},
  {"--label", csv_role::label, "Labels of nodes; default: label"},
  {"--split-column", csv_role::split,
   "train, val, test or nothing for each node; default: split"},
  {"--label-set", csv_role::label_set,
   "Other labels of nodes: a label set with the name of the column; default: "
   "label.<set>"},
  {"--split-set", csv_role::split_set,
   "The split of a label set, or another split of the labels; default: "
   "split.<set>"},
  {"--train-mask", csv_role::train_mask,
   "1 or true for each training node, instead of a split column"},
  {"--val-mask", csv_role::val_mask, "The same of validation nodes"},
  {"--test-mask", csv_role::test_mask, "The same of test nodes"},
  {"--time", csv_role::time, "Times of nodes, for --split with --by time"},
  {"--task-label", csv_role::task_label, "Labels of edges, for --task-kind",
   true},
  {"--task-split", csv_role::task_split,
   "train, val, test or nothing for each edge of the task", true},
  {"--task-time", csv_role::task_time,
   "Times of edges, for --split-edges with --by time", true},
  {"--task-weight", csv_role::task_weight, "How much edges of the task count",
   true},
  {"--task-negatives", csv_role::task_negatives,
   "Ids of wrong destinations, with blanks or '|' between them, as many for "
   "each edge of a split",
   true},
  {"--feature", csv_role::feature,
   "A feature of edges; or of nodes, although its name looks like a label or "
   "split"},
};

void add_columns(CLI::App& app, csv_import_options& options) {
  for (const auto& one : column_flags)
    app
      .add_option_function<std::vector<std::string>>(
        one.flag,
        [role = one.role, &options](const std::vector<std::string>& columns) {
          for (const auto& column : columns)
            options.choices.push_back({role, column});
        },
        one.help)
      ->type_name(one.of_task ? "[TASK=][TABLE=]COLUMN" : "[TABLE=]COLUMN");
  add_time_unit(app, options.times);
  app
    .add_option("--ignore", options.ignore,
                "A column to leave out, or '*' for all columns without an "
                "option or a usual name. Edge lists leave out no other columns")
    ->type_name("[TABLE=]COLUMN");
}

void add_headers(CLI::App& app, csv_flags& flags) {
  app.add_flag("--header", flags.header,
               "--header[=TABLE]: edge lists, or one table, have a header; "
               "default: the first rows decide");
  app.add_flag("--no-header", flags.no_header,
               "--no-header[=TABLE]: edge lists, or one table, have no header");
}

void add_features(CLI::App& app, csv_import_options& options,
                  csv_flags& flags) {
  app
    .add_option("--columns", flags.columns,
                "A YAML file that describes each column and its features: "
                "numbers, categories, dates, texts")
    ->type_name("FILE");
  app.add_flag("--suggest", flags.suggest,
               "Print a draft of a columns file; import nothing");
  app
    .add_option("--like", options.like,
                "Import like that dataset, with its columns, categories, means "
                "and classes, so that its runs can predict this one")
    ->type_name("FOLDER");
  app
    .add_option("--fill", flags.fill,
                "Value for missing numbers: mean, median, most_frequent, zero "
                "or a number; default: an error")
    ->type_name("WHAT");
  app.add_flag(
    "--indicate-missing", flags.indicate_missing,
    "Add a feature for each number column that marks missing values");
  app
    .add_option("--decimal", flags.decimal,
                "Character before the fraction of numbers, also of weights, "
                "times and --regression labels: point or comma")
    ->check(CLI::IsMember({"point", "comma"}));
  app
    .add_option("--fit", flags.fit,
                "Rows that means, categories and scales are fitted to: all, "
                "or train (training nodes and edges only); default: all")
    ->check(CLI::IsMember({"all", "train"}));
}

/// Makes of the flags what the import takes.
result<void> apply_features(csv_flags& flags, csv_import_options& to) {
  if (!flags.fill.empty())
    to.number_options["fill"] = {flags.fill};
  to.decimal_commas = flags.decimal == "comma";
  if (flags.indicate_missing)
    to.number_options["missing"] = {"true"};
  to.fit_on_training = flags.fit == "train";
  return flags.columns.empty()
           ? ok()
           : read_columns_file(flags.columns, to, flags.changes.tasks);
}

/// Sorts what stood alone from names of tables.
void apply_headers(const csv_flags& flags, csv_import_options& to) {
  const auto alone = [](const std::vector<std::string>& names) {
    return std::ranges::find(names, flag_alone) != names.end();
  };
  if (alone(flags.header) && alone(flags.no_header))
    refuse_words("--header and --no-header exclude each other");
  for (const auto& [names, tables, all] :
       {std::tuple{&flags.header, &to.with_header, true},
        std::tuple{&flags.no_header, &to.without_header, false}})
    for (const auto& name : *names)
      if (name == flag_alone)
        to.edge_header = all;
      else
        tables->push_back(name);
}

/// A tab cannot be typed in most shells.
char separator_of(const std::string& text) {
  if (text == "tab" || text == "\\t")
    return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r")
    refuse_words(fmt::format("--separator {}: one character between columns "
                             "expected, or tab{}",
                             in_quotes(text),
                             text.size() > 1
                               ? "; write the table anew with one, if it has "
                                 "more of them in a place"
                               : ""));
  return text.front();
}

char comment_mark_of(const std::string& text) {
  if (text.size() != 1 || text.find_first_of(" \t\r\n\"") != text.npos)
    refuse_words(fmt::format(
      "--comments {}: one character expected, with which comment lines begin",
      in_quotes(text)));
  return text.front();
}

/// What becomes of rows that are wrong.
void add_row_rules(CLI::App& app, csv_import_options& options) {
  app
    .add_option("--skip-bad-rows", options.skip_bad_rows,
                "Leave out at most N rows that are wrong; rejected_rows.csv in "
                "the dataset lists them; default: 0")
    ->type_name("N")
    ->check([](const std::string& text) {
      return number_from<std::int64_t>(text).value_or(-1) >= 0
               ? ""
               : fmt::format("{}: a number of rows, 0 or more, expected; no "
                             "number stands for all",
                             in_quotes(text));
    });
  const std::map<std::string, unknown_nodes> choices{
    {"error", unknown_nodes::error},
    {"drop", unknown_nodes::drop},
    {"add", unknown_nodes::add}};
  app
    .add_option_function<std::string>(
      "--unknown-nodes",
      [choices, &options](const std::string& word) {
        options.unknown = choices.at(word);
      },
      "Edges to nodes that the table of their type lacks: error, drop (also "
      "edges without one of their ends), or add (the nodes, without labels); "
      "default: error")
    ->check(CLI::IsMember({"error", "drop", "add"}));
}

void add_csv(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<csv_import_options>();
  auto flags = std::make_shared<csv_flags>();
  const auto prepare = [flags](csv_import_options& to,
                               const std::filesystem::path& folder,
                               const note_callback& on_note) -> result<void> {
    to.on_note = on_note;
    if (to.edges.empty())
      refuse_words("--edges is required");
    if (reads_standard_input(to))
      GRAPHMILL_TRYV(keep_standard_input(folder));
    apply_headers(*flags, to);
    GRAPHMILL_TRYV(apply_features(*flags, to));
    GRAPHMILL_TRY(to.changes, changes_of(flags->changes, to.normalise));
    return ok();
  };
  auto* app = add_kind<csv_import_options>(
    cli, parent, "csv",
    "Text tables: edge lists, and node tables with ids, labels, splits and "
    "features; gzip and Zstandard are unpacked",
    options, import_csv,
    [flags, options]() -> result<std::vector<std::filesystem::path>> {
      GRAPHMILL_TRY(auto files, csv_files(*options));
      if (!flags->columns.empty())
        files.push_back(flags->columns);
      return files;
    },
    prepare,
    [flags, options]() -> result<bool> {
      if (!flags->suggest)
        return false;
      if (reads_standard_input(*options))
        GRAPHMILL_TRYV(
          keep_standard_input(std::filesystem::temp_directory_path()));
      GRAPHMILL_TRY(const auto draft, draft_columns_file(*options));
      say_lines(draft);
      return true;
    });
  add_tables(*app, "--edges",
             "Edge list; TYPE is <source>__<name>__<destination>; FILE may be "
             "a pattern such as 'e-*.csv', or - for standard input; files of "
             "one type make one list",
             options->edges, false);
  add_tables(*app, "--nodes",
             "Node table with a header: id, and optionally label, split, "
             "features; FILE as of --edges",
             options->nodes, false);
  add_task_files(*app, *options);
  add_columns(*app, *options);
  app->add_flag(
    "--regression", options->regression,
    "Labels are numbers to learn; an empty field or nan means unknown");
  add_sets(*app, "--regression-set", "As --regression, for the label set SET",
           options->regression_sets);
  add_no_label(*app, options->no_label);
  app
    ->add_option("--classes-of", options->classes_of,
                 "Use the classes of this dataset, with its numbers; other "
                 "labels are an error")
    ->type_name("FOLDER");
  add_features(*app, *options, *flags);
  add_headers(*app, *flags);
  add_row_rules(*app, *options);
  app->add_option(
    "--target", options->target,
    "Node type whose labels are learnt; default: the first with labels");
  app
    ->add_option_function<std::string>(
      "--separator",
      [options](const std::string& text) {
        options->separator = separator_of(text);
      },
      "Separator of columns: a character, or tab; default: comma, tab, ';' or "
      "space, by the first rows")
    ->type_name("CHAR");
  app
    ->add_option_function<std::string>(
      "--comments",
      [options](const std::string& text) {
        options->comments = comment_mark_of(text);
      },
      "Character that begins comment lines; default: '#' in lists of SNAP, '%' "
      "in those of KONECT, else none")
    ->type_name("CHAR");
  add_change_flags(*app, flags->changes);
  add_task_flags(*app, flags->changes);
  app->footer("COLUMN is a name in the header or a number from 1. TABLE is a "
              "node type, an edge\n"
              "type (or its middle name) or the name of a file. The import "
              "prints at the end\n"
              "how it has read every column.");
}

void add_rmat(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<rmat_options>();
  auto* app =
    add_kind(cli, parent, "rmat",
             "A random graph with heavy-tailed degrees (R-MAT) and labels "
             "planted in features and neighbourhoods",
             options, import_rmat,
             [] { return result<std::vector<std::filesystem::path>>{}; });
  const auto add = [app](const char* flag, auto& to, const char* help) {
    app->add_option(flag, to, help)->capture_default_str();
  };
  add("--scale", options->scale, "2^SCALE nodes, 1 to 30");
  add("--edges", options->edges, "Number of edges; 0: 24 per node");
  app->add_flag("--weights", options->weights,
                "Draw a weight above 0 and up to 2 for each edge");
  add("-a", options->a,
      "Probability of the quadrant low source, low destination");
  add("-b", options->b, "Low source, high destination");
  add("-c", options->c, "High source, low destination");
  add("--features", options->feature_width, "Features per node");
  add("--classes", options->class_count, "Number of classes");
  add("--seed", options->seed, "Random seed");
  add("--train", options->fractions[0], "Share of training nodes");
  add("--validation", options->fractions[1], "Share of validation nodes");
  add("--test", options->fractions[2], "Share of test nodes");
}

} // namespace

void add_import_command(command_line& cli) {
  auto* app = cli.app.add_subcommand(
    "import", "Make a dataset from your data, or generate one");
  app->require_subcommand(1);
  app->footer("A second import with the same --out, options and sources does "
              "nothing. With other\n"
              "options, or after a source has changed, it fails unless "
              "--replace is given.\n"
              "The next step: graphmill inspect, or graphmill partition.");
  add_wordnet(cli, *app);
  add_npy(cli, *app);
  add_csv(cli, *app);
  add_rmat(cli, *app);
}

} // namespace graphmill
