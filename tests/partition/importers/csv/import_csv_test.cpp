#include "partition/dataset/inspect.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_nodes.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

fs::path put(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

constexpr const char* papers = "id,label,split,f0,f1\n"
                               "x7,math,train,1,2\n"
                               "\"y, z\",art,val,3,4\n"
                               "x9,,,5,6.5\n"
                               "10,math,test,-7,1e2\n";
constexpr const char* citations = "source,target,year\n"
                                  "x7,x9,1999\n"
                                  "\"y, z\",x9,2000\n"
                                  "10, x7 ,2001\n";

/// What an import of these two tables says, with the names of files alone.
std::string message_of(const std::string& nodes, const std::string& edges,
                       csv_import_options options = {}) {
  temp_folder source;
  temp_folder out;
  options.nodes = {{"", put(source / "nodes.csv", nodes)}};
  options.edges = {{"", put(source / "edges.csv", edges)}};
  auto text = error_of(import_csv(options, out.path())).message;
  const auto folder = source.path().string() + "/";
  for (auto at = text.find(folder); at != text.npos; at = text.find(folder))
    text.erase(at, folder.size());
  return text;
}

} // namespace

CATCH_TEST_CASE("a node table and an edge list", "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  const auto info = value_of(import_csv(
    {.nodes = {{"paper", put(source / "n.csv", papers)}},
     .edges = {{"paper__cites__paper", put(source / "e.csv", citations)}},
     .reverse = true},
    out.path()));
  CATCH_CHECK(info.name == "e");
  CATCH_CHECK(info.node_types[0].class_names
              == std::vector<std::string>{"art", "math"});
  CATCH_CHECK(info.edge_type_name(1) == "paper__rev_cites__paper");
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{1, 0, -1, 1});
  CATCH_CHECK(list<float>(*data.nodes(0).features)
              == std::vector<float>{1, 2, 3, 4, 5, 6.5, -7, 100});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).splits[2])
              == std::vector<std::int64_t>{3});
  CATCH_CHECK(list<std::int64_t>(data.edges(0).indptr)
              == std::vector<std::int64_t>{0, 1, 1, 3, 3});
  CATCH_CHECK(list<std::int32_t>(data.edges(0).indices)
              == std::vector<std::int32_t>{3, 0, 1});
  CATCH_CHECK(content_of(out / "nodes" / "paper" / "ids.txt")
              == "x7\ny, z\nx9\n10\n");
  CATCH_CHECK(value_of(inspect_dataset(data)).broken.empty());
}

CATCH_TEST_CASE("an edge list alone", "[partition][import][csv]") {
  for (const auto* text : {"5 9\n9 7\n5 7\n", "# from to\n5\t9\n9\t7\n5\t7\n",
                           "a,b\n5,9\n9,7\n5,7\n"}) {
    CATCH_INFO(text);
    temp_folder source;
    temp_folder out;
    const auto info = value_of(import_csv(
      {.name = "g", .edges = {{"", put(source / "e", text)}}}, out.path()));
    CATCH_CHECK(info.node_types[0].count == 3);
    CATCH_CHECK(info.edge_types[0].count == 3);
    const auto data = value_of(dataset::open(out.path()));
    // 5, 9, 7 become 0, 1, 2.
    CATCH_CHECK(list<std::int32_t>(data.edges(0).indices)
                == std::vector<std::int32_t>{0, 1, 0});
  }
}

CATCH_TEST_CASE("several types, one without a table",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  const auto info = value_of(import_csv(
    {.name = "films",
     .nodes = {{"film", put(source / "film.csv", "id;label;split;year;title\n"
                                                 "1;0;train;1999;x\n"
                                                 "2;1;train;2001;y\n")}},
     .edges = {{"user__likes__film",
                put(source / "likes.csv", "ann;1\nbob;2\nann;2\n")},
               {"user__knows__user", put(source / "knows.csv", "bob;eve\n")}},
     .ignore = {"Title", "year"}},
    out.path()));
  CATCH_REQUIRE(info.node_types.size() == 2);
  CATCH_CHECK(info.node_types[1].name == "user");
  CATCH_CHECK(info.node_types[1].count == 3);
  CATCH_CHECK(info.node_types[0].feature_width == 0);
  CATCH_CHECK(info.node_types[info.target].name == "film");
  CATCH_CHECK(content_of(out / "nodes" / "user" / "ids.txt")
              == "ann\nbob\neve\n");
}

