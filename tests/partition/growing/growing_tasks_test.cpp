#include "messages/base/random.hpp"
#include "partition/dataset/digest.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/growing/appending.hpp"
#include "partition/growing/grown_dataset.hpp"
#include "partition/growing/new_arrays.hpp"
#include "partition/partitioners/partition_dataset.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace graphmill::test::growing_tasks {

namespace {

namespace fs = std::filesystem;
using ids = std::vector<std::int64_t>;
using counts = std::array<std::int64_t, 3>;

enum class times_of : std::uint8_t { nobody, edges, nodes, rows };

/// What a random graph and its task have.
struct graph_form {
  edge_task_kind kind = edge_task_kind::link;
  int types = 1;
  times_of times = times_of::nobody;
  bool reverse = false;
  bool weighted = false; ///< Edges and rows.
};

std::string form_text(const graph_form& form) {
  return fmt::format("kind {}, {} types, times {}, reverse {}, weights {}",
                     traits_of(form.kind).name, form.types,
                     static_cast<int>(form.times), form.reverse, form.weighted);
}

/// Tables of two days: of persons, and of edges of up to two types.
struct tables_of_days {
  std::string rows[3][2];
};

/// @param repeats Whether the second day may join nodes that the first one
/// joins, either way.
tables_of_days random_tables(const graph_form& form, std::uint64_t seed,
                             bool repeats) {
  random_stream draws{stream_key(seed, purpose::split, 0, 0), 11};
  tables_of_days out;
  std::uint32_t persons = 0;
  std::set<std::tuple<int, std::uint32_t, std::uint32_t>> joined;
  for (int day = 0; day < 2; ++day) {
    for (auto n = day == 0 ? 4 + draws.below(4) : draws.below(4); n > 0;
         --n, ++persons)
      out.rows[0][day] += fmt::format("p{},{}{}\n", persons, draws.below(9),
                                      form.times == times_of::nodes
                                        ? fmt::format(",{}", draws.below(6))
                                        : "");
    std::set<std::tuple<int, std::uint32_t, std::uint32_t>> today;
    for (int type = 0; type < form.types; ++type)
      for (std::uint32_t edge = 0, most = (day == 0 ? 6 : 1) + draws.below(25);
           edge < most; ++edge) {
        const auto a = draws.below(persons);
        const auto b = draws.below(persons);
        const auto s = day == 0 && edge < 3 ? edge : draws.below(4);
        const auto label = draws.below(5);
        const auto time = draws.below(6);
        const std::tuple pair{type, std::min(a, b), std::max(a, b)};
        if (day == 1 && !repeats && joined.contains(pair))
          continue;
        today.insert(pair);
        auto& to = out.rows[1 + type][day];
        to += fmt::format("p{},p{},{}", a, b,
                          std::array{"train", "val", "test", ""}[s]);
        if (form.kind == edge_task_kind::edge_class)
          to += day == 0 && edge < 3 ? fmt::format(",{}", "xyx"[edge])
                : label < 3          ? fmt::format(",{}", "xyy"[label])
                                     : ",";
        else if (form.kind == edge_task_kind::edge_value)
          to += label < 4 || (day == 0 && edge < 3)
                  ? fmt::format(",{}", 0.25 * label)
                  : ",";
        else
          to += s == 0   ? fmt::format(",p{}", draws.below(persons))
                : s == 2 ? fmt::format(",p{}|p{}", draws.below(persons),
                                       draws.below(persons))
                         : ",";
        if (form.times == times_of::edges || form.times == times_of::rows)
          to += fmt::format(",{}", time);
        if (form.weighted)
          to += fmt::format(",{},{}", 0.5 * draws.below(5), draws.below(3));
        to += '\n';
      }
    joined.merge(today);
  }
  return out;
}

/// Two datasets of one graph: one that has grown, and one of everything.
class two_ways {
public:
  two_ways(const graph_form& form, tables_of_days graph)
    : form_(form), graph_(std::move(graph)) {
    import(0, 0, grown_folder);
    append_options = tables(1, 1);
    append_options.choices.clear(); // The record has them.
    append_options.changes.tasks.clear();
  }

  void compare() {
    const auto grown =
      value_of(append_to_dataset(grown_folder, append_options, {}, nullptr))
        .now;
    const auto all = import(0, 1, whole_folder);
    CATCH_CHECK(grown.digest == all.digest);
    const auto a = value_of(dataset::open(grown_folder));
    const auto b = value_of(dataset::open(whole_folder));
    CATCH_CHECK(value_of(digests_of(a)).arrays
                == value_of(digests_of(b)).arrays);
    compare_counts(grown, all);
    CATCH_CHECK(value_of(inspect_dataset(a)).broken
                == std::vector<std::string>{});
  }

