#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

using namespace graphmill;

namespace {

using texts = std::vector<std::string>;

/// movie (labelled, the target) and actor; "plays" from actor to movie, and
/// "has" back.
dataset_info typed_info() {
  dataset_info info;
  info.name = "films";
  info.node_types.resize(2);
  info.node_types[0].name = "movie";
  info.node_types[0].count = 100;
  info.node_types[0].class_count = 3;
  info.node_types[0].split_counts = {10, 0, 5};
  info.node_types[1].name = "actor";
  info.node_types[1].count = 50;
  info.edge_types.resize(2);
  info.edge_types[0] = {1, "plays", 0, 200, 10, dtype::int32};
  info.edge_types[1] = {0, "has", 1, 200, 10, dtype::int32};
  return info;
}

definition_source source_of(std::string_view text) {
  auto source = parse_definition(text, "x.yaml");
  CATCH_REQUIRE(source.problems.empty());
  return source;
}

texts problems_of(std::string_view text, const dataset_info& info) {
  texts out;
  for (const auto& problem : problems_with(source_of(text), info))
    out.push_back(to_string(problem));
  return out;
}

} // namespace

CATCH_TEST_CASE("a definition against its dataset",
                "[definition][validation]") {
  auto info = typed_info();
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}}", info)
              == texts{});
  CATCH_CHECK(problems_of(R"(dataset: film
sampler:
  fanouts:
    default: [5, 5]
    play: [1, 1]
    actor__plays__movie: [2, 2]
    plays: [3, 3]
model:
  kind: gcn
train:
  patience: 2
)",
                          info)
              == texts{
                "x.yaml:1:10: `dataset` is `film`, but the data at hand are "
                "called `films`: give their path, as in `dataset: data/film`, "
                "or that name and --data FOLDER, or say with --data where the "
                "right ones lie",
                "x.yaml:5:11: `films` has no edge type `play`; did you mean "
                "`plays`?",
                "x.yaml:7:12: `actor__plays__movie` and `plays` name the "
                "same edge type",
                "x.yaml:9:9: this kind of model knows a single node type, "
                "and `films` has 2 (movie, actor); use `kind: rgcn`, "
                "`kind: hetero_sage`, `kind: rgat` or `kind: hgt`",
                "x.yaml:11:13: `train.patience` needs validation seeds, and "
                "`films` has none; leave it out",
              });
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}, train: "
                          "{class_weights: [1, 2]}}",
                          info)
              == texts{"x.yaml:1:62: `train.class_weights` has 2 numbers, but "
                       "`films` has 3 classes; give one for each, from class "
                       "0 on"});
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}, train: "
                          "{class_weights: [1, 2, 3]}}",
                          info)
                .empty());
  info.node_types[0].split_counts = {};
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}}", info)
              == texts{"x.yaml:1:11: `films` has no training seeds"});
  info.node_types[0].split_counts = {10, 0, 5};
  info.node_types[0].class_count = 2'000'001;
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}}", info)
              == texts{"x.yaml:1:11: `films` has 2000001 classes for 100 nodes "
                       "of type `movie`, so most have no node, and each costs "
                       "a row of weights: number the labels from 0 (graphmill "
                       "import npy --renumber-labels)"});
  info.node_types[0].class_count = 0;
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}}", info)
              == texts{"x.yaml:1:11: nodes of type `movie` of `films` have no "
                       "labels to learn"});
  const auto failed = test::error_of(
    check_against(source_of("{dataset: films, name: n}").value, info));
  CATCH_CHECK(failed.code == ec::invalid_argument);
}

CATCH_TEST_CASE("an embedding is for types without features",
                "[definition][validation]") {
  auto info = typed_info();
  const auto* const wide =
    "{dataset: films, model: {kind: rgcn, embedding: 8}}";
  CATCH_CHECK(problems_of(wide, info).empty());
  for (auto& type : info.node_types)
    type.feature_width = 4;
  CATCH_CHECK(problems_of(wide, info)
              == texts{"x.yaml:1:49: `model.embedding` is for node types "
                       "without features, and `films` has none; leave it "
                       "out"});
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn, "
                          "embedding_scale: 0.5}, optimizer: "
                          "{embedding_decay: 2}}",
                          info)
                .size()
              == 2);
  // As run folders have it, where every field is written.
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn, embedding: "
                          "64}}",
                          info)
                .empty());
}

