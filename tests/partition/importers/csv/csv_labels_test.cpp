#include "partition/dataset/inspection/class_census.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using texts = std::vector<std::string>;

/// A dataset of one node table, with what was noted and warned of.
struct imported_labels {
  explicit imported_labels(const std::string& nodes, texts no_label = {},
                           texts regression_sets = {},
                           bool regression = false) {
    temp_folder source;
    std::ofstream{source / "n.csv"} << nodes;
    std::ofstream{source / "e.csv"} << "a,b\nb,c\n";
    csv_import_options options{
      .nodes = {{"", source / "n.csv"}},
      .edges = {{"", source / "e.csv"}},
      .edge_header = false,
      .on_note = [this](std::string text) { notes.push_back(std::move(text)); },
      .regression = regression,
      .regression_sets = std::move(regression_sets),
      .no_label = std::move(no_label)};
    value_of(import_csv(options, out.path()));
    data = value_of(dataset::open(out.path()));
    census = value_of(count_classes_of(*data));
  }

  std::vector<std::int64_t> labels() const {
    return list<std::int64_t>(*data->nodes(0).labels);
  }
  texts names() const { return data->info().node_types[0].class_names; }
  bool noted(const std::string& text) const {
    return has(fmt::format("{}", fmt::join(notes, "\n")), text);
  }

  temp_folder out;
  texts notes;
  std::optional<dataset> data;
  std::vector<class_census> census;
};

constexpr const char* split_accounts = "id,label,split\n"
                                       "a,fraud,train\n"
                                       "b,unknown,train\n"
                                       "c,good,val\n"
                                       "d, unknown ,\n"
                                       "e,-1,train\n";

} // namespace

CATCH_TEST_CASE("labels that the user names stand for none",
                "[partition][import][csv][labels]") {
  const imported_labels plain{split_accounts};
  CATCH_CHECK(plain.names() == texts{"-1", "fraud", "good", "unknown"});
  const imported_labels named{split_accounts, {"unknown", "-1", "tbd"}};
  CATCH_CHECK(named.names() == texts{"fraud", "good"});
  CATCH_CHECK(named.labels() == std::vector<std::int64_t>{0, -1, 1, -1, -1});
  // Nodes without a label are no seeds.
  CATCH_CHECK(list<std::int64_t>(*named.data->nodes(0).splits[0])
              == std::vector<std::int64_t>{0});
  CATCH_CHECK(named.noted("n.csv: label unknown of 2 nodes says that no label "
                          "is known"));
  CATCH_CHECK(named.noted("n.csv: 2 nodes of the splits without a label left "
                          "out"));
  CATCH_CHECK(named.noted("--no-label tbd: no label is written so"));
}

CATCH_TEST_CASE("what stands for none does not make numbers texts",
                "[partition][import][csv][labels]") {
  const imported_labels with{"id,label,split\na,10,train\nb,9,train\n"
                             "c,-1,\nd,#N/A,\n",
                             {"#N/A"}};
  CATCH_CHECK(with.names() == texts{"9", "10"});
  CATCH_CHECK(with.labels() == std::vector<std::int64_t>{1, 0, -1, -1});
}

CATCH_TEST_CASE("label sets and numbers have labels for none, too",
                "[partition][import][csv][labels]") {
  const imported_labels with{"id,label,split,label.risk,label.sum\n"
                             "a,x,train,high,1.5\n"
                             "b,y,train,unknown,-9999.0\n"
                             "c,y,val,low,nan\n",
                             {"unknown", "-9999"},
                             {"sum"}};
  const auto& sets = with.data->nodes(0).label_sets;
  CATCH_CHECK(list<std::int64_t>(*sets[0].labels)
              == std::vector<std::int64_t>{0, -1, 1});
  // Nodes that take over the split of the type need a label in the set.
  CATCH_CHECK(list<std::int64_t>(*sets[0].splits[0])
              == std::vector<std::int64_t>{0});
  const auto sums = list<float>(*sets[1].labels);
  CATCH_CHECK(sums[0] == 1.5f);
  CATCH_CHECK((std::isnan(sums[1]) && std::isnan(sums[2])));
  CATCH_CHECK(with.noted("label set sum of node: label -9999 of 1 node"));
  CATCH_CHECK_FALSE(with.noted("is written so"));
}

CATCH_TEST_CASE("classes are counted, by split",
                "[partition][import][csv][labels]") {
  const imported_labels plain{split_accounts};
  const auto& found = plain.census.at(0);
  CATCH_CHECK(found.title() == "labels of node");
  CATCH_CHECK(found.labelled == 5);
  CATCH_REQUIRE(found.classes.size() == 4);
  CATCH_CHECK(found.classes[3].name == "unknown");
  CATCH_CHECK(found.classes[3].nodes == 2);
  CATCH_CHECK(found.classes[3].seeds == std::array<std::int64_t, 3>{1, 0, 0});
  const auto names = notes_on_names(found);
  CATCH_REQUIRE(names.size() == 2);
  CATCH_CHECK(has(names[0], "\"-1\" is class 0 and has 1 of 5 labelled nodes"));
  CATCH_CHECK(has(names[1], "\"unknown\" is class 3 and has 2 of 5 labelled "
                            "nodes. If it says that no label is known, import "
                            "with --no-label 'unknown'"));
  const auto training = notes_on_training(found);
  CATCH_REQUIRE(training.size() == 1);
  CATCH_CHECK(has(training[0], "labels of node: 1 of 4 classes have no node in "
                               "the train split, so that no model can learn "
                               "them: \"good\" (1 node)"));
}