  /// The same but for the order of edges of one level and time in a list.
  void compare_loosely() {
    const auto grown =
      value_of(append_to_dataset(grown_folder, append_options, {}, nullptr))
        .now;
    const auto all = import(0, 1, whole_folder);
    compare_counts(grown, all);
    const auto a = value_of(dataset::open(grown_folder));
    const auto b = value_of(dataset::open(whole_folder));
    CATCH_CHECK(value_of(inspect_dataset(a)).broken
                == std::vector<std::string>{});
    for (edge_type_id e = 0; e < std::ssize(grown.edge_types); ++e) {
      CATCH_CHECK(lists_of(a, e) == lists_of(b, e));
      CATCH_CHECK(list<std::int32_t>(*a.edges(e).visible)
                  == list<std::int32_t>(*b.edges(e).visible));
    }
    for (std::size_t s = 0; s < 3; ++s) {
      const auto& one = a.task(0).splits[s];
      const auto& other = b.task(0).splits[s];
      CATCH_REQUIRE(one.has_value() == other.has_value());
      if (!one)
        continue;
      CATCH_CHECK(list<std::int64_t>(one->edges)
                  == list<std::int64_t>(other->edges));
      if (one->known) {
        CATCH_CHECK(list<std::int64_t>(one->known->ids)
                    == list<std::int64_t>(other->known->ids));
      }
      if (one->exclude) {
        CATCH_CHECK(list<std::int64_t>(one->exclude->indptr)
                    == list<std::int64_t>(other->exclude->indptr));
      }
    }
  }

  temp_folder sources;
  temp_folder parent;
  fs::path grown_folder = parent / "grown";
  fs::path whole_folder = parent / "whole";
  csv_import_options append_options;

private:
  static void compare_counts(const dataset_info& a, const dataset_info& b) {
    for (std::size_t t = 0; t < b.tasks.size(); ++t) {
      CATCH_CHECK(a.tasks[t].split_counts == b.tasks[t].split_counts);
      CATCH_CHECK(a.tasks[t].negative_counts == b.tasks[t].negative_counts);
      CATCH_CHECK(a.tasks[t].unlabelled == b.tasks[t].unlabelled);
      CATCH_CHECK(a.tasks[t].timed == b.tasks[t].timed);
    }
    for (std::size_t e = 0; e < b.edge_types.size(); ++e)
      CATCH_CHECK(a.edge_types[e].max_in_degree
                  == b.edge_types[e].max_in_degree);
  }

  /// Edges by destination and level, sorted.
  static std::vector<std::tuple<std::int64_t, int, std::int64_t, std::int64_t>>
  lists_of(const dataset& data, edge_type_id type) {
    const auto& edges = data.edges(type);
    const auto ends = list<std::int64_t>(edges.indptr);
    const auto sources = list<std::int32_t>(edges.indices);
    const auto visible = list<std::int32_t>(*edges.visible);
    const auto times = edges.times ? list<std::int64_t>(*edges.times) : ids{};
    std::vector<std::tuple<std::int64_t, int, std::int64_t, std::int64_t>> out;
    for (std::size_t d = 0; d + 1 < ends.size(); ++d)
      for (auto e = ends[d]; e < ends[d + 1]; ++e) {
        const auto at = e - ends[d];
        const auto i = static_cast<std::size_t>(e);
        out.emplace_back(static_cast<std::int64_t>(d),
                         at < visible[2 * d]       ? 0
                         : at < visible[2 * d + 1] ? 1
                                                   : 2,
                         sources[i], times.empty() ? 0 : times[i]);
      }
    std::ranges::sort(out);
    return out;
  }

  dataset_info import(int first, int last, const fs::path& folder) {
    fs::create_directory(folder);
    return value_of(import_csv(tables(first, last), folder));
  }

