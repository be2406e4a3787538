#include "actors/commands/cli.hpp"
#include "actors/commands/import_target.hpp"

#include "partition/importers/rmat.hpp"
#include "partition/importers/wordnet.hpp"

#include <memory>

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
  app->add_option("--out", target->folder,
                  "Folder of the new dataset; kept as it is if it holds one "
                  "already")
      ->required();
  app->add_flag("--reverse", options->reverse,
                "Add the reverse of each edge type as rev_<name>");
  app->add_flag("--json", target->json,
                "Print the summary as one line of JSON");
  app->add_flag("--quiet", target->quiet, "Show no progress");
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
  app->add_option("--source", options->source,
                  "Folder of data.noun, data.verb, data.adj and data.adv; the "
                  "Debian package wordnet-base has them")
      ->capture_default_str();
  app->add_option("--features", options->feature_width,
                  "Columns that the words of lemmas and definitions are hashed "
                  "to")
      ->capture_default_str();
  app->add_option("--seed", options->seed, "Seed of the split 10/10/80")
      ->capture_default_str();
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
  app->add_option("-a", options->a,
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
  app->add_option("--train", options->shares[0], "Share of training nodes")
      ->capture_default_str();
  app->add_option("--validation", options->shares[1],
                  "Share of validation nodes")
      ->capture_default_str();
  app->add_option("--test", options->shares[2], "Share of test nodes")
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
  add_rmat(cli, *app);
}

} // namespace graphmill