CATCH_TEST_CASE("all that looks as if no label were known is named",
                "[partition][import][csv][labels]") {
  for (const std::string label :
       {"unknown", "Unlabeled", "missing", "TBD", "-1.0", "-9999", "<NA>",
        "#N/A", "-", ".", "None", "nan", "NULL", "-999", "-9999.0"}) {
    CATCH_INFO(label);
    const imported_labels with{"id,label,split\na,x,train\nb,y,train\nc,"
                               + label + ",train\n"};
    CATCH_CHECK(notes_on_names(with.census.at(0)).size() == 1);
  }
  const imported_labels sound{
    "id,label,split\na,art,train\nb,0.5,train\nc,-2,train\n"};
  CATCH_CHECK(notes_on_names(sound.census.at(0)).empty());
}

CATCH_TEST_CASE("classes that are called almost the same are named",
                "[partition][import][csv][labels]") {
  const auto notes_on = [](const std::string& a, const std::string& b) {
    const imported_labels with{"id,label,split\na," + a + ",train\nb," + b
                               + ",train\nc,ok,train\n"};
    return notes_on_names(with.census.at(0));
  };
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
         {"Fraud", "fraud"},
         {"1", "1.0"},
         {"01", "1"},
         {"no fraud", "no_fraud"}}) {
    const auto found = notes_on(a, b);
    CATCH_REQUIRE(found.size() == 1);
    CATCH_CHECK(has(found[0], "names that are almost the same"));
  }
  CATCH_CHECK(notes_on("1", "10").empty());
}

CATCH_TEST_CASE("a number for none among numbers is named",
                "[partition][import][csv][labels]") {
  const auto notes_on = [](const std::string& values) {
    const imported_labels with{values, {}, {}, true};
    return notes_on_names(with.census.at(0));
  };
  const auto found = notes_on("id,label,split\na,-1,train\nb,2,train\nc,0,\n");
  CATCH_REQUIRE(found.size() == 1);
  CATCH_CHECK(has(found[0], "the smallest number is -1, of 1 node"));
  CATCH_CHECK(
    notes_on("id,label,split\na,-9999,train\nb,-5,\nc,-9999,\n").size() == 1);
  CATCH_CHECK(notes_on("id,label,split\na,-1,train\nb,-0.5,\nc,3,\n").empty());
}

CATCH_TEST_CASE("about as many classes as nodes are suspected",
                "[partition][import][csv][labels]") {
  std::string ids = "id,label,split\n";
  std::string classes = ids;
  for (auto i = 0; i < 12; ++i) {
    ids += fmt::format("{0},label-{0},train\n", std::string(1, char('a' + i)));
    classes +=
      fmt::format("{},label-{},train\n", std::string(1, char('a' + i)), i % 3);
  }
  const imported_labels suspected{ids};
  const auto found = notes_on_training(suspected.census.at(0));
  CATCH_REQUIRE(found.size() == 1);
  CATCH_CHECK(
    has(found[0], "labels of node: 12 labelled nodes have 12 classes"));
  const imported_labels sound{classes};
  CATCH_CHECK(notes_on_training(sound.census.at(0)).empty());
}

CATCH_TEST_CASE("the classes of seeds are counted in all parts",
                "[partition][import][csv][labels]") {
  const imported_labels whole{split_accounts};
  const temp_folder parts;
  const auto graph = cut_in_two(whole.out.path(), parts / "p");
  const auto found = value_of(count_classes_of_seeds(graph));
  CATCH_CHECK(found.labelled == 4);
  CATCH_CHECK(found.seeds == std::array<std::int64_t, 3>{3, 1, 0});
  CATCH_CHECK(
    notes_on_training(found)
    == std::vector<std::string>{
      "labels of node: 1 of 4 classes have no node in the train split, so that "
      "no model can learn them: \"good\" (1 node)"});
}

CATCH_TEST_CASE("numbers to be learnt and times have a decimal comma where one "
                "is asked for",
                "[partition][import][csv]") {
  temp_folder source;
  std::ofstream nodes{source / "n.csv"};
  nodes << "id;label;label.dose;seen\nnone;;nan;0,25\n";
  for (auto i = 0; i < 20; ++i)
    nodes << fmt::format("n{0};{0},5;-{0},25;{0},5\n", i);
  nodes.close();
  std::ofstream{source / "e.csv"} << "n1;n2\nn2;n3\n";
  csv_import_options options{.nodes = {{"", source / "n.csv"}},
                             .edges = {{"", source / "e.csv"}},
                             .edge_header = false,
                             .separator = ';',
                             .choices = {{csv_role::time, "seen"}},
                             .regression = true,
                             .regression_sets = {"dose"},
                             .decimal_commas = true};
  options.changes.split =
    split_request{.fractions = {0.5, 0.25, 0.25}, .order = split_order::time};
  temp_folder out;
  value_of(import_csv(options, out.path()));
  const auto data = value_of(dataset::open(out.path()));
  const auto values = list<float>(*data.nodes(0).labels);
  const auto doses = list<float>(*data.nodes(0).label_sets[0].labels);
  CATCH_REQUIRE((values.size() == 21 && doses.size() == 21));
  CATCH_CHECK((std::isnan(values[0]) && std::isnan(doses[0])));
  for (std::size_t i = 0; i < 20; ++i) {
    CATCH_CHECK(values[i + 1] == static_cast<float>(i) + 0.5F);
    CATCH_CHECK(doses[i + 1] == -(static_cast<float>(i) + 0.25F));
  }
  // Tomorrow's tables are written alike.
  options.decimal_commas = false;
  options.regression = false;
  options.regression_sets.clear();
  options.like = out.path();
  temp_folder tomorrow;
  value_of(import_csv(options, tomorrow.path()));
  options.like.clear();
  options.regression = true;
  temp_folder refused;
  CATCH_CHECK(
    has(error_of(import_csv(options, refused.path())).message,
        "if a comma stands before the fraction, say --decimal comma"));
}
