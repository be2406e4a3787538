#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

/// Node and edge tables in a folder, and where they are imported to.
class two_tables {
public:
  two_tables(const std::string& nodes, const std::string& edges) {
    std::ofstream{source_ / "n.csv", std::ios::binary} << nodes;
    std::ofstream{source_ / "e.csv", std::ios::binary} << edges;
    options.nodes = {{"", source_ / "n.csv"}};
    options.edges = {{"", source_ / "e.csv"}};
    options.on_note = [this](std::string note) {
      notes.push_back(std::move(note));
    };
  }

  result<dataset_info> import() {
    fs::remove_all(out_ / "set");
    fs::create_directory(out_ / "set");
    return import_csv(options, out_ / "set");
  }

  /// With the names of files alone.
  std::string message() {
    auto text = error_of(import()).message;
    const auto folder = source_.path().string() + "/";
    for (auto at = text.find(folder); at != text.npos; at = text.find(folder))
      text.erase(at, folder.size());
    return text;
  }

  fs::path out() const { return out_ / "set"; }
  fs::path source() const { return source_.path(); }

  /// Whether an import has told this.
  bool told(const std::string& words) const {
    return std::ranges::any_of(
      notes, [&words](const std::string& note) { return has(note, words); });
  }

  csv_import_options options;
  std::vector<std::string> notes;

private:
  temp_folder source_;
  temp_folder out_;
};

constexpr const char* sick_nodes = "id,label,split,f\n"
                                   "a,x,learn,red\n" // Two errors.
                                   "b,y,val,2\n"
                                   "b,y,val,3\n" // There already.
                                   "c,x,4\n"     // A field too few.
                                   "\"d\"x,y,,1\n"
                                   "e,\xff,,1\n"
                                   "f,x,test,nan\n";
constexpr const char* sick_edges = "source,target,weight\n"
                                   "a,b,1\n"
                                   "a,z,x\n" // Two errors.
                                   "b,f,-1\n"
                                   "f,b,2\n";

} // namespace

CATCH_TEST_CASE("errors of all rows are reported at once",
                "[partition][import][csv][row_errors]") {
  two_tables tables{sick_nodes, sick_edges};
  CATCH_CHECK(
    tables.message()
    == "10 errors in 8 rows:\n"
       "n.csv:2: split \"learn\"; train, val, test or nothing expected "
       "(column 3, \"split\")\n"
       "n.csv:4: id \"b\" is there already (column 1, \"id\")\n"
       "n.csv:5: 3 fields; 4 expected, as in the header\n"
       "n.csv:6: text behind a closing quote; double the quotes within a "
       "quoted field\n"
       "n.csv:7: byte 1 of field 2 is 0xff, which is not UTF-8: save the table "
       "in UTF-8 (iconv -f latin1 -t utf-8 makes it, if it is in Latin-1)\n"
       "n.csv:2: \"red\" is no finite number; a columns file makes features of "
       "categories, dates and texts (--suggest drafts one), and --ignore "
       "leaves the column out (column 4, \"f\")\n"
       "n.csv:8: a number is missing; say what it becomes (--fill mean, or "
       "`fill: mean` in a columns file), or leave the column out with --ignore "
       "(column 4, \"f\")\n"
       "e.csv:3: destination \"z\" is not in the table of node (column 2, "
       "\"target\")\n"
       "e.csv:3: the weight \"x\" is no number (column 3, \"weight\")\n"
       "e.csv:4: the weight of an edge is -1; a finite number that is not "
       "negative expected (column 3, \"weight\")");
}

CATCH_TEST_CASE("the first twenty errors are told, and how many there are",
                "[partition][import][csv][row_errors]") {
  std::string edges = "source,target,weight\n";
  for (auto i = 0; i < 1000; ++i)
    edges += "a,b,no\n";
  two_tables tables{"id\na\nb\n", edges};
  const auto message = tables.message();
  CATCH_CHECK(message.starts_with("1000 errors in 1000 rows; the first 20:\n"
                                  "e.csv:2: the weight \"no\" is no number"));
  CATCH_CHECK(std::ranges::count(message, '\n') == 20);
}

