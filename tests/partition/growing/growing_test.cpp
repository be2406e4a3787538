#include "partition/growing/appending.hpp"

#include "messages/base/random.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

fs::path put_table(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

/// Tables of persons and items, of which the last rows are new.
struct two_days {
  std::string person_header = "id,label,split,label.colour,f0,f1\n";
  std::string item_header = "id,f0\n";
  std::string buys_header = "person,item,weight\n";
  std::string knows_header = "source,target\n";
  /// [table][day]: rows.
  std::string rows[4][2];
};

/// Rows of a random graph. New edges join old and new nodes.
two_days random_days(std::uint64_t seed) {
  random_stream draws{stream_key(seed, purpose::split, 0, 0), 9};
  two_days out;
  std::uint32_t persons = 0;
  std::uint32_t items = 0;
  for (int day = 0; day < 2; ++day) {
    const auto some = [&](std::uint32_t most) {
      return day == 0 ? 3 + draws.below(most) : draws.below(most);
    };
    for (auto n = some(12); n > 0; --n, ++persons) {
      // The first day has all classes.
      const auto label = persons < 3 ? persons : draws.below(3);
      out.rows[0][day] += fmt::format(
        "p{},{},{},{},{},{}\n", persons, "abc" [label],
        std::array { "train", "val", "test", "" }[draws.below(4)],
        persons < 2           ? persons == 0 ? "red" : "blue"
        : draws.below(2) == 0 ? "red"
                              : "",
        draws.below(100), draws.below(2) == 0 ? 0 : 7);
    }
    for (auto n = some(9); n > 0; --n, ++items)
      out.rows[1][day] += fmt::format("i{},{}\n", items, draws.below(50));
    for (auto n = some(60); n > 0; --n)
      out.rows[2][day] +=
        fmt::format("p{},i{},{}\n", draws.below(persons), draws.below(items),
                    0.125 * draws.below(90));
    for (auto n = some(40); n > 0; --n)
      out.rows[3][day] +=
        fmt::format("p{},p{}\n", draws.below(persons), draws.below(persons));
  }
  return out;
}

/// Tables of the days from `first` to `last`.
csv_import_options tables_of(const two_days& graph, int first, int last,
                             const temp_folder& folder) {
  const auto text = [&](const std::string& header, int table) {
    auto out = header;
    for (auto day = first; day <= last; ++day)
      out += graph.rows[table][day];
    return out;
  };
  csv_import_options out;
  out.nodes = {
    {"person", put_table(folder / "persons.csv", text(graph.person_header, 0))},
    {"item", put_table(folder / "items.csv", text(graph.item_header, 1))}};
  out.edges = {{"person__buys__item",
                put_table(folder / "buys.csv", text(graph.buys_header, 2))},
               {"person__knows__person",
                put_table(folder / "knows.csv", text(graph.knows_header, 3))}};
  return out;
}

/// Datasets of one random graph: imported and then appended to, and imported
/// as one.
struct grown_pair {
  temp_folder sources;
  temp_folder parent;
  fs::path grown = parent / "grown";
  fs::path whole = parent / "whole";
  dataset_info before;
  dataset_info after;
  dataset_info union_info;
};

void import_first(grown_pair& to, const two_days& graph, bool sparse,
                  bool reverse) {
  fs::create_directory(to.grown);
  auto options = tables_of(graph, 0, 0, to.sources);
  options.changes.sparse = sparse;
  options.reverse = reverse;
  to.before = value_of(import_csv(options, to.grown));
}

result<dataset_info> append_tables(const fs::path& folder,
                                   csv_import_options tables) {
  GRAPHMILL_TRY(const auto grown,
                append_to_dataset(folder, std::move(tables), {}, nullptr));
  return grown.now;
}

csv_import_options some_edges(const temp_folder& folder,
                              const std::string& rows) {
  csv_import_options out;
  out.edges = {{"person__buys__item",
                put_table(folder / "more.csv", "person,item,weight\n" + rows)}};
  return out;
}

csv_import_options some_nodes(const temp_folder& folder,
                              const std::string& rows) {
  csv_import_options out;
  out.nodes = {{"item", put_table(folder / "more.csv", "id,f0\n" + rows)}};
  return out;
}

} // namespace

CATCH_TEST_CASE("what grew has the digest of an import of everything",
                "[partition][growing]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_days(seed);
    grown_pair pair;
    const auto sparse = seed % 3 == 0;
    const auto reverse = seed % 2 == 0;
    import_first(pair, graph, sparse, reverse);
    pair.after =
      value_of(append_tables(pair.grown, tables_of(graph, 1, 1, pair.sources)));
    fs::create_directory(pair.whole);
    auto all = tables_of(graph, 0, 1, pair.sources);
    all.changes.sparse = sparse;
    all.reverse = reverse;
    pair.union_info = value_of(import_csv(all, pair.whole));
    CATCH_CHECK(pair.after.digest == pair.union_info.digest);
    // Also what digests leave out: sums, degrees, counts.
    const auto grown = value_of(dataset::open(pair.grown));
    const auto whole = value_of(dataset::open(pair.whole));
    CATCH_CHECK(value_of(digests_of(grown)).arrays
                == value_of(digests_of(whole)).arrays);
    for (std::size_t t = 0; t < 2; ++t) {
      CATCH_CHECK(grown.info().node_types[t].split_counts
                  == whole.info().node_types[t].split_counts);
      CATCH_CHECK(grown.info().node_types[t].most_row_entries
                  == whole.info().node_types[t].most_row_entries);
    }
    for (std::size_t e = 0; e < whole.info().edge_types.size(); ++e)
      CATCH_CHECK(grown.info().edge_types[e].max_in_degree
                  == whole.info().edge_types[e].max_in_degree);
    for (const auto* type : {"person", "item"}) {
      const auto ids = fs::path{"nodes"} / type / "ids.txt";
      std::ifstream a{pair.grown / ids};
      std::ifstream b{pair.whole / ids};
      CATCH_CHECK(std::string{std::istreambuf_iterator<char>{a}, {}}
                  == std::string{std::istreambuf_iterator<char>{b}, {}});
    }
    const auto steps = value_of(read_growth(pair.grown));
    CATCH_REQUIRE(steps.size() == 1);
    CATCH_CHECK(steps[0].before == pair.before.digest);
    CATCH_CHECK(!fs::exists(pair.grown / "import.json"));
    CATCH_CHECK(names_in(pair.parent.path())
                == std::vector<std::string>{"grown", "whole"});
  }
}