CATCH_TEST_CASE("several labels of a node take no settings of classes",
                "[definition][validation]") {
  auto info = typed_info();
  auto& target = info.node_types[0];
  target.labels = label_kind::multi_label;
  target.split_counts[1] = 4;
  const std::string begin = "{dataset: films, model: {kind: rgcn}, ";
  for (const auto* wrong : {"label_smoothing: 0.1", "class_weights: [1, 2, 3]",
                            "class_weights: [1]", "balance_classes: true"}) {
    CATCH_INFO(wrong);
    const auto found =
      problems_of(fmt::format("{}train: {{{}}}}}", begin, wrong), info);
    CATCH_REQUIRE(found.size() == 1);
    CATCH_CHECK(found[0].find("is for one class for each node, and nodes of "
                              "`films` may have several labels; leave it out")
                != std::string::npos);
  }
  CATCH_CHECK(problems_of(begin + "train: {batch_size: 8}}", info).empty());
  const auto note_with = [&](const char* metric) {
    return note_on_metric(
      source_of(fmt::format("{}evaluate: {{metric: {}}}}}", begin, metric))
        .value,
      info);
  };
  CATCH_REQUIRE(note_with("accuracy"));
  CATCH_CHECK(note_with("accuracy")->find("`evaluate.metric: f1_micro`")
              != std::string::npos);
  CATCH_CHECK_FALSE(note_with("f1_micro"));
  target.labels = label_kind::classes;
  CATCH_CHECK_FALSE(note_with("accuracy"));
  target.labels = label_kind::multi_label;
  target.split_counts[1] = 0;
  CATCH_CHECK_FALSE(note_with("accuracy"));
  target.split_counts[1] = 4;
  // Labels are counted however many there are, and may be more than nodes.
  target.class_count = 20'000;
  CATCH_CHECK(
    problems_of(begin + "evaluate: {metric: f1_micro}}", info).empty());
  CATCH_CHECK(
    problems_of(begin + "evaluate: {metric: f1_macro}}", info).empty());
}

CATCH_TEST_CASE("a metric has what it takes, or is refused",
                "[definition][validation]") {
  auto info = typed_info();
  const std::string begin = "{dataset: films, model: {kind: rgcn}, ";
  CATCH_CHECK(problems_of(begin + "evaluate: {metric: loss}}", info)
              == texts{"x.yaml:1:58: `evaluate.metric` needs validation seeds, "
                       "and `films` has none; leave it out"});
  CATCH_CHECK(problems_of(begin + "evaluate: {scores: true}}", info).empty());
  auto& target = info.node_types[0];
  target.split_counts[1] = 4;
  for (const auto* metric : {"accuracy", "loss", "f1_macro", "f1_micro",
                             "roc_auc", "average_precision"})
    CATCH_CHECK(
      problems_of(fmt::format("{}evaluate: {{metric: {}}}}}", begin, metric),
                  info)
        .empty());
  target.count = 100'000'000;
  target.class_count = 513;
  const auto many = begin + "evaluate: {metric: f1_macro}}";
  CATCH_CHECK(problems_of(many, info)
              == texts{"x.yaml:1:58: f1_macro is for up to 512 classes, and "
                       "`films` has 513; take another metric"});
  target.class_count = 512;
  CATCH_CHECK(problems_of(many, info).empty());
  // 2^26 scores of a split, 2^22 of a batch.
  const auto scores = begin + "evaluate: {scores: true, batch_size: 8192}}";
  target.split_counts = {10, 4, 131072};
  CATCH_CHECK(problems_of(scores, info).empty());
  target.split_counts[1] = 131073;
  CATCH_CHECK(problems_of(scores, info)
              == texts{"x.yaml:1:58: `evaluate.scores` takes a score for each "
                       "class of each seed of a split, and 131073 seeds of "
                       "`films` with 512 classes are more than 67108864 "
                       "scores; leave it out"});
  target.split_counts[1] = 131072;
  CATCH_CHECK(
    problems_of(begin + "evaluate: {metric: roc_auc, batch_size: 8193}}", info)
    == texts{"x.yaml:1:79: `evaluate.batch_size` may be 8192 at the "
             "most for 512 classes and `evaluate.metric`, which "
             "takes a score for each of them"});
  // No batch has more seeds than its split.
  target.split_counts = {10, 4, 5};
  CATCH_CHECK(
    problems_of(begin + "evaluate: {scores: true, batch_size: all}}", info)
      .empty());
  // Of predictions a batch has as many logits, and there is no split.
  CATCH_CHECK(
    problems_of(begin + "evaluate: {predict: true, batch_size: 8192}}", info)
      .empty());
  CATCH_CHECK(
    problems_of(begin + "evaluate: {predict: true, batch_size: 8193}}", info)
    == texts{"x.yaml:1:77: `evaluate.batch_size` may be 8192 at the most for "
             "512 classes and `evaluate.predict`, which tells a logit for each "
             "of them"});
}