CATCH_TEST_CASE("one kind of errors does not hide another",
                "[partition][import][csv][row_errors]") {
  std::string edges = "source,target,weight\n";
  for (auto i = 0; i < 500; ++i)
    edges += fmt::format("a,b,no{}\n", i);
  for (auto i = 0; i < 300; ++i)
    edges += fmt::format("a,z{},1\n", i);
  two_tables tables{"id\na\nb\n", edges};
  const auto message = tables.message();
  CATCH_CHECK(message.starts_with("800 errors in 800 rows; 2 kinds:\n"
                                  "e.csv:2: the weight \"no0\" is no number"));
  CATCH_CHECK(has(message, "e.csv:11: the weight \"no9\" is no number"));
  CATCH_CHECK(has(message,
                  "\n  and 490 more of this kind\n"
                  "e.csv:502: destination \"z0\" is not in the table"));
  CATCH_CHECK(message.ends_with("\n  and 290 more of this kind"));
  CATCH_CHECK(std::ranges::count(message, '\n') == 22);
}

CATCH_TEST_CASE("bad rows are left out up to a number",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,label,split,f\n"
                    "a,x,train,1\n"
                    "b,y,val,red\n"
                    "c,x,test,4\n"
                    " \"d, \"\"e\"\"\",y,\"learn\",5\r\n",
                    "source,relation,target,weight\n"
                    "a,r,c,1\n"
                    "c,r,a,2\n"
                    "a,only,b,1\n" // Which is left out.
                    "c,r,a,heavy\n"};
  tables.options.skip_bad_rows = 4;
  const auto info = value_of(tables.import());
  CATCH_CHECK(content_of(tables.out() / "nodes/node/ids.txt") == "a\nc\n");
  CATCH_REQUIRE(info.edge_types.size() == 1);
  CATCH_CHECK(info.edge_types[0].count == 2);
  const auto data = value_of(dataset::open(tables.out()));
  CATCH_CHECK(list<float>(*data.nodes(0).features) == std::vector<float>{1, 4});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).splits[2])
              == std::vector<std::int64_t>{1});
  const auto rejected = content_of(tables.out() / "rejected_rows.csv");
  CATCH_CHECK(rejected.starts_with("file,line,column,error,row\n"));
  CATCH_CHECK(
    has(rejected, "n.csv\",3,\"column 4, \"\"f\"\"\",\"\"\"red\"\" is"));
  CATCH_CHECK(has(rejected, ",\"b,y,val,red\"\n"));
  // As it is in the file, with a blank before it.
  CATCH_CHECK(
    has(rejected, ",\" \"\"d, \"\"\"\"e\"\"\"\"\"\",y,\"\"learn\"\",5\"\n"));
  CATCH_CHECK(std::ranges::count(rejected, '\n') == 5);
  CATCH_CHECK(tables.notes.back()
              == "4 bad rows left out; rejected_rows.csv in the dataset has "
                 "them");
  tables.options.skip_bad_rows = 3;
  CATCH_CHECK(has(tables.message(), "4 errors in 4 rows, and"));
}

CATCH_TEST_CASE("features are fitted without rows that are left out",
                "[partition][import][csv][row_errors]") {
  const std::string nodes = "id,label,split,f,town\n"
                            "a,x,train,1,Ulm\n"
                            "b,y,val,red,Rom\n"
                            "c,x,test,,Ulm\n"
                            "d,y,learn,8,Bonn\n"
                            "e,y,train,4,\n"
                            "f,x\n";
  two_tables tables{nodes, "a,c\ne,a\nd,b\n"};
  tables.options.features = {{"n.csv",
                              {{"", "f", "number", {{"fill", {"mean"}}}},
                               {"", "town", "category", {}}}}};
  CATCH_CHECK(tables.message()
              == "3 errors in 3 rows:\n"
                 "n.csv:5: split \"learn\"; train, val, test or nothing "
                 "expected (column 3, \"split\")\n"
                 "n.csv:7: 2 fields; 5 expected, as in the header\n"
                 "n.csv:3: \"red\" is no finite number; a columns file makes "
                 "features of categories, dates and texts (--suggest drafts "
                 "one), and --ignore leaves the column out (column 4, \"f\")");
  tables.options.skip_bad_rows = 4;
  tables.options.unknown = unknown_nodes::drop;
  value_of(tables.import());
  const auto data = value_of(dataset::open(tables.out()));
  // The mean of 1 and 4 is 2.5. Rom and Bonn are no towns of a row that stays:
  // there are features of Ulm and of all others.
  CATCH_CHECK(list<float>(*data.nodes(0).features)
              == std::vector<float>{1, 1, 0, 2.5, 1, 0, 4, 0, 0});
}