CATCH_TEST_CASE("lists stay in the order of times",
                "[partition][growing][times]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 10};
    const auto nodes_have_times = seed % 2 == 0;
    temp_folder sources;
    temp_folder parent;
    std::string nodes[2];
    std::string edges[2];
    std::uint32_t count = 0;
    for (int day = 0; day < 2; ++day) {
      for (auto n = 4 + draws.below(5); n > 0; --n, ++count)
        nodes[day] +=
          fmt::format("n{},{},{}\n", count, draws.below(9), draws.below(20));
      // Times that repeat, and on the second day some of the first.
      for (auto n = draws.below(60); n > 0; --n)
        edges[day] +=
          fmt::format("n{},n{},{},{}\n", draws.below(count), draws.below(count),
                      draws.below(12), 0.5 * draws.below(9));
    }
    const auto tables = [&](const std::string& of_nodes,
                            const std::string& of_edges) {
      csv_import_options out;
      out.nodes = {
        {"node", put_table(sources / "n.csv", "id,f,born\n" + of_nodes)}};
      out.edges = {{"node__to__node",
                    put_table(sources / "e.csv",
                              "source,target,when,weight\n" + of_edges)}};
      return out;
    };
    const auto first = [&](csv_import_options options, const fs::path& to) {
      options.times = time_unit::steps;
      options.reverse = true;
      if (nodes_have_times) {
        options.choices = {{csv_role::node_time, "born"}};
        options.ignore = {"when"};
      } else {
        options.choices = {{csv_role::edge_time, "when"}};
        options.ignore = {"born"};
      }
      fs::create_directory(to);
      return value_of(import_csv(options, to));
    };
    first(tables(nodes[0], edges[0]), parent / "grown");
    const auto grown =
      value_of(append_tables(parent / "grown", tables(nodes[1], edges[1])));
    const auto whole =
      first(tables(nodes[0] + nodes[1], edges[0] + edges[1]), parent / "whole");
    CATCH_CHECK(grown.digest == whole.digest);
    CATCH_CHECK(
      value_of(digests_of(value_of(dataset::open(parent / "grown")))).arrays
      == value_of(digests_of(value_of(dataset::open(parent / "whole"))))
           .arrays);
  }
}

CATCH_TEST_CASE("new times have the form of those of the import",
                "[partition][growing][times]") {
  temp_folder sources;
  temp_folder parent;
  const auto folder = parent / "set";
  const auto tables = [&](const std::string& born, const std::string& when) {
    csv_import_options out;
    out.nodes = {{"node", put_table(sources / "n.csv", "id,f,born\n" + born)}};
    out.edges = {{"node__to__node",
                  put_table(sources / "e.csv", "source,target,when\n" + when)}};
    return out;
  };
  auto first =
    tables("a,1,2024-05-01\nb,2,2024-05-02\n", "a,b,2024-05-03T08:00+02:00\n");
  first.choices = {{csv_role::node_time, "born"},
                   {csv_role::edge_time, "when"}};
  fs::create_directory(folder);
  const auto before = value_of(import_csv(first, folder)).digest;
  const auto refusal = [&](const std::string& born, const std::string& when) {
    const auto done = append_tables(folder, tables(born, when));
    CATCH_CHECK(value_of(read_dataset_info(folder)).digest == before);
    return error_of(done).message;
  };
  CATCH_CHECK_THAT(
    refusal("c,3,2024-05-04\n", "a,b,2024-05-05T08:00\n"),
    contains("e.csv:2: the time \"2024-05-05T08:00\" is of another form (ISO "
             "8601 without a zone, as UTC) than the times that are there "
             "(ISO 8601 with a zone)"));
  CATCH_CHECK_THAT(
    refusal("c,3,2024-05-04T00:00Z\n", "a,b,2024-05-05T08:00Z\n"),
    contains("n.csv:2: the time")
      && contains("that are there (ISO 8601 dates)"));
  value_of(append_tables(
    folder, tables("c,3,2024-05-04\n", "a,c,2024-05-05T08:00Z\n")));
  // Times are compared with the first ones, of whatever day.
  CATCH_CHECK_THAT(
    error_of(append_tables(
               folder, tables("d,4,1714780800\n", "a,d,2024-05-06T08:00Z\n")))
      .message,
    contains("(seconds since 1970) than the times that are there"));

  auto none = tables("a,1,2024-05-01\nb,2,2024-05-02\n", "");
  none.choices = first.choices;
  fs::create_directory(parent / "none");
  value_of(import_csv(none, parent / "none"));
  value_of(append_tables(parent / "none",
                         tables("c,3,2024-05-04\n", "a,c,2024-05-05T08:00\n")));
  CATCH_CHECK_THAT(
    error_of(append_tables(parent / "none", tables("d,4,2024-05-04\n",
                                                   "a,d,2024-05-05T08:00Z\n")))
      .message,
    contains("e.csv:2: the time \"2024-05-05T08:00Z\" is of another form"));
}

