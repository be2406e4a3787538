#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/meaning/original_names.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_nodes.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
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
     .ignore = {"year"},
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
      {.name = "g", .edges = {{"", put(source / "e", text)}}, .comments = '#'},
      out.path()));
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
     .ignore = {"Title", "year"},
     .without_header = {"knows"}},
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
  const auto import_with = [](std::optional<bool> header) {
    temp_folder source;
    temp_folder out;
    csv_import_options options;
    options.edges = {{"", put(source / "e", "alpha,beta\nx,y\n")}};
    options.edge_header = header;
    return import_csv(options, out.path());
  };
  CATCH_CHECK(error_of(import_with(std::nullopt))
                .message.ends_with(
                  "e:1: is this first row a header or an edge (alpha, beta)? "
                  "Say --header or --no-header, of this table alone --header=e "
                  "or --no-header=e"));
  CATCH_CHECK(value_of(import_with(true)).edge_types[0].count == 1);
  CATCH_CHECK(value_of(import_with(false)).edge_types[0].count == 2);
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
     "edges.csv:3: one field; a source and a destination expected; name an "
     "unusual separator with --separator"},
    {"id\n", "", "there is not one node in nodes.csv, edges.csv"},
    {"", "a,b\n",
     "nodes.csv:1: the table is empty; a header with a column \"id\" "
     "expected"},
    {"name,label\na,x\n", "a,b\n",
     "nodes.csv:1: no column \"id\" in the header of a node table; say which "
     "it is with --id: \"name\", \"label\""},
    {"id,label,label\na,x,y\n", "a,b\n",
     "nodes.csv:1: two columns \"label\": rename one of them"},
    {"id,label,split\na,x\n", "a,b\n",
     "nodes.csv:2: 2 fields; 3 expected, as in the header"},
    {"id\na\nb\na\n", "a,b\n", "nodes.csv:4: id \"a\" is there already"},
    {"id,label\n,x\n", "a,b\n",
     "nodes.csv:2: an id is empty or has a line break"},
    {"id,label,split\na,x,training\n", "a,b\n",
     "nodes.csv:2: split \"training\"; train, val, test or nothing expected"},
    {"id,label,split,f\na,x,train,one\n", "a,a\n",
     "nodes.csv:2: \"one\" is no finite number; a columns file "
     "makes features of categories, dates and texts (--suggest drafts one), "
     "and --ignore leaves the column out"},
    {"id,label,split,f\na,x,train,nan\n", "a,a\n",
     "nodes.csv:2: a number is missing; say what it becomes "
     "(--fill mean, or `fill: mean` in a columns file), or leave the column "
     "out with --ignore"},
    {"id,label\na,x\n", "a,a\n",
     "no split of node has a node; there would be nothing to train on: say "
     "shares such as --split 0.8,0.1,0.1, or give the training nodes"},
    {"id,label,split\na,,train\nb,x,train\n", "a,a\n",
     "train split of node: seed 0 is node 0, which has no label"},
    {good_nodes, "source,target,year\na,b,1\n",
     "edges.csv:1: nothing is known of \"year\": take columns as features of "
     "edges with --feature, say which one has their weights with --weight, "
     "make one edge type of each value of one with --relation, or leave "
     "columns out with --ignore"},
    {good_nodes, "a,b,0.5\n",
     "edges.csv:1: which of the columns 1, 2, 3 are source and destination? "
     "Say so by number (--source, --destination, --relation, --weight), and "
     "leave "
     "out the others with --ignore"},
    {good_nodes, "a,b\nb,a,1\n",
     "edges.csv:2: 3 fields; 2 expected, as in the first row"},
    {"id,class\na,x\n", "a,a\n",
     "nodes.csv:1: column \"class\" looks like labels and would become a "
     "feature; say --label class, --label-set class if there are several "
     "labels, --ignore class, or --feature class if it is one"},
  };
  for (const auto& [nodes, edges, expected] : table) {
    CATCH_INFO(nodes);
    CATCH_CHECK(has(message_of(nodes, edges), expected));
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

CATCH_TEST_CASE("each value of a relation column is an edge type",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  std::vector<std::string> notes;
  csv_import_options options;
  options.name = "g";
  options.edges = {{"", put(source / "wn.txt", "a\t_hypernym\tb\n"
                                               "b\t/is/a\ta\n"
                                               "a\t_hypernym\tc\n")}};
  options.choices = {{csv_role::source, "1"},
                     {csv_role::relation, "2"},
                     {csv_role::destination, "3"}};
  options.on_note = [&notes](std::string note) {
    notes.push_back(std::move(note));
  };
  const auto info = value_of(import_csv(options, out.path()));
  CATCH_REQUIRE(info.edge_types.size() == 2);
  CATCH_CHECK(info.node_types[0].count == 3);
  CATCH_CHECK(info.edge_type_name(0) == "node__hypernym--18a81d1af771__node");
  CATCH_CHECK(info.edge_types[0].count == 2);
  CATCH_CHECK(info.edge_type_name(1) == "node__is-a--806b802607d5__node");
  CATCH_CHECK(notes[0]
              == "wn.txt: no header, source 1, destination 3, relation 2");
  CATCH_CHECK(
    value_of(read_original_names(out.path()))
    == original_names{{"node__hypernym--18a81d1af771__node", "_hypernym"},
                      {"node__is-a--806b802607d5__node", "/is/a"}});
}

CATCH_TEST_CASE(
  "a type that no table is given of is noted, or is a misspelt one",
  "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  std::vector<std::string> notes;
  csv_import_options options;
  options.name = "g";
  options.nodes = {
    {"paper", put(source / "p.csv", "id,label,split\na,x,train\nb,y,val\n")}};
  options.edges = {{"papr__cites__paper", put(source / "e.csv", "a,b\n")}};
  options.on_note = [&notes](std::string note) {
    notes.push_back(std::move(note));
  };
  CATCH_CHECK(error_of(import_csv(options, out.path())).message
              == "no node table is given of type \"papr\", which an edge list "
                 "names; did you mean \"paper\"? If it is a type of its own, "
                 "give it a table, which may have its ids alone");
  options.edges[0].type = "author__writes__paper";
  notes.clear();
  temp_folder again;
  CATCH_CHECK(value_of(import_csv(options, again.path())).node_types[1].name
              == "author");
  CATCH_CHECK(std::ranges::count(
                notes, "type \"author\" occurs in edge lists alone: its nodes "
                       "are those that edges name, without features and labels")
              == 1);
}

CATCH_TEST_CASE("a choice that finds no column is named where one is missing",
                "[partition][import][csv]") {
  const auto said =
    message_of("id,label,split\na,x,train\nb,y,val\n",
               "source,target,height\na,b,1\n", {.ignore = {"hieght"}});
  CATCH_CHECK(has(said, "nothing is known of \"height\""));
  CATCH_CHECK(said.ends_with("; --ignore hieght names none of its columns"));
}

CATCH_TEST_CASE("columns are chosen by name, number and table",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  csv_import_options options;
  options.name = "g";
  options.nodes = {
    {"user", put(source / "users.csv", "name,class,born\nann,x,5\nbob,y,7\n")}};
  options.edges = {
    {"user__knows__user", put(source / "knows.csv", "ann,3,bob\n")}};
  options.choices = {{csv_role::id, "name"},
                     {csv_role::label, "user=class"},
                     {csv_role::source, "knows=1"},
                     {csv_role::destination, "knows.csv=3"}};
  options.ignore = {"knows=2"};
  options.changes.split = split_request{{0.5, 0.5, 0}, split_order::random, 1};
  const auto info = value_of(import_csv(options, out.path()));
  CATCH_CHECK(info.node_types[0].class_names
              == std::vector<std::string>{"x", "y"});
  CATCH_CHECK(info.node_types[0].feature_width == 1);
  CATCH_CHECK(info.node_types[0].split_counts
              == std::array<std::int64_t, 3>{1, 1, 0});
  options.ignore.push_back("nobody");
  temp_folder again;
  CATCH_CHECK(error_of(import_csv(options, again.path())).message
              == "--ignore nobody: no table has such a column; there are "
                 "\"name\", \"class\", \"born\"");
}

CATCH_TEST_CASE("a column that is not there is named by whoever says it is",
                "[partition][import][csv]") {
  const auto message = [](csv_choice choice) {
    return message_of("id\nx\n", "source,target,sums,when\n",
                      {.choices = {std::move(choice)}});
  };
  CATCH_CHECK(message({csv_role::feature, "to=sum"})
              == "edges.csv:1: --feature to=sum: there is no such column; did "
                 "you mean \"sums\"?");
  CATCH_CHECK(
    message(
      {.role = csv_role::feature, .column = "to=amount", .where = "c.yaml:7:5"})
    == "edges.csv:1: c.yaml:7:5: column \"amount\" of to: there is "
       "no such column; there are \"source\", \"target\", \"sums\", "
       "\"when\"");
  CATCH_CHECK(
    message_of("id\nx\n", "", {.choices = {{csv_role::edge_time, "when"}}})
    == "--edge-time when: no table has such a column, and edges.csv "
       "is empty: give it a header at least, or leave it out");
}

CATCH_TEST_CASE("an id that is not there leads to one that looks the same",
                "[partition][import][csv]") {
  const std::vector<std::tuple<const char*, const char*, const char*>> table{
    {"M\xc3\xbcller", "Mu\xcc\x88ller", "how accents are written"},
    {"abc", "abc\xc2\xa0", "blanks that are not seen"},
    {"0042", "42", "zeros"},
    {"42", "42.0", "zeros"},
    {"AbC", "aBc", "capital letters"},
    {"00AbC", "0abc", "several ways"}};
  for (const auto& [there, asked, differ] : table) {
    CATCH_INFO(asked);
    CATCH_CHECK(
      has(message_of(fmt::format("id\n{}\nx\n", there),
                     fmt::format("source,target\nx,{}\n", asked)),
          fmt::format("is not in the table of node; \"{}\" is, which differs "
                      "in {}",
                      there, differ)));
  }
  CATCH_CHECK_FALSE(
    has(message_of("id\nx\ny\n", "source,target\nx,z\n"), "differs"));
}

CATCH_TEST_CASE(
  "columns are said to have ids of the same nodes unless the type "
  "says so",
  "[partition][import][csv]") {
  for (const auto* type : {"", "account__pays__account"}) {
    temp_folder source;
    temp_folder out;
    std::string notes;
    value_of(import_csv(
      {.edges = {{type, put(source / "e.csv", "payer,payee\na,b\n")}},
       .edge_header = true,
       .on_note = [&notes](const std::string& note) { notes += note + '\n'; }},
      out.path()));
    CATCH_CHECK(has(notes, "ids of the same nodes") == (*type == '\0'));
  }
}

CATCH_TEST_CASE("undirected edges are there once each way",
                "[partition][import][csv]") {
  temp_folder source;
  csv_import_options options;
  options.name = "g";
  options.edges = {{"", put(source / "e", "0,1\n1,0\n0,1\n2,2\n2,1\n")}};
  const auto edges_with = [&](bool undirected, bool drop) {
    temp_folder out;
    options.changes.all_undirected = undirected;
    options.changes.drop_self_loops = drop;
    options.changes.duplicates =
      drop ? duplicate_edges::drop : duplicate_edges::keep;
    value_of(import_csv(options, out.path()));
    const auto data = value_of(dataset::open(out.path()));
    const auto found = value_of(inspect_dataset(data));
    CATCH_CHECK(found.broken.empty());
    return std::tuple{list<std::int32_t>(data.edges(0).indices),
                      found.edge_types[0].self_loops,
                      found.edge_types[0].duplicates};
  };
  using expected =
    std::tuple<std::vector<std::int32_t>, std::int64_t, std::int64_t>;
  CATCH_CHECK(edges_with(false, false) == expected{{1, 0, 0, 2, 2}, 1, 1});
  CATCH_CHECK(edges_with(false, true) == expected{{1, 0, 2}, 0, 0});
  CATCH_CHECK(edges_with(true, false) == expected{{1, 0, 2, 2, 1}, 1, 0});
  CATCH_CHECK(edges_with(true, true) == expected{{1, 0, 2, 1}, 0, 0});
}

CATCH_TEST_CASE("columns that are called like types are their ids",
                "[partition][import][csv]") {
  const auto ids_of = [](const std::string& text, const std::string& type,
                         std::vector<csv_choice> choices = {}) {
    temp_folder source;
    temp_folder out;
    csv_import_options options;
    options.edges = {{"user__buys__item", put(source / "e.csv", text)}};
    options.choices = std::move(choices);
    const auto done = import_csv(options, out.path());
    return done ? content_of(out / "nodes" / type / "ids.txt")
                : done.error().message;
  };
  for (const auto* text :
       {"item_id,user_id\ni1,u1\n", "user,item\nu1,i1\n",
        "item,user,weight\ni1,u1,2\n", "item_id,source\ni1,u1\n"}) {
    CATCH_INFO(text);
    CATCH_CHECK(ids_of(text, "user") == "u1\n");
    CATCH_CHECK(ids_of(text, "item") == "i1\n");
  }
  CATCH_CHECK(
    ids_of("item_id,user_id\ni1,u1\n", "user",
           {{csv_role::source, "item_id"}, {csv_role::destination, "user_id"}})
    == "i1\n");
  CATCH_CHECK(ids_of("item_id,buyer_id\ni1,u1\n", "user") == "u1\n");
  CATCH_CHECK(
    has(ids_of("thing_id,buyer_id\ni1,u1\n", "user"),
        "e.csv:1: which of the columns \"thing_id\", \"buyer_id\" has ids of "
        "user, and which ids of item? Say so with --source and --destination"));
  CATCH_CHECK(has(ids_of("user_id,item_id,user\nu1,i1,u2\n", "user"),
                  "\"user_id\", \"user\""));
}

CATCH_TEST_CASE("all columns that nobody knows are left out at once",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  csv_import_options options;
  options.nodes = {{"", put(source / "n.csv", "id,label,split,f,g\n"
                                              "a,x,train,1,t\n"
                                              "b,y,val,2,u\n")}};
  options.edges = {{"", put(source / "e.csv", "time,payer,sum,payee,weight\n"
                                              "1,a,x,b,5\n")}};
  options.choices = {{csv_role::source, "payer"},
                     {csv_role::destination, "payee"},
                     {csv_role::feature, "f"}};
  options.ignore = {"*"};
  const auto info = value_of(import_csv(options, out.path()));
  CATCH_CHECK(info.node_types[0].feature_width == 1);
  CATCH_CHECK(info.edge_types[0].weighted);
  options.ignore = {"e.csv=*"};
  temp_folder again;
  CATCH_CHECK(has(error_of(import_csv(options, again.path())).message,
                  "n.csv:2: \"t\" is no finite number"));
}

CATCH_TEST_CASE("a column of another kind of table is told to be one",
                "[partition][import][csv]") {
  const std::string nodes = "id,label,split,f\na,x,train,1\nb,y,val,2\n";
  const std::string edges = "source,target,sum\na,b,1\n";
  const auto said = [&](csv_role role, const std::string& column) {
    csv_import_options options;
    options.choices = {{role, column}};
    options.ignore = {"edges.csv=*"};
    return message_of(nodes, edges, options);
  };
  CATCH_CHECK(said(csv_role::label, "edges.csv=sum")
              == "edges.csv:1: --label edges.csv=sum: this is an edge list, "
                 "and --label is for node tables: leave the option out");
  CATCH_CHECK(said(csv_role::weight, "nodes.csv=f")
              == "nodes.csv:1: --weight nodes.csv=f: this is a node table, and "
                 "--weight is for edge lists: leave the option out");
  CATCH_CHECK(said(csv_role::weight, "f")
              == "--weight f: only a node table has such a column, and "
                 "--weight is for edge lists: leave the option out");
}

CATCH_TEST_CASE("how many pairs have edges both ways is told",
                "[partition][import][csv]") {
  const auto told = [](const std::string& text, bool undirected) {
    temp_folder source;
    temp_folder out;
    csv_import_options options;
    options.edges = {{"", put(source / "e", text)}};
    options.changes.all_undirected = undirected;
    std::string found;
    options.on_note = [&found](const std::string& note) {
      if (note.starts_with("pairs of nodes"))
        found = note;
    };
    value_of(import_csv(options, out.path()));
    return found;
  };
  const std::string text = "0,1\n1,0\n0,1\n2,2\n2,1\n3,1\n";
  CATCH_CHECK(told(text, false)
              == "pairs of nodes with edges both ways: 33.3 % of "
                 "node__to__node; edges are directed as they are listed, and "
                 "--undirected makes them go both ways");
  CATCH_CHECK(told(text, true).empty());
  CATCH_CHECK(told("0,1\n1,0\n", false).empty());
}

CATCH_TEST_CASE("a node table without a header is not taken for one with it",
                "[partition][import][csv]") {
  csv_import_options by_number;
  by_number.choices = {{csv_role::id, "1"}};
  const auto* edges = "source,target\nb,b\n";
  for (const auto* nodes : {"1,0.5\n2,0.7\n", "a,5\nb,7\n", "a\nb\n"}) {
    CATCH_INFO(nodes);
    CATCH_CHECK(has(message_of(nodes, edges, by_number),
                    "is this first row a header or a node"));
  }
  const auto count_of = [&](const char* nodes, csv_import_options options) {
    temp_folder source;
    temp_folder out;
    options.nodes = {{"", put(source / "nodes.csv", nodes)}};
    options.edges = {{"", put(source / "edges.csv", edges)}};
    return value_of(import_csv(options, out.path())).node_types[0].count;
  };
  // A word above numbers is a name; so is what the user calls so.
  CATCH_CHECK(count_of("who,age\na,5\nb,7\n", by_number) == 2);
  CATCH_CHECK(count_of(",age\na,5\nb,7\n", by_number) == 2);
  auto told = by_number;
  told.with_header = {"nodes.csv"};
  CATCH_CHECK(count_of("who\na\nb\n", told) == 2);
  told.with_header.clear();
  told.without_header = {"nodes.csv"};
  CATCH_CHECK(count_of("a,5\nb,7\n", told) == 2);
}

CATCH_TEST_CASE("ids that differ in a fraction alone are told",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  csv_import_options options;
  std::string notes;
  options.on_note = [&notes](const std::string& note) { notes += note + '\n'; };
  options.edges = {{"", put(source / "edges.csv", "from,to\n1,2.0\n2,1.0\n")}};
  value_of(import_csv(options, out.path()));
  CATCH_CHECK(has(notes, "2 of type node are named with \".0\" and without"));
  CATCH_CHECK(has(notes, "such as 2.0"));
}

CATCH_TEST_CASE("names of columns that differ in capital letters alone",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder today;
  csv_import_options options;
  options.nodes = {{"", put(source / "nodes.csv", "id,x,X\na,1,10\nb,2,20\n")}};
  options.edges = {{"", put(source / "edges.csv", "source,target\na,b\n")}};
  const auto before = value_of(import_csv(options, today.path()));
  options.like = today.path();
  temp_folder tomorrow;
  CATCH_CHECK(value_of(import_csv(options, tomorrow.path())).digest
              == before.digest);
}

CATCH_TEST_CASE("several files make one table", "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  put(source / "n-1.csv", "id,f\na,1\n");
  put(source / "n-2.csv", "id,f\nb,2\n");
  put(source / "e.csv", "a,b\n");
  put(source / "e-2.csv", "b,a\nb,b\n");
  csv_import_options options;
  options.nodes = {{"", source / "n-*.csv"}};
  options.edges = {{"", source / "e.csv"}, {"", source / "e-2.csv"}};
  const auto info = value_of(import_csv(options, out.path()));
  CATCH_CHECK(info.node_types[0].count == 2);
  CATCH_CHECK(info.edge_types[0].count == 3);
  const auto data = value_of(dataset::open(out.path()));
  CATCH_CHECK(list<float>(*data.nodes(0).features) == std::vector<float>{1, 2});
  const auto refused = [&options] {
    temp_folder nowhere;
    return error_of(import_csv(options, nowhere.path())).message;
  };
  put(source / "e-2.csv", "source,target\nb,a\n");
  CATCH_CHECK(has(refused(), "e-2.csv:1: this is a header, and"));
  for (const auto* header : {"payer_id,payee_id", "giver,taker"}) {
    put(source / "e-2.csv", fmt::format("{}\nb,a\n", header));
    CATCH_CHECK(has(refused(), "e-2.csv:1: this "));
  }
  options.without_header = {"e.csv"};
  CATCH_CHECK(has(refused(), "e-2.csv:1: source \"giver\" is not in"));
  options.without_header.clear();
  put(source / "e-2.csv", "b,a\nb,c\n"); // Line and file of the second one.
  CATCH_CHECK(has(refused(), "e-2.csv:2: destination \"c\""));
  put(source / "n-2.csv", "id,g\nb,2\n");
  CATCH_CHECK(has(refused(), "n-2.csv:1: the header is not that of "));
  options.nodes = {{"", source / "m-*.csv"}};
  CATCH_CHECK(has(refused(), "no file matches "));
  options.nodes = {{"", source / "n-*.csv"}, {"", source / "n-1.csv"}};
  CATCH_CHECK(has(refused(), "n-1.csv is given twice for the type node"));
  fs::create_symlink(source / "n-1.csv", source / "link.csv");
  for (const auto& again : {source / "link.csv", source / "." / "n-1.csv"}) {
    options.nodes = {{"", source / "n-1.csv"}, {"", again}};
    CATCH_CHECK(has(refused(), "are the same file, given twice for the type "
                               "node"));
  }
}

CATCH_TEST_CASE("a further list of numbers may not begin with a header",
                "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  csv_import_options options;
  options.edges = {{"", put(source / "e1.csv", "1,2\n3,4\n")},
                   {"", put(source / "e2.csv", "payer_id,payee_id\n5,6\n")}};
  CATCH_CHECK(has(error_of(import_csv(options, out.path())).message,
                  "e2.csv:1: this is a header, and"));
  put(source / "e2.csv", "5,6\n");
  CATCH_CHECK(value_of(import_csv(options, out.path())).edge_types[0].count
              == 3);
}

CATCH_TEST_CASE("masks are splits", "[partition][import][csv]") {
  temp_folder source;
  temp_folder out;
  csv_import_options options;
  const std::string header = "id,label,tr,va,te\n";
  options.nodes = {{"", put(source / "n.csv", header
                                                + "a,x,1,0,0\nb,y,false,TRUE,\n"
                                                  "c,x,0,,yes\nd,y,0,0,0\n")}};
  options.edges = {{"", put(source / "e.csv", "a,b\n")}};
  options.choices = {{csv_role::train_mask, "tr"},
                     {csv_role::val_mask, "va"},
                     {csv_role::test_mask, "te"}};
  value_of(import_csv(options, out.path()));
  const auto data = value_of(dataset::open(out.path()));
  for (std::int64_t split = 0; split < 3; ++split)
    CATCH_CHECK(
      list<std::int64_t>(*data.nodes(0).splits[static_cast<std::size_t>(split)])
      == std::vector<std::int64_t>{split});
  CATCH_CHECK(message_of(header + "a,x,1,0,1\nb,y,0,perhaps,0\n", "a,b\n",
                         {.choices = options.choices})
              == "2 errors in 2 rows:\n"
                 "nodes.csv:2: the node is marked in \"tr\" and in \"te\" "
                 "(column 5, \"te\")\n"
                 "nodes.csv:3: mask \"perhaps\"; 1, 0, true, false or nothing "
                 "expected (column 4, \"va\")");
  CATCH_CHECK(has(message_of("id,label,split,tr\na,x,train,1\n", "a,a\n",
                             {.choices = {{csv_role::train_mask, "tr"}}}),
                  "column \"split\" has splits, and column \"tr\" is a mask"));
}