CATCH_TEST_CASE("errors of fields are told before the features are fitted",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,label,split,f\na,x,train,1\nb,y,val,red\n",
                    "a,b\na,z\n"};
  for (const auto norm : {row_norm::none, row_norm::standardise})
    for (const auto* fill : {"", "mean"}) {
      tables.options.normalise = norm;
      tables.options.number_options.clear();
      if (*fill != '\0')
        tables.options.number_options["fill"] = {fill};
      const auto message = tables.message();
      CATCH_CHECK(message.starts_with("2 errors in 2 rows:\n"
                                      "n.csv:3: \"red\" is no finite"));
      CATCH_CHECK(has(message, "\ne.csv:2: destination \"z\" is not in"));
    }
}

CATCH_TEST_CASE("one bad row too many ends the import",
                "[partition][import][csv][row_errors]") {
  two_tables tables{sick_nodes, sick_edges};
  tables.options.skip_bad_rows = 2;
  CATCH_CHECK(tables.message().starts_with(
    "3 errors in 3 rows, and --skip-bad-rows allows 2; reading stopped "
    "there:\nn.csv:2: "));
}

CATCH_TEST_CASE("edges to unknown nodes are dropped, or their nodes added",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,label,split,label.n,f\n"
                    "a,x,train,1,3\n"
                    "b,y,val,2,5\n",
                    "source,relation,target\n"
                    "a,r,b\n"
                    "a,r,z\n"
                    ",only,b\n"
                    "y,r,a\n"};
  tables.options.regression_sets = {"n"};
  CATCH_CHECK(has(tables.message(), "3 errors in 3 rows:"));

  tables.options.unknown = unknown_nodes::drop;
  auto info = value_of(tables.import());
  CATCH_CHECK(info.node_types[0].count == 2);
  CATCH_REQUIRE(info.edge_types.size() == 1);
  CATCH_CHECK(info.edge_types[0].count == 1);
  CATCH_CHECK(std::ranges::count(
                tables.notes,
                "e.csv: 2 edges to nodes without a row and 1 edge without an "
                "end dropped; the first: e.csv:3: destination \"z\"")
              == 1);

  tables.options.unknown = unknown_nodes::add;
  CATCH_CHECK(has(tables.message(), "e.csv:4: an id is empty"));
  tables.options.skip_bad_rows = 1;
  info = value_of(tables.import());
  CATCH_CHECK(content_of(tables.out() / "nodes/node/ids.txt")
              == "a\nb\nz\ny\n");
  CATCH_REQUIRE(info.edge_types.size() == 1);
  CATCH_CHECK(info.edge_types[0].count == 3);
  const auto data = value_of(dataset::open(tables.out()));
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).labels)
              == std::vector<std::int64_t>{0, 1, -1, -1});
  CATCH_CHECK(list<float>(*data.nodes(0).features)
              == std::vector<float>{3, 5, 0, 0});
  CATCH_CHECK(std::ranges::find(tables.notes,
                                "node: 2 nodes added that only edges name, "
                                "such as \"z\", without labels; all of their "
                                "features are 0")
              != tables.notes.end());
}

CATCH_TEST_CASE("each table decides which rows of a shared file it leaves out",
                "[partition][import][csv][row_errors]") {
  // One file has purchases: their numbers, their ends and their amounts.
  two_tables tables{"p,c,m,f\np1,c1,m1,1\np2,c2,m1,red\np3,c9,m2,3\n", ""};
  const auto file = tables.source() / "n.csv";
  std::ofstream{tables.source() / "c.csv"} << "id\nc1\nc2\n";
  std::ofstream{tables.source() / "m.csv"} << "id\nm1\nm2\n";
  tables.options.nodes = {{"buy", tables.source() / "." / "n.csv"},
                          {"cust", tables.source() / "c.csv"},
                          {"shop", tables.source() / "m.csv"}};
  tables.options.choices = {
    {csv_role::id, "buy=p"},         {csv_role::ignore, "buy=c"},
    {csv_role::ignore, "buy=m"},     {csv_role::source, "at=c"},
    {csv_role::destination, "at=m"}, {csv_role::source, "of=m"},
    {csv_role::destination, "of=p"}, {csv_role::ignore, "at=*"},
    {csv_role::ignore, "of=*"},
  };
  tables.options.skip_bad_rows = 2;
  const std::vector<csv_table> lists{{"cust__at__shop", file},
                                     {"shop__of__buy", file}};
  for (const auto backwards : {false, true}) {
    tables.options.edges = backwards ? std::vector{lists[1], lists[0]} : lists;
    const auto info = value_of(tables.import());
    // Purchase p2 is no node, and c9 is no customer.
    CATCH_CHECK(info.node_types[0].count == 2);
    CATCH_CHECK(info.edge_types[backwards ? 1 : 0].count == 2);
    CATCH_CHECK(info.edge_types[backwards ? 0 : 1].count == 2);
    CATCH_CHECK(tables.told("2 bad rows left out"));
  }
}