  csv_import_options tables(int first, int last) {
    const auto put = [&](const char* name, std::string text, int table) {
      for (auto day = first; day <= last; ++day)
        text += graph_.rows[table][day];
      std::ofstream{sources / name} << text;
      return sources / name;
    };
    csv_import_options out;
    out.times = time_unit::steps;
    out.reverse = form_.reverse;
    out.nodes = {
      {"person",
       put("p.csv", form_.times == times_of::nodes ? "id,f,born\n" : "id,f\n",
           0)}};
    auto header = std::string{"source,target,set,"}
                  + (traits_of(form_.kind).labels ? "label" : "wrong");
    out.choices = {{csv_role::task_split, "set"}};
    if (traits_of(form_.kind).labels)
      out.choices.push_back({csv_role::task_label, "label"});
    else
      out.choices.push_back({csv_role::task_negatives, "wrong"});
    if (form_.times == times_of::edges || form_.times == times_of::rows) {
      header += ",when";
      out.choices.push_back({form_.times == times_of::edges
                               ? csv_role::edge_time
                               : csv_role::task_time,
                             "when"});
    }
    if (form_.times == times_of::nodes)
      out.choices.push_back({csv_role::node_time, "born"});
    if (form_.weighted) {
      header += ",weight,counts";
      out.choices.push_back({csv_role::task_weight, "counts"});
    }
    constexpr std::array names{"person__knows__person", "person__pays__person"};
    for (int type = 0; type < form_.types; ++type)
      out.edges.push_back(
        {names[static_cast<std::size_t>(type)],
         put(type == 0 ? "e0.csv" : "e1.csv", header + "\n", 1 + type)});
    out.changes.tasks = {{.name = "learnt", .kind = form_.kind}};
    return out;
  }

  graph_form form_;
  tables_of_days graph_;
};

/// An import of one edge list with one task, which grows.
struct one_list {
  temp_folder sources;
  temp_folder parent;
  fs::path folder = parent / "set";
  std::vector<std::string> notes;
  edge_task_request task{.name = "learnt"};
  std::vector<csv_choice> choices;
  bool reverse = false;

  csv_import_options tables(const std::string& edges) {
    csv_import_options out;
    std::ofstream{sources / "e.csv"} << edges;
    out.edges = {{"node__to__node", sources / "e.csv"}};
    out.on_note = [this](std::string note) {
      notes.push_back(std::move(note));
    };
    return out;
  }
  dataset_info import(const std::string& edges) {
    fs::create_directory(folder);
    auto options = tables(edges);
    options.changes.tasks = {task};
    options.choices = choices;
    options.times = time_unit::steps;
    options.reverse = reverse;
    return value_of(import_csv(options, folder));
  }
  result<dataset_info> append(const std::string& edges,
                              new_row_splits rows = {}) {
    auto options = tables(edges);
    options.new_rows = std::move(rows);
    GRAPHMILL_TRY(const auto grown,
                  append_to_dataset(folder, options, {}, nullptr));
    notes.insert(notes.end(), grown.notes.begin(), grown.notes.end());
    return grown.now;
  }
  std::string refusal(const std::string& edges, new_row_splits rows = {}) {
    const auto before = value_of(read_dataset_info(folder)).digest;
    const auto refused = error_of(append(edges, std::move(rows))).message;
    const auto now = value_of(dataset::open(folder));
    CATCH_CHECK(value_of(content_digest(now)) == before);
    return refused;
  }
  dataset opened() {
    auto data = value_of(dataset::open(folder));
    CATCH_CHECK(value_of(inspect_dataset(data)).broken
                == std::vector<std::string>{});
    return data;
  }
  ids ends(split which) {
    const auto data = opened();
    const auto& rows = data.task(0).splits[static_cast<std::size_t>(which)];
    return rows ? list<std::int64_t>(rows->edges) : ids{};
  }
  bool has_note(const std::string& text) const {
    return std::ranges::any_of(
      notes, [&text](const std::string& note) { return has(note, text); });
  }
};

} // namespace

CATCH_TEST_CASE("tasks that grew are those of an import of everything",
                "[partition][growing][tasks]") {
  std::uint64_t seed = 0;
  for (const auto kind : {edge_task_kind::link, edge_task_kind::edge_class,
                          edge_task_kind::edge_value})
    for (const auto types : {1, 2})
      for (const auto times : {times_of::nobody, times_of::edges,
                               times_of::nodes, times_of::rows}) {
        const auto reverse = (seed / 4 + seed) % 2 == 0;
        const graph_form form{kind, types, times, reverse, ++seed % 3 == 0};
        CATCH_INFO("seed " << seed << ": " << form_text(form));
        // Else a row may raise the level of an edge of the other day.
        two_ways{form, random_tables(form, seed, !reverse)}.compare();
      }
}

