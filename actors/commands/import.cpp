#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/import_target.hpp"

#include "partition/importers/csv/csv.hpp"
#include "partition/importers/npy/npy.hpp"
#include "partition/importers/rmat/rmat.hpp"
#include "partition/importers/wordnet/wordnet.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

namespace {

/// Adds a kind of import with the flags that all kinds have. `options` live as
/// long as the callback; `import` makes a dataset of them in a folder.
template <class Options>
CLI::App* add_kind(command_line& cli, CLI::App& parent, const char* name,
                   const char* description, std::shared_ptr<Options> options,
                   result<dataset_info> (*import)(const Options&,
                                                  const std::filesystem::path&,
                                                  const progress_callback&)) {
  auto* app = parent.add_subcommand(name, description);
  auto target = std::make_shared<import_target>();
  app
    ->add_option("--out", target->folder,
                 "Folder of the new dataset; kept as it is if it holds one "
                 "already")
    ->required();
  app->add_flag("--reverse", options->reverse,
                "Add the reverse of each edge type as rev_<name>");
  app->add_flag("--json", target->json,
                "Print the summary as one line of JSON");
  app->add_flag("-q,--quiet", target->quiet, "Show no progress");
  app->callback([&cli, target, options, import] {
    cli.run = [target, options, import] {
      return run_import(*target, [options, import](const auto& folder,
                                                   const auto& on_progress) {
        return import(*options, folder, on_progress);
      });
    };
  });
  return app;
}

void add_wordnet(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<wordnet_options>();
  auto* app = add_kind(cli, parent, "wordnet",
                       "WordNet's synsets and their pointers, with the "
                       "lexicographer file as label",
                       options, import_wordnet);
  app
    ->add_option("--source", options->source,
                 "Folder of data.noun, data.verb, data.adj and data.adv; the "
                 "Debian package wordnet-base has them")
    ->capture_default_str();
  app
    ->add_option("--features", options->feature_width,
                 "Columns that the words of lemmas and definitions are hashed "
                 "to")
    ->capture_default_str();
  app->add_option("--seed", options->seed, "Seed of the split 10/10/80")
    ->capture_default_str();
}

void add_normalise(CLI::App& app, row_norm& normalise) {
  const std::map<std::string, row_norm> names{
    {"none", row_norm::none}, {"l1", row_norm::l1}, {"l2", row_norm::l2}};
  app
    .add_option("--normalise", normalise,
                "Scale feature rows: none, l1 (sum of 1) or l2 (length of 1)")
    ->transform(CLI::CheckedTransformer(names).description(""))
    ->type_name("NORM")
    ->default_str("none");
}

void add_npy(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<npy_import_options>();
  auto* app = add_kind(cli, parent, "npy",
                       "A folder of .npy arrays: edges, features (dense or "
                       "CSR), labels and splits",
                       options, import_npy);
  app->add_option("source", options->source, "Folder of the arrays")
    ->required();
  app->add_option("--name", options->name,
                  "Name of the dataset; default: that of meta.json");
  add_normalise(*app, options->normalise);
  app->add_flag("--renumber-labels", options->renumber_labels,
                "Number the labels that there are from 0, and keep them as "
                "names of classes");
  app->footer(
    "The arrays of a graph of one node type:\n"
    "  edges.npy                   [2, E]: sources, destinations\n"
    "  labels.npy                  [N], -1 = none\n"
    "  {train,val,test}_idx.npy    node ids\n"
    "  features.npy                [N, F], or as CSR: features_indptr.npy,\n"
    "                              features_indices.npy, "
    "features_values.npy\n"
    "  meta.json                   counts, num_features\n"
    "Of several types: the same with a prefix <type>., and edges in\n"
    "<source>__<name>__<destination>.edges.npy.");
}

/// Splits "TYPE=FILE"; without a type it stays empty.
csv_table table_of(const std::string& text) {
  const auto equals = text.find('=');
  // A slash before it: it belongs to a path.
  if (equals == std::string::npos || text.find('/') < equals)
    return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
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

void add_csv(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<csv_import_options>();
  auto* app = add_kind(cli, parent, "csv",
                       "Text tables: edge lists, and node tables with ids, "
                       "labels, splits and features; gzip is unpacked",
                       options, import_csv);
  add_tables(
    *app, "--edges",
    "Edge list: source, destination, whatever follows is not read; TYPE is "
    "<source>__<name>__<destination>; once per file",
    options->edges, true);
  add_tables(*app, "--nodes",
             "Node table with a header: id, and optionally label, split "
             "(train, val, test), features; once per type",
             options->nodes, false);
  app
    ->add_option("--ignore", options->ignore,
                 "Columns of node tables to leave out")
    ->type_name("COLUMN");
  app->add_option("--name", options->name,
                  "Name of the dataset; default: that of the first edge list");
  app->add_option("--target", options->target,
                  "Node type to learn on; default: the first with labels");
  app->add_flag_callback(
    "--header", [options] { options->edge_header = true; },
    "Edge lists have a header; default: seen from their first two rows");
  app->add_flag_callback(
    "--no-header", [options] { options->edge_header = false; },
    "Edge lists have no header");
  app->add_option("--separator", options->separator,
                  "Between columns; default: comma, tab, ';' or space, as "
                  "seen");
  add_normalise(*app, options->normalise);
}

void add_rmat(command_line& cli, CLI::App& parent) {
  auto options = std::make_shared<rmat_options>();
  auto* app =
    add_kind(cli, parent, "rmat",
             "A random graph with heavy-tailed degrees (R-MAT) and labels "
             "planted in features and neighbourhoods",
             options, import_rmat);
  app->add_option("--scale", options->scale, "2^SCALE nodes, 1 to 30")
    ->capture_default_str();
  app->add_option("--edges", options->edges, "Number of edges; 0: 24 per node")
    ->capture_default_str();
  app
    ->add_option("-a", options->a,
                 "Probability of the quadrant low source, low destination")
    ->capture_default_str();
  app->add_option("-b", options->b, "Low source, high destination")
    ->capture_default_str();
  app->add_option("-c", options->c, "High source, low destination")
    ->capture_default_str();
  app->add_option("--features", options->feature_width, "Features per node")
    ->capture_default_str();
  app->add_option("--classes", options->class_count, "Number of classes")
    ->capture_default_str();
  app->add_option("--seed", options->seed, "Seed of everything drawn")
    ->capture_default_str();
  app->add_option("--train", options->fractions[0], "Share of training nodes")
    ->capture_default_str();
  app
    ->add_option("--validation", options->fractions[1],
                 "Share of validation nodes")
    ->capture_default_str();
  app->add_option("--test", options->fractions[2], "Share of test nodes")
    ->capture_default_str();
}

} // namespace

void add_import_command(command_line& cli) {
  auto* app = cli.app.add_subcommand(
    "import", "Makes a dataset folder of other data, or generates one");
  app->require_subcommand(1);
  app->footer("A second run with the same --out finds the dataset there and "
              "does nothing.\nThe next step: graphmill inspect, or graphmill "
              "partition.");
  add_wordnet(cli, *app);
  add_npy(cli, *app);
  add_csv(cli, *app);
  add_rmat(cli, *app);
}

} // namespace graphmill