CATCH_TEST_CASE("a row that is wrong as a whole is told once for its file",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,to\na,a\nb\n", ""};
  const auto file = tables.source() / "n.csv";
  tables.options.edges = {{"", file}};
  tables.options.choices = {{csv_role::ignore, "node=to"},
                            {csv_role::source, "to=id"},
                            {csv_role::destination, "to=to"}};
  CATCH_CHECK(tables.message()
              == "n.csv:3: 1 fields; 2 expected, as in the header");
}

CATCH_TEST_CASE("a stray quote takes no other rows with it",
                "[partition][import][csv][row_errors]") {
  const auto nodes = [](const std::string& open, const std::string& close) {
    std::string text = "id,town,f\n";
    for (auto i = 0; i < 100; ++i)
      text += i == 10   ? "n10," + open + ",10\n"
              : i == 90 ? "n90," + close + ",90\n"
                        : fmt::format("n{0},t,{0}\n", i);
    return text;
  };
  const auto import_of = [](const std::string& text, std::int64_t most) {
    two_tables tables{text, "source,target\nn1,n2\n"};
    tables.options.choices = {{csv_role::ignore, "town"}};
    tables.options.skip_bad_rows = most;
    const auto info = tables.import();
    return info ? info->node_types[0].count : node_id{-1};
  };
  // It is closed by one with text behind it, by one at the end of a field, or
  // by none.
  CATCH_CHECK(import_of(nodes("\"open", "\"Al\" B"), 2) == 98);
  CATCH_CHECK(import_of(nodes("\"open", "\"t\""), 1) == 99);
  CATCH_CHECK(import_of(nodes("\"open", "t\""), 1) == 99);
  CATCH_CHECK(import_of(nodes("\"open", "t"), 1) == 99);
  two_tables tables{nodes("\"open", "t\""), "source,target\nn1,n2\n"};
  CATCH_CHECK(has(tables.message(),
                  "n.csv:12: a quoted field goes on for 80 lines that look "
                  "like rows"));
}

CATCH_TEST_CASE("a quote that swallows few rows is told",
                "[partition][import][csv][row_errors]") {
  const auto told = [](const std::string& rows, int others = 0) {
    std::string nodes = "id,town\n" + rows;
    for (auto i = 0; i < others; ++i)
      nodes += fmt::format("n{},Ulm\n", i);
    two_tables tables{nodes, "source,target\na,a\n"};
    tables.options.choices = {{csv_role::ignore, "town"}};
    value_of(tables.import());
    return tables.told("separators in a field of several lines");
  };
  // Three rows, of which a stray quote in each of two makes one.
  CATCH_CHECK(told("a,\"Rom\nb,Ulm\nc,Bonn\"\nd,Ulm\n"));
  CATCH_CHECK(told("a,\"Rom\nb,Bonn\"\n", 1000));
  // The only such field of a table.
  CATCH_CHECK(told("a,\"Rom, or\nelsewhere\"\nd,Ulm\n"));
  CATCH_CHECK_FALSE(told("a,\"Rom or\nelsewhere\"\nd,\"Ulm, perhaps\"\n"));
  // A table of such texts.
  std::string texts;
  for (const auto* id : {"a", "b", "c", "d", "e"})
    texts += fmt::format("{},\"Rom, or\nelsewhere\"\n", id);
  CATCH_CHECK_FALSE(told(texts, 100));
  CATCH_CHECK(told(texts, 1000));

  two_tables tables{"id,town\na,Ulm\nb,\"Rom, or\nelse\"\nc,\"Rom\nd,Bonn\"\n",
                    "source,target\na,a\n"};
  tables.options.choices = {{csv_role::ignore, "town"}};
  value_of(tables.import());
  CATCH_CHECK(tables.told("n.csv: 2 rows with separators in a field of several "
                          "lines, each of which could be a row, such as "
                          "n.csv:5; if its lines are rows, a quote is missing "
                          "or too many"));
}