CATCH_TEST_CASE("rows hold out reverses of the other day, too",
                "[partition][growing][tasks]") {
  for (std::uint64_t seed = 100; seed < 112; ++seed) {
    const graph_form form{
      static_cast<edge_task_kind>(seed % 2), 1 + static_cast<int>(seed / 2 % 2),
      std::array{times_of::nobody, times_of::edges, times_of::nodes}[seed % 3],
      true, false};
    CATCH_INFO("seed " << seed << ": " << form_text(form));
    two_ways{form, random_tables(form, seed, true)}.compare_loosely();
  }
  // On paper: a trains b -> c, and the second day tests it.
  one_list set;
  set.choices = {{csv_role::task_split, "set"}};
  set.reverse = true;
  set.import("source,target,set\na,b,train\nb,c,val\nc,a,test\n");
  const auto back = [&set] {
    return list<std::int32_t>(*set.opened().edges(1).visible);
  };
  CATCH_CHECK(back() == std::vector<std::int32_t>{1, 1, 0, 1, 0, 0});
  value_of(set.append("source,target,set\na,b,test\n"));
  CATCH_CHECK(back() == std::vector<std::int32_t>{0, 0, 0, 1, 0, 0});
  CATCH_CHECK(set.ends(split::train) == ids{0, 1});
  CATCH_CHECK(set.ends(split::test) == ids{2, 0, 0, 1});
  // The older edge still trains, and sees no edge but itself.
  const auto data = set.opened();
  CATCH_CHECK(list<std::int64_t>(data.task(0).splits[0]->exclude->ids).size()
              == 1);
}

CATCH_TEST_CASE("new rows with the nodes of an old one are counted",
                "[partition][growing][tasks]") {
  one_list set;
  set.choices = {{csv_role::task_split, "set"}};
  set.import("source,target,set\na,b,train\nb,c,val\nc,d,test\nd,a,\n");
  // Of edges in no split, and the other way, there is no row.
  value_of(set.append("source,target,set\nd,a,test\nb,a,test\nb,b,train\n"));
  CATCH_CHECK_FALSE(set.has_note("of an earlier row"));
  value_of(set.append(
    "source,target,set\na,b,test\na,b,val\nb,c,val\na,c,test\nc,d,\n"));
  CATCH_CHECK(
    set.has_note("task learnt: 3 new rows with the nodes of an earlier row"));
}

CATCH_TEST_CASE("new edges are rows of the test split, or of one that is said",
                "[partition][growing][tasks]") {
  one_list set;
  set.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25}};
  set.import("source,target\na,b\nb,c\nc,d\nd,a\n");
  const auto train = set.ends(split::train);
  const auto test = set.ends(split::test);
  CATCH_CHECK(train.size() == 4);
  const auto longer = [](ids rows, const ids& more) {
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  };
  value_of(set.append("source,target\na,c\nb,d\n"));
  CATCH_CHECK(set.ends(split::train) == train);
  CATCH_CHECK(set.ends(split::test) == longer(test, {0, 2, 1, 3}));
  value_of(set.append("source,target\nc,e\n", {{"", split::train}}));
  CATCH_CHECK(set.ends(split::train) == longer(train, {2, 4}));
  const auto rows =
    value_of(set.append("source,target\ne,a\n", {{"learnt", std::nullopt}}));
  CATCH_CHECK(rows.tasks[0].split_counts == counts{3, 1, 3});
  CATCH_CHECK(rows.edge_types[0].count == 8);
  CATCH_CHECK(value_of(read_growth(set.folder)).size() == 3);
  // What is said of one task counts for it.
  value_of(set.append("source,target\ne,b\n",
                      {{"", split::train}, {"learnt", split::test}}));
  CATCH_CHECK(set.opened().info().tasks[0].split_counts == counts{3, 1, 4});
}

CATCH_TEST_CASE("a split by pairs goes on to hide both directions",
                "[partition][growing][tasks]") {
  one_list set;
  set.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25},
                                      .order = edge_order::pair};
  set.import("source,target\na,b\nb,c\nc,d\nd,a\n");
  const auto before = set.opened().info();
  CATCH_CHECK(before.tasks[0].reverse_types[0] == 0);
  value_of(set.append("source,target\na,c\nc,a\n", {{"", split::test}}));
  const auto data = set.opened();
  const auto visible = list<std::int32_t>(*data.edges(0).visible);
  const auto degrees = list<std::int32_t>(data.edges(0).in_degrees);
  CATCH_CHECK(data.info().tasks[0].split_counts == counts{2, 1, 3});
  CATCH_CHECK(degrees[0] - visible[1] >= 1);
  CATCH_CHECK(degrees[2] - visible[5] >= 1);
}