CATCH_TEST_CASE("a dataset grows again, by edges or nodes alone",
                "[partition][growing]") {
  const auto graph = random_days(1);
  grown_pair pair;
  import_first(pair, graph, false, false);
  const auto edges =
    value_of(append_tables(pair.grown, some_edges(pair.sources, "p0,i0,2\n")));
  CATCH_CHECK(edges.edge_types[0].count == pair.before.edge_types[0].count + 1);
  CATCH_CHECK(edges.node_types[1].count == pair.before.node_types[1].count);
  const auto nodes =
    value_of(append_tables(pair.grown, some_nodes(pair.sources, "new,7\n")));
  CATCH_CHECK(nodes.node_types[1].count == edges.node_types[1].count + 1);
  const auto both =
    value_of(append_tables(pair.grown, some_edges(pair.sources, "p1,new,2\n")));
  CATCH_CHECK(both.edge_types[0].count == edges.edge_types[0].count + 1);
  CATCH_CHECK(value_of(read_growth(pair.grown)).size() == 3);
  const auto data = value_of(dataset::open(pair.grown));
  CATCH_CHECK(value_of(content_digest(data)) == both.digest);
}

CATCH_TEST_CASE("what cannot be appended leaves the dataset as it was",
                "[partition][growing]") {
  const auto graph = random_days(2);
  grown_pair pair;
  import_first(pair, graph, false, false);
  const auto message = [&](csv_import_options tables) {
    const auto refused = error_of(append_tables(pair.grown, std::move(tables)));
    const auto now = value_of(dataset::open(pair.grown));
    CATCH_CHECK(value_of(content_digest(now)) == pair.before.digest);
    CATCH_CHECK(names_in(pair.parent.path())
                == std::vector<std::string>{"grown"});
    return refused.message;
  };
  CATCH_CHECK_THAT(message(some_nodes(pair.sources, "i0,7\n")),
                   contains("id \"i0\" is there already"));
  CATCH_CHECK_THAT(message(some_edges(pair.sources, "p0,nobody,1\n")),
                   contains("\"nobody\" is not in the table of item"));
  CATCH_CHECK_THAT(message(some_edges(pair.sources, "p0,i0,-1\n")),
                   contains("weight"));
  csv_import_options classes;
  classes.nodes = {
    {"person", put_table(pair.sources / "more.csv",
                         graph.person_header + "px,unheard,train,red,1,2\n")}};
  CATCH_CHECK_THAT(message(classes), contains("unheard"));
  csv_import_options columns;
  columns.nodes = {{"item", put_table(pair.sources / "more.csv", "id\nix\n")}};
  CATCH_CHECK_THAT(message(columns), contains("f0"));
  csv_import_options other;
  other.nodes = {{"shop", put_table(pair.sources / "more.csv", "id\nix\n")}};
  CATCH_CHECK_THAT(message(other), contains("no table of the type"));
  put_table(pair.grown / "edges/person__buys__item/unheard.npy", "");
  CATCH_CHECK_THAT(message(some_edges(pair.sources, "p0,i0,1\n")),
                   contains("append does not know"));
}

CATCH_TEST_CASE("datasets that joined edges do not grow",
                "[partition][growing]") {
  const auto graph = random_days(3);
  for (const auto what : {0, 1}) {
    temp_folder sources;
    temp_folder parent;
    const auto folder = parent / "set";
    fs::create_directory(folder);
    auto options = tables_of(graph, 0, 0, sources);
    if (what == 0)
      options.changes.duplicates = duplicate_edges::drop;
    else
      options.changes.undirected = {"knows"};
    value_of(import_csv(options, folder));
    const auto refused =
      error_of(append_tables(folder, some_edges(sources, "p0,i0,1\n")));
    CATCH_CHECK(refused.code == ec::invalid_argument);
    CATCH_CHECK_THAT(refused.message, contains("import all tables again"));
  }
}

