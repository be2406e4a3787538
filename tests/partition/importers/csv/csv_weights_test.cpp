#include "partition/dataset/inspection/inspect.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// An edge list, imported.
struct weighted_list {
  csv_import_options options{};
  std::vector<std::string> notes{};

  result<dataset> operator()(const std::string& text) {
    temp_folder source;
    temp_folder out;
    std::ofstream{source / "e.csv"} << text;
    options.edges = {{"", source / "e.csv"}};
    options.on_note = [this](std::string note) { notes.push_back(note); };
    GRAPHMILL_TRYV(import_csv(options, out.path()));
    GRAPHMILL_TRY(auto data, dataset::open(out.path()));
    CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
    return data;
  }
};

std::vector<float> weights_in(const dataset& data, edge_type_id type = 0) {
  return list<float>(data.edges(type).weighted->weights);
}

using floats = std::vector<float>;

/// Where a table stands ends an error's path.
std::string weights_refused(const std::string& text, weighted_list with = {}) {
  const auto message = error_of(with(text)).message;
  const auto at = message.find("e.csv");
  return at == message.npos ? message : message.substr(at);
}

} // namespace

CATCH_TEST_CASE("a column of weights by name, by choice and by number",
                "[partition][import][csv][weights]") {
  const auto* named = "source,target,weight\na,b,0.5\nb,c,2\na,b,1e-3\n";
  weighted_list plain;
  // a, b, c: b has twice a, c has b.
  CATCH_CHECK(weights_in(value_of(plain(named))) == floats{0.5F, 1e-3F, 2});
  CATCH_CHECK(plain.notes.front()
              == "e.csv: a header, source \"source\", destination \"target\", "
                 "weight \"weight\"");
  CATCH_CHECK(weights_in(value_of(weighted_list{}("from;to;Edge_Weight\n"
                                                  "1;2; 7 \n2;3;0\n")))
              == floats{7, 0});
  CATCH_CHECK(
    weights_in(value_of(weighted_list{{.choices = {{csv_role::weight, "n"}}}}(
      "source,target,n\na,b,3\n")))
    == floats{3});
  CATCH_CHECK(weights_in(value_of(weighted_list{
                {.choices = {{csv_role::weight, "1"}}}}("3 0 1\n4 1 2\n")))
              == floats{3, 4});
  CATCH_CHECK(
    weights_in(value_of(weighted_list{
      {.choices = {{csv_role::weight, "e.csv=3"}}}}("0 1 3\n1 2 4\n")))
    == floats{3, 4});
  // What is left out is not taken for weights.
  weighted_list ignored{{.ignore = {"weight"}}};
  CATCH_CHECK_FALSE(value_of(ignored(named)).edges(0).weighted.has_value());
}

CATCH_TEST_CASE("each relation has weights, and so have reverse edges",
                "[partition][import][csv][weights]") {
  weighted_list import;
  import.options.reverse = true;
  const auto data = value_of(
    import("source,relation,target,weight\na,x,b,1\nb,y,a,2\nb,x,a,3\n"));
  CATCH_REQUIRE(data.info().edge_types.size() == 4);
  CATCH_CHECK(weights_in(data, 0) == floats{3, 1}); // x
  CATCH_CHECK(weights_in(data, 1) == floats{2});
  CATCH_CHECK(weights_in(data, 2) == floats{1, 3}); // rev_x
  CATCH_CHECK(list<float>(data.edges(2).weighted->out_weights) == floats{3, 1});
}

CATCH_TEST_CASE("undirected edges have the weight of their pair",
                "[partition][import][csv][weights]") {
  weighted_list undirected;
  undirected.options.changes.all_undirected = true;
  const auto* mutual = "source,target,weight\na,b,2\nb,a,2\nb,c,5\n";
  // a: b; b: a c; c: b.
  CATCH_CHECK(weights_in(value_of(undirected(mutual))) == floats{2, 2, 5, 5});
  CATCH_CHECK(
    weights_refused("source,target,weight\na,b,2\nb,a,3\n", undirected)
    == "the edges between \"b\" and \"a\" have different weights, 2 "
       "and 3: say --duplicates sum to add them up, or --duplicates "
       "drop to keep the first");
  undirected.options.changes.duplicates = duplicate_edges::sum;
  CATCH_CHECK(weights_in(value_of(undirected(mutual))) == floats{4, 4, 5, 5});
  undirected.options.changes.duplicates = duplicate_edges::drop;
  CATCH_CHECK(
    weights_in(value_of(undirected("source,target,weight\na,b,2\nb,a,3\n")))
    == floats{2, 2});
}

CATCH_TEST_CASE("weights have a decimal comma where one is asked for",
                "[partition][import][csv][weights]") {
  const auto* list = "source;target;weight\na;b;0,5\nb;c;2\n";
  CATCH_CHECK(
    weights_in(value_of(weighted_list{{.decimal_commas = true}}(list)))
    == floats{0.5F, 2});
  CATCH_CHECK(weights_refused(list)
              == "e.csv:2: the weight \"0,5\" is no number; if a comma stands "
                 "before the fraction, say --decimal comma (column 3, "
                 "\"weight\")");
  CATCH_CHECK(weights_refused("source;target;weight\na;b;0.5\n",
                              {{.decimal_commas = true}})
              == "e.csv:2: the weight \"0.5\" has a point, and `decimal: "
                 "comma` says that a comma stands before the fraction (column "
                 "3, \"weight\")");
}

CATCH_TEST_CASE("weights that are none are refused with their line",
                "[partition][import][csv][weights]") {
  const std::string begin = "source,target,weight\na,b,1\n";
  CATCH_CHECK(
    weights_refused(begin + "b,c,heavy\n")
    == "e.csv:3: the weight \"heavy\" is no number (column 3, \"weight\")");
  CATCH_CHECK(
    weights_refused(begin + "b,c,\n")
    == "e.csv:3: the weight \"\" is no number (column 3, \"weight\")");
  CATCH_CHECK(weights_refused(begin + "b,c,-0.5\n")
              == "e.csv:3: the weight of an edge is -0.5; a finite number that "
                 "is not negative expected (column 3, \"weight\")");
  CATCH_CHECK(weights_refused(begin + "b,c,nan\n")
              == "e.csv:3: the weight of an edge is nan; a finite number that "
                 "is not negative expected (column 3, \"weight\")");
  CATCH_CHECK(has(weights_refused(begin + "b,c,inf\n"), "e.csv:3: "));
  CATCH_CHECK(weights_refused(begin + "b,c,1e39\n")
              == "e.csv:3: the weight of an edge is 1e+39, which float32 "
                 "cannot hold; scale the weights (column 3, \"weight\")");
  CATCH_CHECK(weights_refused(begin + "b,c,1e-60\n")
              == "e.csv:3: the weight of an edge is 1e-60, which float32 "
                 "cannot hold; scale the weights (column 3, \"weight\")");
  CATCH_CHECK(weights_refused("source,target,weight,weights\na,b,1,2\n")
              == "e.csv:1: columns \"weight\" and \"weights\" both look like "
                 "weight; choose one with --weight, and leave out the other "
                 "with --ignore");
  CATCH_CHECK(has(weights_refused("source,target,year\na,b,1999\n"),
                  "nothing is known of \"year\": take columns as features of "
                  "edges with --feature, say which one has their weights with "
                  "--weight"));
  CATCH_CHECK(has(weights_refused("0 1 3\n1 2 4\n"),
                  "(--source, --destination, --relation, --weight)"));
}