CATCH_TEST_CASE("new edges without labels are there to be predicted",
                "[partition][growing][tasks]") {
  one_list set;
  set.task.kind = edge_task_kind::edge_class;
  set.choices = {{csv_role::task_label, "kind"}};
  set.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25}};
  set.import("source,target,kind\na,b,x\nb,c,y\nc,d,x\nd,a,y\n");
  const auto none = value_of(set.append("source,target\na,c\nc,a\n"));
  CATCH_CHECK(none.tasks[0].unlabelled == 2);
  CATCH_CHECK(none.tasks[0].split_counts == counts{2, 1, 3});
  CATCH_CHECK(set.has_note("task learnt: 2 edges of the test split without a "
                           "label kept"));
  const auto some = value_of(set.append("source,target,kind\nb,d,y\nd,b,\n"));
  CATCH_CHECK(some.tasks[0].unlabelled == 3);
  CATCH_CHECK(some.tasks[0].class_names == std::vector<std::string>{"x", "y"});
  const auto data = set.opened();
  const auto labels = list<std::int64_t>(*data.task(0).splits[2]->labels);
  CATCH_CHECK(ids{labels.end() - 4, labels.end()} == ids{-1, -1, 1, -1});
  // Rows of other splits need one.
  set.notes.clear();
  const auto trained = value_of(
    set.append("source,target,kind\nb,d,x\nd,b,\n", {{"", split::train}}));
  CATCH_CHECK(trained.tasks[0].split_counts[0] == 3);
  CATCH_CHECK(set.has_note("task learnt: 1 edge of the train split without a "
                           "label left out"));
  CATCH_CHECK_THAT(set.refusal("source,target,kind\na,b,unheard\n"),
                   contains("unheard"));
}

CATCH_TEST_CASE("a label that stands for none stands for it in new rows",
                "[partition][growing][tasks]") {
  for (const auto kind :
       {edge_task_kind::edge_class, edge_task_kind::edge_value}) {
    one_list set;
    set.task.kind = kind;
    set.choices = {{csv_role::task_label, "kind"}};
    set.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25}};
    fs::create_directory(set.folder);
    auto first = set.tables("source,target,kind\na,b,1\nb,c,2\nc,d,1\nd,a,?\n");
    first.changes.tasks = {set.task};
    first.choices = set.choices;
    first.no_label = {"?"};
    value_of(import_csv(first, set.folder));
    set.notes.clear();
    const auto grown =
      value_of(set.append("source,target,kind\na,c,?\nc,a,2\n"));
    CATCH_CHECK(grown.tasks[0].unlabelled == 1);
    CATCH_CHECK(
      set.has_note("task learnt: label ? of 1 edge says that no label is"));
    value_of(set.append("source,target,kind\nb,a,1\n"));
    CATCH_CHECK_FALSE(set.has_note("--no-label"));
  }
}

CATCH_TEST_CASE("what new rows lack is told", "[partition][growing][tasks]") {
  const std::string header = "source,target,set,wrong,counts\n";
  one_list set;
  set.choices = {{csv_role::task_split, "set"},
                 {csv_role::task_negatives, "wrong"},
                 {csv_role::task_weight, "counts"}};
  set.import(header + "a,b,train,,1\nb,c,val,a,1\nc,a,test,a|b,0.5\n");
  CATCH_CHECK_THAT(
    set.refusal(header + "a,c,test,b,1\n"),
    contains("each row of the test split has 2 negatives, and new ones have "
             "1"));
  CATCH_CHECK_THAT(set.refusal(header + "a,c,test,b|nobody,1\n"),
                   contains("the negative \"nobody\" is no node"));
  CATCH_CHECK_THAT(set.refusal("source,target,set,wrong\na,c,test,a|b\n"),
                   contains("column \"counts\""));
  CATCH_CHECK_THAT(
    set.refusal(header + "a,c,test,a|b,1\n", {{"", split::test}}),
    contains("--split test: column \"set\" of"));
  CATCH_CHECK_THAT(
    set.refusal("source,target,wrong,counts\na,c,b,1\n", {{"x", split::test}}),
    contains("has no task x; it has learnt"));
  CATCH_CHECK_THAT(set.refusal("source,target,wrong,counts\na,c,b,1\n",
                               {{"", split::test}, {"", split::train}}),
                   contains("two splits are said"));
  // A new node may be a negative, and a split without negatives has none.
  value_of(set.append(header + "a,e,test,e|b,1\nb,a,train,,2\n"));
  const auto data = set.opened();
  CATCH_CHECK(list<std::int64_t>(*data.task(0).splits[2]->negatives)
              == ids{0, 1, 3, 1});
  CATCH_CHECK(list<float>(*data.task(0).splits[0]->weights)
              == std::vector<float>{1, 2});

  // Older records do not know columns of tasks.
  nlohmann::json record;
  std::ifstream{set.folder / "columns.json"} >> record;
  record["edges"][0].erase("tasks");
  std::ofstream{set.folder / "columns.json"} << record;
  CATCH_CHECK_THAT(set.refusal(header + "a,c,test,a|b,1\n"),
                   contains("was imported by an older Graphmill"));
  record["edges"][0]["tasks"] = {{"learnt", {{"label", 7}}}};
  std::ofstream{set.folder / "columns.json"} << record;
  CATCH_CHECK_THAT(set.refusal(header + "a,c,test,a|b,1\n"),
                   contains("its columns.json is damaged"));

  one_list none;
  fs::create_directory(none.folder);
  value_of(import_csv(none.tables("source,target\na,b\n"), none.folder));
  CATCH_CHECK_THAT(none.refusal("source,target\nb,a\n", {{"", split::test}}),
                   contains("has no task of edges"));
}