CATCH_TEST_CASE("a split that is measured alone has seeds",
                "[definition][validation]") {
  auto info = typed_info();
  const std::string begin = "{dataset: films, model: {kind: rgcn}, ";
  for (const auto* split : {"none", "train", "test"})
    CATCH_CHECK(
      problems_of(fmt::format("{}evaluate: {{only: {}}}}}", begin, split), info)
        .empty());
  CATCH_CHECK(
    problems_of(begin + "evaluate: {only: validation}}", info)
    == texts{"x.yaml:1:56: the validation split of `films` has no seeds, so "
             "that there is nothing to measure: name another one"});
  // Its scores alone are brought together.
  auto& target = info.node_types[0];
  target.count = 100'000'000;
  target.class_count = 512;
  target.split_counts = {131073, 4, 131073};
  const auto scored =
    begin + "evaluate: {scores: true, batch_size: 8192, only: ";
  CATCH_CHECK(problems_of(scored + "validation}}", info).empty());
  CATCH_CHECK(problems_of(scored + "train}}", info)
              == texts{"x.yaml:1:58: `evaluate.scores` takes a score for each "
                       "class of each seed of a split, and 131073 seeds of "
                       "`films` with 512 classes are more than 67108864 "
                       "scores; leave it out"});
}

CATCH_TEST_CASE("a graph that no seed sees is noted",
                "[definition][validation]") {
  auto info = typed_info();
  definition def;
  def.model.kind = model_kind::rgcn;
  CATCH_CHECK_FALSE(note_on_graph(def, info));
  info.edge_types.erase(info.edge_types.begin());
  CATCH_CHECK(note_on_graph(def, info)
              == "no edge ends at nodes of type `movie`, so nothing is sampled "
                 "for them, and only their own features count; import with "
                 "--reverse to add the reverse of each edge type");
  // Its features are all that it asks for.
  def.model.kind = model_kind::mlp;
  CATCH_CHECK_FALSE(note_on_graph(def, info));
  // There is nothing to reverse.
  def.model.kind = model_kind::rgcn;
  info.edge_types[0].count = 0;
  CATCH_CHECK(note_on_graph(def, info)
              == "no edge ends at nodes of type `movie`, so nothing is sampled "
                 "for them, and only their own features count");
}

CATCH_TEST_CASE("fanouts are resolved per hop and edge type",
                "[definition][validation]") {
  using hops = std::vector<std::vector<std::int32_t>>;
  const auto info = typed_info();
  auto def = source_of("{dataset: films, sampler: {replace: true, fanouts: "
                       "{default: [5, 6], has: [0, 7]}}}")
               .value;
  const auto train = test::value_of(resolve_fanouts(def, info));
  CATCH_CHECK(train.fanouts == hops{{5, 0}, {6, 7}});
  CATCH_CHECK(train.kind == draw_kind::with_replacement);
  CATCH_CHECK(test::value_of(resolve_evaluation_fanouts(def, info)).fanouts
              == train.fanouts);
  def.evaluate.neighbours = neighbour_use::all;
  const auto scheme = test::value_of(resolve_evaluation_fanouts(def, info));
  CATCH_CHECK(scheme.fanouts == hops{{-1, 0}, {-1, -1}});
  CATCH_CHECK(scheme.kind == draw_kind::without_replacement);

  def.sampler.edge_fanouts["hsa"] = {1, 1};
  CATCH_CHECK(test::error_of(resolve_fanouts(def, info)).message
              == "`films` has no edge type `hsa`; did you mean `has`?");
  def.sampler.edge_fanouts = {{"has", {1}}};
  CATCH_CHECK_FALSE(resolve_fanouts(def, info));
}