CATCH_TEST_CASE("a bad row counts as the lines that it covers",
                "[partition][import][csv][row_errors]") {
  std::string poem;
  for (auto i = 0; i < 30; ++i)
    poem += "so it goes\n";
  two_tables tables{"id,town,f\na,\"" + poem + "\",x\nb,t,1\nc,\"" + poem
                      + "\",2\n",
                    "source,target\nb,b\n"};
  tables.options.choices = {{csv_role::ignore, "town"}};
  tables.options.skip_bad_rows = 30;
  CATCH_CHECK(
    has(tables.message(), "1 error in 31 rows, and --skip-bad-rows allows 30"));
  tables.options.skip_bad_rows = 31;
  CATCH_CHECK(value_of(tables.import()).node_types[0].count == 2);
  CATCH_CHECK(tables.told("n.csv: 1 row of more than 20 lines; the longest "
                          "covers 31 lines: n.csv:34"));
}

CATCH_TEST_CASE("the id of a row that is left out is free for a later one",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,label,split\na,x,train\nb,y,bogus\nb,x,val\n", "a,b\n"};
  tables.options.skip_bad_rows = 1;
  value_of(tables.import());
  CATCH_CHECK(content_of(tables.out() / "nodes/node/ids.txt") == "a\nb\n");
}

CATCH_TEST_CASE("headers between rows are told, whatever their letters",
                "[partition][import][csv][row_errors]") {
  for (const auto* header :
       {"source,target", "Source, TARGET", "\xef\xbb\xbfsource,target"}) {
    two_tables tables{"id\na\nb\n",
                      fmt::format("source,target\na,b\n{}\n", header)};
    CATCH_CHECK(tables.message()
                == "e.csv:3: this row repeats the header: take it out");
  }
  two_tables tables{"id\na\nb\n", "a,b\n\xef\xbb\xbf"
                                  "b,a\n"};
  CATCH_CHECK(has(tables.message(), "e.csv:2: a byte order mark (U+FEFF)"));
}

CATCH_TEST_CASE("errors are told once where edges are dropped",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id\na\nb\n", "source,relation,target,weight\n"
                                  "a,r,b,x\nb,r,a,y\na,r,z,1\n"};
  tables.options.unknown = unknown_nodes::drop;
  CATCH_CHECK(tables.message().starts_with("2 errors in 2 rows:\n"));
}

CATCH_TEST_CASE(
  "labels and relations that another dataset lacks are row errors",
  "[partition][import][csv][row_errors]") {
  const std::string relations = "source,relation,target\na,r,b\n";
  two_tables like{"id,label,split\na,x,train\nb,y,val\n", relations};
  value_of(like.import());
  two_tables tables{"id,label\na,x\nb,z\nc,y\n", relations + "a,s,c\na,r,c\n"};
  tables.options.like = like.out();
  const auto message = tables.message();
  CATCH_CHECK(
    message.starts_with("2 errors in 2 rows:\nn.csv:3: the label \"z\" "
                        "is none of the classes of node: x, y;"));
  CATCH_CHECK(has(message, "(column 2, \"label\")"));
  CATCH_CHECK(has(message, "has no edge of the relation \"s\""));
  tables.options.skip_bad_rows = 3;
  const auto info = value_of(tables.import());
  CATCH_CHECK(info.node_types[0].count == 2);
  CATCH_CHECK(info.node_types[0].class_names
              == std::vector<std::string>{"x", "y"});
  CATCH_REQUIRE(info.edge_types.size() == 1);
  CATCH_CHECK(info.edge_types[0].count == 1);
}

CATCH_TEST_CASE("notes of features count each row once",
                "[partition][import][csv][row_errors]") {
  two_tables tables{"id,town\na,Ulm\nb,Rom\nc,Bonn\nd,Ulm\n", "a,b\n"};
  tables.options.features = {
    {"node", {{"", "town", "category", {{"values", {"Ulm"}}}}}}};
  tables.options.normalise = row_norm::standardise;
  value_of(tables.import());
  CATCH_CHECK(tables.told("2 of 4 rows have a value that is none"));
}