CATCH_TEST_CASE("arrays of edges become rows without labels",
                "[partition][growing][tasks]") {
  one_list set;
  set.task.kind = edge_task_kind::edge_class;
  set.choices = {{csv_role::task_label, "kind"}};
  set.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25}};
  set.reverse = true;
  set.import("source,target,kind\na,b,x\nb,c,y\nc,d,x\nd,a,y\n");
  put_array<std::int64_t>(set.sources / "e.npy", {0, 1, 2, 3}, {2, 2});
  const auto append = [&set](new_row_splits rows) {
    return value_of(append_to_dataset(
                      set.folder,
                      new_arrays{.edges = {{"to", set.sources / "e.npy"}},
                                 .rows = std::move(rows)},
                      {}, nullptr))
      .now;
  };
  const auto tested = append({});
  CATCH_CHECK(tested.tasks[0].split_counts == counts{2, 1, 3});
  CATCH_CHECK(tested.tasks[0].unlabelled == 2);
  const auto ends = set.ends(split::test);
  CATCH_CHECK(ids{ends.end() - 4, ends.end()} == ids{0, 2, 1, 3});
  for (const auto& task : {"", "learnt"})
    CATCH_CHECK_THAT(
      error_of(
        append_to_dataset(set.folder,
                          new_arrays{.edges = {{"to", set.sources / "e.npy"}},
                                     .rows = {{task, split::train}}},
                          {}, nullptr))
        .message,
      contains("--split train: arrays have no labels, so their edges make no "
               "row of the task learnt there"));
  const auto kept = append({{"", std::nullopt}});
  CATCH_CHECK(kept.tasks[0].split_counts == counts{2, 1, 3});
  CATCH_CHECK(kept.edge_types[0].count == 8);

  one_list weighted;
  weighted.choices = {{csv_role::task_weight, "counts"}};
  weighted.task.split = edge_split_request{.fractions = {0.5, 0.25, 0.25}};
  weighted.import("source,target,counts\na,b,1\nb,c,2\nc,d,1\nd,a,1\n");
  CATCH_CHECK_THAT(
    error_of(append_to_dataset(
               weighted.folder,
               new_arrays{.edges = {{"", set.sources / "e.npy"}}}, {}, nullptr))
      .message,
    contains("rows of the task learnt have weights, which arrays of ends"));
}

CATCH_TEST_CASE("a split is said of one of several tasks",
                "[partition][growing][tasks]") {
  one_list set;
  const std::string header = "source,target,kind,set\n";
  auto first =
    set.tables(header + "a,b,x,train\nb,c,y,val\nc,d,x,test\nd,a,y,train\n");
  first.changes.tasks = {
    {.name = "learnt", .kind = edge_task_kind::edge_class},
    {.name = "links",
     .split = edge_split_request{.fractions = {0.5, 0.25, 0.25}}}};
  first.choices = {
    {.role = csv_role::task_label, .column = "kind", .task = "learnt"},
    {.role = csv_role::task_split, .column = "set", .task = "learnt"}};
  fs::create_directory(set.folder);
  value_of(import_csv(first, set.folder));
  const auto twice =
    set.refusal(header + "a,c,x,train\n", {{"", split::train}});
  CATCH_CHECK_THAT(twice,
                   contains("or say --split TASK=SPLIT of other tasks alone"));
  CATCH_CHECK(twice.find("import") == twice.npos);
  const auto tables =
    value_of(set.append(header + "a,c,x,val\n", {{"links", split::train}}));
  CATCH_CHECK(tables.tasks[0].split_counts == counts{2, 2, 1});
  CATCH_CHECK(tables.tasks[1].split_counts == counts{3, 1, 1});
  put_array<std::int64_t>(set.sources / "e.npy", {0, 1, 2, 3}, {2, 2});
  const auto append = [&set](new_row_splits rows) {
    return append_to_dataset(set.folder,
                             new_arrays{.edges = {{"", set.sources / "e.npy"}},
                                        .rows = std::move(rows)},
                             {}, nullptr);
  };
  CATCH_CHECK_THAT(error_of(append({{"", split::train}})).message,
                   contains("say --split learnt=test or learnt=none"));
  const auto arrays =
    value_of(append({{"", split::train}, {"learnt", split::test}})).now;
  CATCH_CHECK(arrays.tasks[0].split_counts == counts{2, 2, 3});
  CATCH_CHECK(arrays.tasks[1].split_counts == counts{5, 1, 1});
}