CATCH_TEST_CASE("a dataset is found", "[definition][validation]") {
  namespace fs = std::filesystem;
  test::temp_folder folder;
  definition def;
  def.dataset = "films";
  const auto films = folder / "films";
  CATCH_CHECK(test::error_of(find_dataset(def, folder / "none")).message
              == "--data: there is no folder " + (folder / "none").string());
  CATCH_CHECK(test::error_of(find_dataset(def, folder.path())).code
              == ec::not_found);
  fs::create_directory(films);
  CATCH_CHECK_FALSE(find_dataset(def, folder.path()));
  std::ofstream{films / "partitions.json"} << "{}";
  CATCH_CHECK(test::value_of(find_dataset(def, folder.path())) == films);
  CATCH_CHECK(test::value_of(find_dataset(def, films)) == films);
  def.dataset = "none-of-that-name";
  const auto failed = test::error_of(find_dataset(def, ""));
  CATCH_CHECK(failed.message
              == "the dataset `none-of-that-name` is not at "
                 "data/none-of-that-name; say where it lies with --data, or "
                 "import it (graphmill import --help)");
}

CATCH_TEST_CASE("a definition may give the path of its dataset",
                "[definition][validation]") {
  namespace fs = std::filesystem;
  test::temp_folder folder;
  const auto films = folder / "films";
  const auto with = [](const fs::path& path) {
    auto source = source_of("dataset: films");
    source.dataset_path = path.string();
    return source;
  };
  fs::create_directory(films);
  CATCH_CHECK(test::error_of(find_dataset(with(films), "")).code
              == ec::not_found);
  std::ofstream{films / "dataset.json"} << "{}";
  CATCH_CHECK(test::value_of(find_dataset(with(films), "")) == films);
  // --data wins.
  CATCH_CHECK(test::value_of(find_dataset(with("./none"), films)) == films);

  for (const auto* path : {"./films", "some/where/films", "/films/"}) {
    const auto source = source_of(std::string{"dataset: "} + path);
    CATCH_CHECK(source.value.dataset == "films");
    CATCH_CHECK(source.dataset_path == path);
  }
  CATCH_CHECK(source_of("dataset: films").dataset_path.empty());
  CATCH_CHECK(parse_definition("dataset: /", "x.yaml").problems.size() == 1);
  CATCH_CHECK(parse_definition("dataset: ../..", "x.yaml").problems.size()
              == 1);
}

CATCH_TEST_CASE("a definition chooses a label set of its dataset",
                "[definition][validation]") {
  auto info = typed_info();
  info.node_types[0].label_sets = {
    {.name = "genre", .class_count = 4, .split_counts = {7, 2, 1}},
    {.name = "year", .class_count = 2}};
  const auto of = [&info](std::string_view labels, std::string_view more = "") {
    return problems_of(fmt::format("dataset: films\nmodel: {{kind: rgcn}}\n"
                                   "labels: {}\n{}",
                                   labels, more),
                       info);
  };
  CATCH_CHECK(of("genre") == texts{});
  // Its splits and classes count, and not those of the type.
  CATCH_CHECK(of("genre", "train: {patience: 2}") == texts{});
  CATCH_CHECK(of("genre", "train: {class_weights: [1, 1, 1, 2]}") == texts{});
  CATCH_CHECK(of("genre", "train: {class_weights: [1, 1, 1]}").size() == 1);
  CATCH_CHECK(of("genres")
              == texts{"x.yaml:3:9: `labels`: nodes of type \"movie\" of "
                       "\"films\" have no label set \"genres\"; there are "
                       "\"genre\", \"year\""});
  CATCH_CHECK(of("year")
              == texts{"x.yaml:1:10: `films` has no training seeds of the "
                       "label set `year`"});
  info.node_types[0].class_count = 0;
  CATCH_CHECK(problems_of("{dataset: films, model: {kind: rgcn}}", info)
              == texts{"x.yaml:1:11: nodes of type `movie` of `films` have no "
                       "labels to learn; `labels` chooses one of their label "
                       "sets"});
  CATCH_CHECK(of("genre") == texts{});
}