CATCH_TEST_CASE("a header is believed when it is said to be one",
                "[partition][import][csv]") {
  const auto count_with = [](std::optional<bool> header) {
    temp_folder source;
    temp_folder out;
    csv_import_options options;
    options.edges = {{"", put(source / "e", "alpha,beta\nx,y\n")}};
    options.edge_header = header;
    return value_of(import_csv(options, out.path())).edge_types[0].count;
  };
  CATCH_CHECK(count_with(std::nullopt) == 2);
  CATCH_CHECK(count_with(true) == 1);
  CATCH_CHECK(count_with(false) == 2);
}

CATCH_TEST_CASE("classes are numbered in order", "[partition][import][csv]") {
  using texts = std::vector<std::string>;
  std::vector<std::int64_t> labels;
  CATCH_CHECK(number_classes(texts{"10", "9", "-1", "", "10"}, labels)
              == texts{"9", "10"});
  CATCH_CHECK(labels == std::vector<std::int64_t>{1, 0, -1, -1, 1});
  CATCH_CHECK(number_classes(texts{"b", "-1", "a"}, labels)
              == texts{"-1", "a", "b"});
  CATCH_CHECK(labels == std::vector<std::int64_t>{2, 0, 1});
  CATCH_CHECK(number_classes(texts{"", ""}, labels).empty());
}

CATCH_TEST_CASE("wrong tables are named by file and line",
                "[partition][import][csv]") {
  struct row {
    std::string nodes;
    std::string edges;
    std::string expected;
  };
  const std::string good_nodes = "id,label,split\na,x,train\nb,y,val\n";
  const std::vector<row> table{
    {good_nodes, "a,b\nb,c\n",
     "edges.csv:2: destination \"c\" is not in the table of node"},
    {good_nodes, "z,b\n",
     "edges.csv:1: source \"z\" is not in the table of node"},
    {good_nodes, "a,b\n\na\n",
     "edges.csv:3: one field; a source and a destination expected (give the "
     "separator if it is an unusual one)"},
    {"", "a,b\n",
     "nodes.csv:1: the table is empty; a header with a column \"id\" "
     "expected"},
    {"name,label\na,x\n", "a,b\n",
     "nodes.csv:1: no column \"id\" in the header of a node table"},
    {"id,label,label\na,x,y\n", "a,b\n", "nodes.csv:1: two columns \"label\""},
    {"id,label,split\na,x\n", "a,b\n",
     "nodes.csv:2: 2 fields; 3 expected, as in the header"},
    {"id\na\nb\na\n", "a,b\n", "nodes.csv:4: id \"a\" is there already"},
    {"id,label\n,x\n", "a,b\n",
     "nodes.csv:2: an id is empty or has a line break"},
    {"id,label,split\na,x,training\n", "a,b\n",
     "nodes.csv:2: split \"training\"; train, val, test or nothing expected"},
    {"id,label,split,f\na,x,train,one\n", "a,a\n",
     "nodes.csv:2: \"one\" in column 4 is no finite number; leave the column "
     "out, or make it numbers"},
    {"id,label,split,f\na,x,train,nan\n", "a,a\n",
     "nodes.csv:2: \"nan\" in column 4 is no finite number; leave the column "
     "out, or make it numbers"},
    {"id,label,split\na,x,val\n", "a,a\n",
     "train split of node is empty; there would be nothing to train on"},
    {"id,label,split\na,,train\nb,x,train\n", "a,a\n",
     "train split of node: seed 0 is node 0, which has no label"},
  };
  for (const auto& [nodes, edges, expected] : table) {
    CATCH_INFO(nodes);
    CATCH_CHECK(message_of(nodes, edges) == expected);
  }
  CATCH_CHECK(message_of(good_nodes, "a,b\n", {.target = "x"})
              == "the target \"x\" is no node type");
  temp_folder out;
  CATCH_CHECK_FALSE(import_csv({}, out.path()).has_value());
  csv_import_options missing;
  missing.edges = {{"", out / "none"}};
  CATCH_CHECK(error_of(import_csv(missing, out.path())).code == ec::not_found);
  csv_import_options unnamed;
  unnamed.edges = {{"a__b", put(out / "e", "1,2\n")}};
  CATCH_CHECK_FALSE(import_csv(unnamed, out.path()).has_value());
}