CATCH_TEST_CASE("nodes alone leave tasks as they are",
                "[partition][growing][tasks]") {
  const graph_form form{edge_task_kind::link, 2, times_of::edges, true, true};
  auto graph = random_tables(form, 7, true);
  graph.rows[1][1].clear();
  graph.rows[2][1].clear();
  graph.rows[0][1] = "new,3\n";
  two_ways pair{form, graph};
  const auto file = pair.grown_folder / "tasks/learnt/train.ids.npy";
  const auto before = fs::hard_link_count(file);
  pair.append_options.edges.clear();
  value_of(
    append_to_dataset(pair.grown_folder, pair.append_options, {}, nullptr));
  CATCH_CHECK(fs::hard_link_count(file) == before);
  const auto data = value_of(dataset::open(pair.grown_folder));
  CATCH_CHECK(value_of(inspect_dataset(data)).broken
              == std::vector<std::string>{});
}

CATCH_TEST_CASE("damaged rows and levels are not appended to",
                "[partition][growing][tasks]") {
  one_list set;
  set.choices = {{csv_role::task_split, "set"}};
  set.import("source,target,set\na,b,train\nb,c,val\nc,a,test\n");
  const auto replace = [&set](const char* name,
                              const std::vector<std::int64_t>& values) {
    fs::remove(set.folder / name);
    put_array<std::int64_t>(set.folder / name, values);
  };
  const auto message = [&set] {
    return error_of(set.append("source,target,set\na,c,test\n")).message;
  };
  const auto* rows = "tasks/learnt/train.ids.npy";
  const auto sound = list<std::int64_t>(set.opened().task(0).splits[0]->ids);
  replace(rows, {9});
  CATCH_CHECK_THAT(message(), contains("train.ids.npy: row 0 has edge 9"));
  replace(rows, sound);
  const auto levels = set.folder / "edges/node__to__node/visible.npy";
  fs::remove(levels);
  put_array<std::int32_t>(levels, {5, 1, 0, 0, 0, 0}, {3, 2});
  CATCH_CHECK_THAT(message(), contains("the levels of list 0 do not ascend"));
}

CATCH_TEST_CASE("parts grow with their tasks", "[partition][growing][tasks]") {
  for (const std::uint64_t seed : {3, 4}) {
    const graph_form form{edge_task_kind::link, 2, times_of::nobody, true,
                          false};
    two_ways pair{form, random_tables(form, seed, true)};
    const auto parts = pair.parent / "parts";
    value_of(prepare_partitions(
      value_of(dataset::open(pair.grown_folder)),
      {.parts = 2, .method = partition_method::random, .seed = seed}, parts));
    value_of(
      append_to_dataset(pair.grown_folder, pair.append_options, {}, nullptr));
    const auto data = value_of(dataset::open(pair.grown_folder));
    value_of(grow_partitions(data, parts));
    const auto graph = value_of(partitioned_graph::open(parts));
    const auto rows = value_of(open_task(parts, graph.info(), "learnt"));
    for (std::size_t s = 0; s < 3; ++s)
      CATCH_CHECK(rows.splits[s]->edges.rows()
                  == data.info().tasks[0].split_counts[s]);
  }
}