CATCH_TEST_CASE("parts grow with their dataset, and old nodes stay",
                "[partition][growing]") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_days(seed);
    grown_pair pair;
    import_first(pair, graph, false, true);
    const auto parts = pair.parent / "parts";
    value_of(prepare_partitions(
      value_of(dataset::open(pair.grown)),
      {.parts = 3, .method = partition_method::ldg, .seed = seed}, parts));
    const auto older = value_of(partitioned_graph::open(parts));
    const std::array orders{value_of(older.order(0)), value_of(older.order(1))};
    pair.after =
      value_of(append_tables(pair.grown, tables_of(graph, 1, 1, pair.sources)));
    const auto data = value_of(dataset::open(pair.grown));
    const auto grown = value_of(grow_partitions(data, parts));
    CATCH_CHECK(grown.report.first_cut == grown.before.cut());
    std::int64_t edges = 0;
    for (const auto& type : data.info().edge_types)
      edges += type.count;
    CATCH_CHECK(grown.report.edges == edges);
    const auto now = value_of(partitioned_graph::open(parts));
    for (node_type_id t = 0; t < 2; ++t) {
      const auto& before = orders[static_cast<std::size_t>(t)];
      const auto after = value_of(now.order(t));
      CATCH_REQUIRE(std::ssize(after) == data.info().node_types[t].count);
      for (std::size_t id = 0; id < before.size(); ++id)
        CATCH_CHECK(older.owner(t, before[id]) == now.owner(t, after[id]));
    }
    for (part_id p = 0; p < 3; ++p)
      value_of(now.open_shard(p));
    CATCH_CHECK(names_in(pair.parent.path())
                == std::vector<std::string>{"grown", "parts"});
    // Nothing has grown since; and parts of something else stay.
    CATCH_CHECK(error_of(grow_partitions(data, parts)).code
                == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("new nodes go beside their neighbours, and parts wear out",
                "[partition][growing]") {
  // Two rings of ten, each a part; eight new nodes, each with two edges to one
  // ring.
  temp_folder sources;
  temp_folder parent;
  std::string nodes = "id,f\n";
  std::string edges = "source,target\n";
  for (int i = 0; i < 20; ++i) {
    nodes += fmt::format("n{},{}\n", i, i);
    const auto next = i / 10 * 10 + (i + 1) % 10;
    edges += fmt::format("n{},n{}\nn{},n{}\n", i, next, next, i);
  }
  const auto folder = parent / "set";
  const auto parts = parent / "parts";
  fs::create_directory(folder);
  csv_import_options first;
  first.nodes = {{"node", put_table(sources / "n.csv", nodes)}};
  first.edges = {{"node__to__node", put_table(sources / "e.csv", edges)}};
  value_of(import_csv(first, folder));
  const auto made = value_of(
    prepare_partitions(value_of(dataset::open(folder)), {.parts = 2}, parts));
  CATCH_REQUIRE(made.report.cut_edges == 0);
  nodes = "id,f\n";
  edges = "source,target\n";
  for (int i = 0; i < 8; ++i) {
    nodes += fmt::format("new{},1\n", i);
    // One edge each way.
    edges += fmt::format("n{0},new{1}\nnew{1},n{2}\n", i % 2 * 10 + i, i,
                         i % 2 * 10 + 1);
  }
  csv_import_options more;
  more.nodes = {{"node", put_table(sources / "n2.csv", nodes)}};
  more.edges = {{"node__to__node", put_table(sources / "e2.csv", edges)}};
  value_of(append_tables(folder, more));
  const auto grown =
    value_of(grow_partitions(value_of(dataset::open(folder)), parts));
  CATCH_CHECK(grown.report.cut_edges == 0);
  CATCH_CHECK(wear_of(grown.report).empty());
  // Edges between the rings are cut, wherever nodes are.
  edges = "source,target\nn1,n11\nn12,n2\nn3,n13\n";
  csv_import_options across;
  across.edges = {{"node__to__node", put_table(sources / "e3.csv", edges)}};
  value_of(append_tables(folder, across));
  const auto worn =
    value_of(grow_partitions(value_of(dataset::open(folder)), parts));
  CATCH_CHECK(worn.report.cut_edges == 3);
  CATCH_CHECK(worn.report.first_cut == 0.0);
  CATCH_CHECK_THAT(wear_of(worn.report), contains("of all edges are cut now"));
}

namespace {

/// A dataset of one table of nodes, and perhaps edges, which grows by another.
struct one_table {
  temp_folder sources;
  temp_folder parent;
  fs::path folder = parent / "set";
  std::vector<std::string> notes;

  csv_import_options tables(const std::string& nodes,
                            const std::string& edges = {}) {
    csv_import_options out;
    if (!nodes.empty())
      out.nodes = {{"node", put_table(sources / "n.csv", nodes)}};
    if (!edges.empty())
      out.edges = {{"node__to__node", put_table(sources / "e.csv", edges)}};
    out.on_note = [this](std::string note) {
      notes.push_back(std::move(note));
    };
    return out;
  }
  dataset_info import(const csv_import_options& options) {
    fs::create_directory(folder);
    return value_of(import_csv(options, folder));
  }
  /// The digest of an import of all rows, elsewhere.
  std::string digest_of_all(const csv_import_options& options) {
    fs::create_directory(parent / "whole");
    const auto digest = value_of(import_csv(options, parent / "whole")).digest;
    fs::remove_all(parent / "whole");
    return digest;
  }
  std::string refusal(const csv_import_options& more) {
    return error_of(append_tables(folder, more)).message;
  }
};

/// The labels of a set of the only node type.
std::vector<std::int64_t> labels_of_set(const fs::path& folder) {
  const auto data = value_of(dataset::open(folder));
  const auto labels =
    value_of(data.nodes(0).label_sets[0].labels->as<std::int64_t>());
  return {labels.begin(), labels.end()};
}

} // namespace

CATCH_TEST_CASE("label sets go on as they were, whatever columns are left out",
                "[partition][growing]") {
  one_table own;
  own.import(own.tables("id,label,split,label.z,split.z,f\n"
                        "a,x,train,u,train,1\nb,y,test,v,test,2\n"));
  CATCH_CHECK_THAT(
    own.refusal(own.tables("id,label,split,split.z,f\nc,x,,train,1\n")),
    contains("\"z\" has labels of its own"));
  value_of(append_tables(own.folder, own.tables("id,label,split,f\nc,x,,1\n")));
  CATCH_CHECK(labels_of_set(own.folder) == std::vector<std::int64_t>{0, 1, -1});

  one_table alone;
  const std::string header = "id,label,split,split.alt,f\n";
  const std::string first = "a,x,train,val,1\nb,y,test,train,2\n";
  alone.import(alone.tables(header + first));
  CATCH_CHECK_THAT(alone.refusal(alone.tables("id,split.alt,f\nc,train,1\n")),
                   contains("have no labels of it"));
  CATCH_CHECK_THAT(alone.refusal(alone.tables("id,split,f\nc,train,1\n")),
                   contains("in a split and have no labels"));
  const auto grown = value_of(append_tables(
    alone.folder, alone.tables("id,label,split,f\nc,y,train,3\n")));
  CATCH_CHECK(labels_of_set(alone.folder)
              == std::vector<std::int64_t>{0, 1, 1});
  CATCH_CHECK(
    grown.digest
    == alone.digest_of_all(alone.tables(header + first + "c,y,train,,3\n")));
}

CATCH_TEST_CASE("a set with its own split does not take over another",
                "[partition][growing]") {
  one_table set;
  const std::string header = "id,label,split,label.z,split.z,f\n";
  const std::string first = "a,x,train,u,train,1\nb,y,test,v,val,2\n";
  set.import(set.tables(header + first));
  const auto grown = value_of(append_tables(
    set.folder, set.tables("id,label,split,label.z,f\nc,y,train,v,3\n")));
  CATCH_CHECK(
    grown.digest
    == set.digest_of_all(set.tables(header + first + "c,y,train,v,,3\n")));
}

CATCH_TEST_CASE("tables are written as those of the import",
                "[partition][growing]") {
  one_table set;
  auto first = set.tables({}, "% of friends\na;b\nb;c\nc;a\n");
  first.comments = '%';
  first.separator = ';';
  set.import(first);
  const auto before = value_of(read_dataset_info(set.folder));
  CATCH_CHECK_THAT(set.refusal(set.tables({}, "source;target\nd;a\n")),
                   contains("is a header"));
  auto two = set.tables({}, "d;a\n");
  two.edges[0].more = {
    put_table(set.sources / "more.csv", "source;target\ne;a\n")};
  CATCH_CHECK_THAT(set.refusal(two),
                   contains("this is a header") && contains("take it out"));
  const auto grown =
    value_of(append_tables(set.folder, set.tables({}, "% more\nd;a\nd,e;b\n")));
  CATCH_CHECK(grown.node_types[0].count == before.node_types[0].count + 2);
  CATCH_CHECK(grown.edge_types[0].count == before.edge_types[0].count + 2);

  one_table ids;
  auto listed = ids.tables("a\nb\n");
  listed.without_header = {"node"};
  listed.choices = {{csv_role::id, "1"}};
  ids.import(listed);
  CATCH_CHECK_THAT(ids.refusal(ids.tables("id\nc\n")), contains("is a header"));
  CATCH_CHECK(
    value_of(append_tables(ids.folder, ids.tables("c\n"))).node_types[0].count
    == 3);
}

namespace {

/// Writes a JSON file again with another value at a place; null: without one.
void put_value(const fs::path& path, const char* place,
               const nlohmann::json& value) {
  nlohmann::json record;
  std::ifstream{path} >> record;
  const nlohmann::json::json_pointer at{place};
  if (value.is_null())
    record[at.parent_pointer()].erase(at.back());
  else
    record[at] = value;
  std::ofstream{path} << record;
}

} // namespace

CATCH_TEST_CASE("a damaged record of tables is no default",
                "[partition][growing]") {
  for (const auto* key : {"separator", "comments"}) {
    CATCH_INFO(key);
    one_table set;
    set.import(set.tables("id,f\na,1\n"));
    const auto place = fmt::format("/changes/{}", key);
    for (const auto& value : {nlohmann::json(";"), nlohmann::json(true),
                              nlohmann::json(0.5), nlohmann::json(1 << 9)}) {
      put_value(set.folder / "columns.json", place.c_str(), value);
      CATCH_CHECK_THAT(set.refusal(set.tables("id,f\nb,2\n")),
                       contains("its columns.json is damaged"));
    }
    // An older record says nothing of it.
    put_value(set.folder / "columns.json", place.c_str(), nullptr);
    value_of(append_tables(set.folder, set.tables("id,f\nb,2\n")));
  }
  one_table set;
  set.import(set.tables("id,f\na,1\n"));
  for (const auto& value : {nlohmann::json("dates"), nlohmann::json(3)}) {
    put_value(set.folder / "columns.json", "/nodes/0/times", value);
    CATCH_CHECK_THAT(set.refusal(set.tables("id,f\nb,2\n")),
                     contains("its columns.json is damaged"));
  }
  put_value(set.folder / "columns.json", "/nodes/0/times", nullptr);
  value_of(append_tables(set.folder, set.tables("id,f\nb,2\n")));
}

CATCH_TEST_CASE("a damaged record of growth is no default",
                "[partition][growing]") {
  one_table set;
  set.import(set.tables("id,f\na,1\n"));
  value_of(append_tables(set.folder, set.tables("id,f\nb,2\n")));
  const auto path = set.folder / "growth.json";
  nlohmann::json sound;
  std::ifstream{path} >> sound;
  const std::pair<const char*, nlohmann::json> changes[] = {
    {"/0/drops_self_loops", nullptr},
    {"/0/drops_self_loops", 1},
    {"/0/before", nullptr},
    {"/0/before", 7},
    {"/0/nodes", 0.5},
    {"/0/edges", nullptr},
    {"/0", "grown"},
    {"", "grown"},
    {"", nlohmann::json::object()}};
  for (const auto& [place, value] : changes) {
    CATCH_INFO(place << " " << value);
    std::ofstream{path} << sound;
    put_value(path, place, value);
    CATCH_CHECK(error_of(read_growth(set.folder)).code == ec::invalid_data);
    CATCH_CHECK_THAT(set.refusal(set.tables("id,f\nc,3\n")),
                     contains("growth.json is damaged"));
  }
  std::ofstream{path} << sound;
  value_of(append_tables(set.folder, set.tables("id,f\nc,3\n")));
}

CATCH_TEST_CASE("new nodes that no split has are told",
                "[partition][growing]") {
  one_table set;
  auto first = set.tables("id,label,f\na,x,1\nb,y,2\nc,x,1\nd,y,1\n");
  first.changes.split = split_request{.fractions = {0.5, 0.25, 0.25}};
  set.import(first);
  set.notes.clear();
  value_of(
    append_tables(set.folder, set.tables("id,label,f\ne,x,1\ng,,2\nh,y,2\n")));
  CATCH_CHECK(
    std::ranges::count_if(set.notes,
                          [](const std::string& note) {
                            return note.starts_with(
                              "node: 2 new nodes with labels in no split");
                          })
    == 1);
}

CATCH_TEST_CASE("nodes alone are appended where edges have reverses",
                "[partition][growing]") {
  const auto graph = random_days(4);
  grown_pair pair;
  import_first(pair, graph, false, true);
  const auto grown =
    value_of(append_tables(pair.grown, some_nodes(pair.sources, "new,7\n")));
  CATCH_CHECK(grown.node_types[1].count == pair.before.node_types[1].count + 1);
}

CATCH_TEST_CASE("ids whose last line does not end are not joined",
                "[partition][growing]") {
  one_table set;
  set.import(set.tables("id,f\na,1\nb,2\n"));
  fs::remove(set.folder / "nodes/node/ids.txt");
  put_table(set.folder / "nodes/node/ids.txt", "a\nb");
  value_of(append_tables(set.folder, set.tables("id,f\nc,3\n")));
  std::ifstream ids{set.folder / "nodes/node/ids.txt"};
  CATCH_CHECK(std::string{std::istreambuf_iterator<char>{ids}, {}}
              == "a\nb\nc\n");
}

CATCH_TEST_CASE("arrays of edges make their reverses", "[partition][growing]") {
  one_table set;
  const auto ends = set.sources / "e.npy";
  put_array<std::int64_t>(ends, {0, 2, 1, 0}, {2, 2});
  auto first = set.tables("id,f\na,1\nb,2\nc,3\n", "source,target\na,b\n");
  first.reverse = true;
  set.import(first);
  const auto append = [&](const std::string& type) {
    new_arrays more;
    more.edges = {{type, ends}};
    return append_to_dataset(set.folder, more, {}, nullptr);
  };
  CATCH_CHECK_THAT(error_of(append("rev_to")).message,
                   contains("give the array of that type alone"));
  const auto grown = value_of(append("to")).now;
  auto all =
    set.tables("id,f\na,1\nb,2\nc,3\n", "source,target\na,b\na,b\nc,a\n");
  all.reverse = true;
  CATCH_CHECK(grown.digest == set.digest_of_all(all));
}

CATCH_TEST_CASE("a private dataset stays private", "[partition][growing]") {
  one_table set;
  set.import(set.tables("id,f\na,1\n"));
  fs::permissions(set.folder, fs::perms::owner_all);
  value_of(append_tables(set.folder, set.tables("id,f\nc,3\n")));
  CATCH_CHECK(fs::status(set.folder).permissions() == fs::perms::owner_all);
}

CATCH_TEST_CASE("what new tables lack is told without options of the import",
                "[partition][growing]") {
  one_table set;
  set.import(set.tables("id,label,split,f\na,x,train,1\nb,y,test,2\n",
                        "source,target,weight\na,b,1\n"));
  const auto other = [&set](const std::string& type) {
    auto out = set.tables({}, "source,target\na,b\n");
    out.edges[0].type = type;
    return set.refusal(out);
  };
  const auto nodes = [&set](const std::string& table) {
    return set.refusal(set.tables(table));
  };
  const auto edges = [&set](const std::string& table) {
    return set.refusal(set.tables({}, table));
  };
  for (const auto& [message, said] :
       {std::pair{nodes("id,label,f,g\nc,x,1,2\n"), "without a column \"g\""},
        std::pair{nodes("id,label,f,target\nc,x,1,2\n"),
                  "without a column \"target\""},
        std::pair{nodes(",id,label,f\n0,c,x,1\n"), "without a column 1"},
        std::pair{nodes("id,label\nc,x\n"), "with a column \"f\", which is"},
        std::pair{edges("source,target,weight,more\na,b,1,2\n"),
                  "without a column \"more\""},
        std::pair{edges("from,target,weight\na,b,1\n"),
                  "with a column \"source\", which is missing here; there are "
                  "\"from\""},
        std::pair{other("node__likes__node"),
                  "no table of the type node__likes__node, but of "
                  "node__to__node; leave "}}) {
    CATCH_CHECK_THAT(message, contains(said));
    CATCH_CHECK(message.find("--") == message.npos);
  }
  for (const auto& message :
       {nodes("id,label,f\nc,z,1\n"), nodes("id,label,f\nc,x,\"1,5\"\n"),
        nodes("id,label,f\nc,x,16777217\n"), nodes("id,label,f\nc,x,1e39\n"),
        edges("source,target,weight\na,b,1\nc\n")})
    CATCH_CHECK_THAT(message, contains("or import all tables again"));
}

CATCH_TEST_CASE("new tables are told apart from advice on options",
                "[partition][growing]") {
  one_table set;
  set.import(set.tables({}, "user_id,item_id\na,b\n"));
  set.notes.clear();
  value_of(append_tables(set.folder, set.tables({}, "user_id,item_id\nb,c\n")));
  for (const auto& note : set.notes) // Of an import, one advises --edges.
    CATCH_CHECK(note.find("--") == note.npos);

  one_table other;
  other.import(other.tables("id,f\na,1\n"));
  const auto twice = error_of(
    append_tables(other.folder, other.tables("id,f\nb -- c,1\nb -- c,1\n")));
  CATCH_CHECK_THAT(twice.message, contains("\"b -- c\""));
  CATCH_CHECK(twice.message.find("import all tables") == twice.message.npos);

  // The option of another program: an append can take the unpacked table.
  const auto packed =
    other.refusal(other.tables({"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9}));
  CATCH_CHECK_THAT(packed, contains("unpack it first: zstd -d --long=31"));
  CATCH_CHECK(packed.find("import all tables") == packed.npos);
  const auto cut = other.refusal(other.tables("\x28\xb5\x2f\xfd\x04"));
  CATCH_CHECK_THAT(cut, contains("`zstd -t` tells"));
  CATCH_CHECK(cut.find("import all tables") == cut.npos);
}

CATCH_TEST_CASE("an append advises no setting of a columns file",
                "[partition][growing]") {
  one_table set;
  auto first = set.tables("id,ok,day\na,yes,2024-05-31\nb,no,2024-06-01\n");
  first.features = {
    {.table = "node",
     .requests = {{"", "ok", "boolean", {}}, {"", "day", "date", {}}}}};
  set.import(first);
  for (const std::string row :
       {"c,maybe,2024-05-31", "c,,2024-05-31", "c,yes,31.05.2024", "c,yes,"}) {
    const auto refused = set.refusal(set.tables("id,ok,day\n" + row + "\n"));
    CATCH_CHECK_THAT(refused, contains("change the table, or import all"));
  }
}

CATCH_TEST_CASE("nothing new changes nothing", "[partition][growing]") {
  one_table set;
  auto first = set.tables("id,f\na,1\n", "source,target\na,a\n");
  first.changes.drop_self_loops = true;
  set.import(first);
  const auto file = set.folder / "dataset.json";
  const auto before = fs::last_write_time(file);
  put_array<std::int64_t>(set.sources / "none.npy", {}, {2, 0});
  const auto append = [&](const additions& nothing) {
    const auto grown =
      value_of(append_to_dataset(set.folder, nothing, {}, nullptr));
    CATCH_CHECK(grown.now.digest == grown.before.digest);
    CATCH_REQUIRE(grown.notes.size() == 1);
    CATCH_CHECK_THAT(grown.notes[0], contains("stays as it is"));
  };
  append(set.tables("id,f\n", "source,target\n"));
  append(set.tables({}, "source,target\na,a\n"));
  append(new_arrays{.edges = {{"", set.sources / "none.npy"}}});
  CATCH_CHECK(fs::last_write_time(file) == before);
  CATCH_CHECK(value_of(read_growth(set.folder)).empty());
  CATCH_CHECK(names_in(set.parent.path()) == std::vector<std::string>{"set"});
}

CATCH_TEST_CASE("reading new tables ends on request", "[partition][growing]") {
  one_table set;
  const auto before = set.import(set.tables("id,f\na,1\n"));
  const std::atomic<bool> stop{true};
  const auto ended = error_of(
    append_to_dataset(set.folder, set.tables("id,f\nc,3\n"), {}, &stop));
  CATCH_CHECK(ended.code == ec::cancelled);
  CATCH_CHECK_THAT(ended.message, contains("n.csv was read"));
  CATCH_CHECK(value_of(read_dataset_info(set.folder)).digest == before.digest);
}

namespace {

/// Persons with two features, and tags without, in text tables.
struct two_kinds : one_table {
  fs::path rows = sources / "rows.npy";
  fs::path ends = sources / "ends.npy";

  two_kinds() {
    put_array<float>(rows, {1, 2, 3, 4}, {2, 2});
    put_array<std::int64_t>(ends, {0, 1, 1, 0}, {2, 2});
  }
  csv_import_options both() const {
    csv_import_options out;
    out.nodes = {
      {"person", put_table(sources / "p.csv", "id,f,g\na,1,2\nb,3,4\n")},
      {"tag", put_table(sources / "t.csv", "id\nx\ny\n")}};
    out.edges = {
      {"person__knows__person",
       put_table(sources / "k.csv", "source,target\na,b\n")},
      {"person__likes__tag",
       put_table(sources / "l.csv", "source,target,weight\na,x,2\n")}};
    return out;
  }
  /// Why arrays are not appended; the dataset stays as it was.
  std::string refusal_of(const new_arrays& arrays) const {
    const auto before = value_of(read_dataset_info(folder)).digest;
    const auto refused =
      error_of(append_to_dataset(folder, arrays, {}, nullptr));
    CATCH_CHECK(value_of(content_digest(value_of(dataset::open(folder))))
                == before);
    CATCH_CHECK(names_in(parent.path()) == std::vector<std::string>{"set"});
    return refused.message;
  }
};

} // namespace

CATCH_TEST_CASE("arrays that a dataset cannot take are refused",
                "[partition][growing]") {
  two_kinds set;
  set.import(set.both());
  const auto wide = set.sources / "wide.npy";
  put_array<float>(wide, {1, 2, 3}, {1, 3});
  const auto flat = set.sources / "flat.npy";
  put_array<std::int64_t>(flat, {0, 1});
  const auto beyond = set.sources / "beyond.npy";
  put_array<std::int64_t>(beyond, {0, 7}, {2, 1});
  const std::pair<new_arrays, const char*> cases[] = {
    {{.nodes = {{"", set.rows}}}, "has 2 node types; say which one"},
    {{.nodes = {{"shop", set.rows}}}, "has no node type \"shop\""},
    {{.nodes = {{"person", set.rows}, {"person", wide}}},
     "two arrays are of one node type"},
    {{.nodes = {{"person", wide}}}, "rows of 2 features are expected"},
    {{.nodes = {{"tag", set.rows}}},
     "have no features to tell their number by"},
    {{.nodes = {{"person", set.rows}}}, "and the new ones are given without"},
    {{.edges = {{"", set.ends}}}, "has 2 edge types; say which one"},
    {{.edges = {{"hates", set.ends}}}, "has no edge type \"hates\""},
    {{.edges = {{"knows", flat}}}, "an array [2, edges] is expected"},
    {{.edges = {{"knows", beyond}}}, "7"},
    {{.edges = {{"likes", set.ends}}},
     "have weights, which arrays of ends lack"}};
  for (const auto& [arrays, said] : cases) {
    CATCH_INFO(said);
    CATCH_CHECK_THAT(set.refusal_of(arrays), contains(said));
  }
  const std::atomic<bool> stop{true};
  const auto ended = error_of(append_to_dataset(
    set.folder, new_arrays{.edges = {{"knows", set.ends}}}, {}, &stop));
  CATCH_CHECK(ended.code == ec::cancelled);
  CATCH_CHECK_THAT(ended.message, contains("ends.npy was read"));
}

CATCH_TEST_CASE("arrays say nothing of times, zeros and features of edges",
                "[partition][growing]") {
  const auto refused = [](auto change, const new_arrays& of, const char* said) {
    two_kinds set;
    auto options = set.both();
    change(options, set);
    set.import(options);
    auto arrays = of;
    for (auto& one : arrays.nodes)
      one.file = set.rows;
    for (auto& one : arrays.edges)
      one.file = set.ends;
    CATCH_INFO(said);
    CATCH_CHECK_THAT(set.refusal_of(arrays), contains(said));
  };
  const new_arrays persons{.nodes = {{"person", {}}}};
  const new_arrays known{.edges = {{"knows", {}}}};
  refused([](auto& options, const auto&) { options.changes.sparse = true; },
          persons, "have sparse features");
  refused([](auto& options,
             const auto&) { options.normalise = row_norm::standardise; },
          persons, "--normalise standardise");
  refused(
    [](auto& options, const auto& set) {
      put_table(set.sources / "p.csv", "id,f,g,born\na,1,2,3\nb,3,4,5\n");
      options.choices = {{csv_role::node_time, "born"}};
      options.times = time_unit::steps;
    },
    persons, "nodes of type person have times");
  refused(
    [](auto& options, const auto& set) {
      put_table(set.sources / "k.csv", "source,target,when\na,b,3\n");
      options.choices = {{csv_role::edge_time, "when"}};
      options.times = time_unit::steps;
    },
    known, "have times, which arrays of ends lack");
  refused(
    [](auto& options, const auto& set) {
      put_table(set.sources / "k.csv", "source,target,e\na,b,3\n");
      options.choices = {{csv_role::feature, "e"}};
    },
    known, "have features, which arrays of ends lack");
}

CATCH_TEST_CASE("a dataset of arrays is given advice that it can follow",
                "[partition][growing]") {
  two_kinds set;
  set.import(set.both());
  const new_arrays likes{.edges = {{"likes", set.ends}}};
  CATCH_CHECK_THAT(set.refusal_of(likes), contains("append them as text"));
  fs::remove(set.folder / "columns.json");
  CATCH_CHECK_THAT(set.refusal_of(likes), contains("import all arrays again"));
  CATCH_CHECK_THAT(
    error_of(append_tables(set.folder, set.both())).message,
    contains("takes no tables: give arrays (.npy), which have no times"));
}

CATCH_TEST_CASE("features of edges grow with them",
                "[partition][growing][edge_features]") {
  one_table set;
  const auto with_features = [&](const std::string& nodes,
                                 const std::string& edges) {
    auto out = set.tables(nodes, edges);
    out.choices = {{csv_role::feature, "amount"}};
    out.reverse = true;
    return out;
  };
  const std::string nodes = "id,f\na,1\nb,2\nc,3\n";
  const std::string edges = "source,target,amount\n";
  set.import(with_features(nodes, edges + "a,b,5\nb,a,-1\nc,b,2\n"));
  const auto grown = value_of(append_tables(
    set.folder, set.tables("id,f\nd,4\n", edges + "d,b,7\na,b,6\nb,c,0.5\n")));
  CATCH_CHECK(grown.edge_types[0].feature_width == 1);
  CATCH_CHECK(grown.digest
              == set.digest_of_all(with_features(
                nodes + "d,4\n",
                edges + "a,b,5\nb,a,-1\nc,b,2\nd,b,7\na,b,6\nb,c,0.5\n")));
  CATCH_CHECK_THAT(set.refusal(set.tables({}, edges + "a,b,many\n")),
                   contains("\"many\" is no finite number"));
}

CATCH_TEST_CASE("damage is not appended to", "[partition][growing]") {
  two_kinds set;
  set.import(set.both());
  const auto likes = set.folder / "edges/person__likes__tag";
  fs::remove(likes / "indices.npy"); // The import may have other names for it.
  put_array<std::int32_t>(likes / "indices.npy", {9});
  csv_import_options more;
  more.edges = {
    {"person__likes__tag",
     put_table(set.sources / "more.csv", "source,target,weight\nb,y,1\n")}};
  CATCH_CHECK_THAT(set.refusal(more),
                   contains("comes from node 9, but there are 2"));
  put_array<std::int32_t>(likes / "indices.npy", {0});
  value_of(append_tables(set.folder, more));

  two_kinds unnamed;
  unnamed.import(unnamed.both());
  put_value(unnamed.folder / "dataset.json", "/own_digest", nullptr);
  put_value(unnamed.folder / "dataset.json", "/digest", "");
  CATCH_CHECK_THAT(unnamed.refusal(more), contains("has no digest"));
}

CATCH_TEST_CASE(
  "seeds that roll forward are those of an import that trains them",
  "[partition][growing]") {
  const auto import = [](const temp_folder& sources, const fs::path& folder,
                         const std::string& persons) {
    csv_import_options out;
    out.nodes = {{"person", put_table(sources / "p.csv",
                                      "id,label,split,f0\n" + persons)}};
    out.edges = {{"person__knows__person",
                  put_table(sources / "e.csv", "source,target\np0,p1\n")}};
    fs::create_directory(folder);
    return value_of(import_csv(out, folder));
  };
  const temp_folder sources;
  const temp_folder parent;
  import(sources, parent / "grown",
         "p0,a,train,1\np1,b,test,2\np2,a,val,3\np3,b,train,4\np4,b,,5\n");
  csv_import_options more;
  more.nodes = {{"person", put_table(sources / "new.csv",
                                     "id,label,split,f0\np5,a,test,6\n")}};
  const auto done =
    value_of(append_to_dataset(parent / "grown", more, {}, nullptr, true));
  CATCH_CHECK(done.rolled_nodes.at("person").moved == 2);
  const auto whole =
    import(sources, parent / "whole",
           "p0,a,train,1\np1,b,train,2\np2,a,train,3\np3,b,train,4\np4,b,,5\n"
           "p5,a,test,6\n");
  CATCH_CHECK(done.now.node_types[0].split_counts
              == whole.node_types[0].split_counts);
  CATCH_CHECK(done.now.digest == whole.digest);
}