CATCH_TEST_CASE(
  "rows that roll forward are those of an import that trains them",
  "[partition][growing][tasks]") {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 12};
    const auto labels = seed % 2 == 0;
    const auto new_rows = seed % 3 != 0;
    one_list grown;
    one_list whole;
    for (auto* set : {&grown, &whole}) {
      set->task.kind =
        labels ? edge_task_kind::edge_class : edge_task_kind::link;
      set->choices = {{csv_role::task_split, "set"},
                      {csv_role::edge_time, "when"}};
      if (labels)
        set->choices.push_back({csv_role::task_label, "label"});
      set->reverse = seed % 4 < 2;
    }
    const std::string header =
      labels ? "source,target,set,when,label\n" : "source,target,set,when\n";
    std::string first = header;
    std::string later = header;
    std::string all = header;
    std::int64_t held = 0;
    std::int64_t unlabelled = 0;
    for (int i = 0; i < 60; ++i) {
      const auto was = i < 3 ? static_cast<std::size_t>(i) : draws.below(4);
      const auto ends =
        i < 6 ? fmt::format("n{},n{}", i, (i + 1) % 6)
              : fmt::format("n{},n{}", draws.below(6), draws.below(6));
      const auto unknown = labels && was == 2 && i > 2 && draws.below(4) == 0;
      const auto label = !labels      ? ""
                         : unknown    ? ","
                         : i % 2 == 0 ? ",x"
                                      : ",y";
      const auto row = [&](const char* set) {
        return fmt::format("{},{},{}{}\n", ends, set, 2 * i, label);
      };
      constexpr std::array names{"train", "val", "test", ""};
      if (i >= 50) {
        if (!new_rows)
          break;
        later += row(names[was]);
        all += row(names[was]);
        continue;
      }
      first += row(names[was]);
      all += row(was == 3 || unknown ? "" : "train");
      held += (was == 1 || was == 2) && !unknown ? 1 : 0;
      unlabelled += unknown ? 1 : 0;
    }
    grown.import(first);
    auto options = grown.tables(later);
    if (!new_rows)
      options.edges.clear();
    additions what = options;
    if (!new_rows)
      what = new_arrays{};
    const auto done =
      value_of(append_to_dataset(grown.folder, what, {}, nullptr, true));
    CATCH_CHECK(done.rolled_tasks.at("learnt").moved == held);
    CATCH_CHECK(done.rolled_tasks.at("learnt").left_out == unlabelled);
    const auto imported = whole.import(all);
    const auto a = grown.opened();
    const auto b = whole.opened();
    CATCH_CHECK(value_of(digests_of(a)).arrays
                == value_of(digests_of(b)).arrays);
    CATCH_CHECK(done.now.digest == imported.digest);
    CATCH_CHECK(done.now.tasks[0].split_counts
                == imported.tasks[0].split_counts);
    CATCH_CHECK(done.now.tasks[0].unlabelled == imported.tasks[0].unlabelled);
  }
}

CATCH_TEST_CASE("rows that roll forward lose negatives that training has not",
                "[partition][growing][tasks]") {
  one_list set;
  set.choices = {{csv_role::task_split, "set"},
                 {csv_role::task_negatives, "wrong"}};
  set.import("source,target,set,wrong\na,b,train,\nb,c,val,a\nc,a,test,b|c\n");
  const auto done =
    value_of(append_to_dataset(set.folder, new_arrays{}, {}, nullptr, true));
  CATCH_CHECK(done.now.tasks[0].split_counts == counts{3, 0, 0});
  CATCH_CHECK(done.now.tasks[0].negative_counts
              == decltype(done.now.tasks[0].negative_counts){});
  CATCH_CHECK_FALSE(set.opened().task(0).splits[0]->negatives);
  one_list other;
  other.choices = set.choices;
  other.import("source,target,set,wrong\na,b,train,c\nb,c,val,a|b\n");
  CATCH_CHECK_THAT(
    error_of(append_to_dataset(other.folder, new_arrays{}, {}, nullptr, true))
      .message,
    contains("they cannot train together"));
}

CATCH_TEST_CASE("a note says when held-out edges become older than training",
                "[partition][growing][tasks]") {
  const std::string header = "source,target,set,when\n";
  const auto old = header + "a,b,train,1\na,b,val,2\na,b,test,3\n";
  const auto notes_of = [&](const std::string& row) {
    one_list set;
    set.choices = {{csv_role::task_split, "set"},
                   {csv_role::edge_time, "when"}};
    set.import(old);
    value_of(set.append(header + row));
    return set.has_note("no run can train with `evaluate.visible: past`");
  };
  CATCH_CHECK(notes_of("a,b,train,4\n"));
  CATCH_CHECK(notes_of("a,b,test,0\n"));
  CATCH_CHECK_FALSE(notes_of("a,b,test,4\n"));
  CATCH_CHECK_FALSE(notes_of("b,a,test,0\n"));
}

} // namespace graphmill::test::growing_tasks
