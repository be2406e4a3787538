#include "partition/dataset/inspection/early_edges.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::csv_times {

namespace {

using numbers = std::vector<std::int64_t>;
constexpr std::int64_t second = 1'000'000;

struct timed_import {
  csv_import_options options{};
  temp_folder source{};
  temp_folder out{};
  inspection found{};

  csv_table table(const char* type, const char* name, const std::string& text) {
    std::ofstream{source / name} << text;
    return {type, source / name};
  }
  result<dataset> operator()() {
    GRAPHMILL_TRYV(import_csv(options, out.path()));
    GRAPHMILL_TRY(auto data, dataset::open(out.path()));
    GRAPHMILL_TRY(found, inspect_dataset(data));
    CATCH_CHECK(found.broken == std::vector<std::string>{});
    return data;
  }
};

} // namespace

CATCH_TEST_CASE("a column has the times of edges, also of both directions",
                "[partition][import][csv][times]") {
  timed_import take;
  take.options.edges = {take.table("", "e.csv",
                                   "source,target,when\n"
                                   "a,b,1289241912\n"
                                   "c,b,1289241911.5\n"
                                   "b,a,1289241913\n")};
  take.options.choices = {{csv_role::edge_time, "when"}};
  take.options.reverse = true;
  take.options.changes.tasks = {
    {.split = edge_split_request{.fractions = {0.4, 0.3, 0.3},
                                 .order = edge_order::time}}};
  const auto data = value_of(take());
  CATCH_CHECK(data.info().edge_types[0].timed);
  CATCH_CHECK(data.info().edge_types[1].timed);
  // Each list has one edge of each level at most.
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1'289'241'913 * second,
                         1'289'241'911 * second + second / 2,
                         1'289'241'912 * second});
  const auto& task = data.info().tasks.at(0);
  CATCH_CHECK(task.timed);
  const auto& train = data.task(0).splits[0];
  CATCH_REQUIRE(train);
  CATCH_CHECK(list<double>(*train->times).front() == 1'289'241'911 * 1e6 + 5e5);
}

CATCH_TEST_CASE("a column has the times of nodes",
                "[partition][import][csv][times]") {
  timed_import take;
  take.options.nodes = {take.table("paper", "n.csv",
                                   "id,year,label\n"
                                   "a,2001,x\nb,1999,y\nc,2005,x\n")};
  take.options.edges = {take.table("paper__cites__paper", "e.csv",
                                   "source,target\nb,a\na,c\nb,c\n")};
  take.options.choices = {{csv_role::node_time, "year"}};
  take.options.changes.split =
    split_request{.fractions = {0.34, 0.33, 0.33}, .order = split_order::time};
  CATCH_CHECK(has(take().error().message, "--time-unit"));
  take.options.times = time_unit::steps;
  timed_import again{.options = take.options};
  const auto data = value_of(again());
  CATCH_CHECK(data.info().ticks_per_second == 1);
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).times)
              == numbers{2001, 1999, 2005});
  // Edges have the times of their sources.
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1999, 1999, 2001});
  CATCH_CHECK(list<std::int64_t>(*data.nodes(0).splits[0]) == numbers{1});
}

CATCH_TEST_CASE("the times of nodes split label sets, and say what to fit on",
                "[partition][import][csv][times]") {
  timed_import take;
  take.options.nodes = {
    take.table("paper", "n.csv",
               "id,year,label,label.z,f\n"
               "a,2001,x,u,1\nb,1999,y,v,2\nc,2005,x,u,9\nd,2000,y,u,4\n")};
  take.options.choices = {{csv_role::node_time, "year"}};
  take.options.times = time_unit::steps;
  take.options.changes.split =
    split_request{.fractions = {0.5, 0.25, 0.25}, .order = split_order::time};
  take.options.normalise = row_norm::standardise;
  take.options.fit_on_training = true;
  const auto data = value_of(take());
  const auto& nodes = data.nodes(0);
  for (const auto* splits : {&nodes.splits, &nodes.label_sets[0].splits})
    CATCH_CHECK(list<std::int64_t>(*splits->front()) == numbers{1, 3});
  // By the training nodes: their mean is 3, and both are 1 from it.
  CATCH_CHECK(list<float>(*nodes.features) == std::vector<float>{-2, -1, 6, 1});
}

CATCH_TEST_CASE("an import says what times were taken for",
                "[partition][import][csv][times]") {
  timed_import take;
  std::vector<std::string> notes;
  take.options.on_note = [&notes](const std::string& note) {
    notes.push_back(note);
  };
  take.options.nodes = {
    take.table("user", "n.csv", "id,born\na,1999-01-02\nb,2001-02-03\n")};
  take.options.edges = {
    take.table("user__likes__user", "e.csv",
               "source,target,when\na,b,1289241912\nb,a,1289241911\n")};
  take.options.choices = {{csv_role::edge_time, "when"},
                          {csv_role::node_time, "born"}};
  value_of(take());
  for (const auto* told :
       {"n.csv: times of user are ISO 8601 dates, from 1999-01-02T00:00:00Z to "
        "2001-02-03T00:00:00Z",
        "e.csv: times of edges are seconds since 1970, from "
        "2010-11-08T18:45:11Z to 2010-11-08T18:45:12Z"})
    CATCH_CHECK(std::ranges::count(notes, told) == 1);
}

CATCH_TEST_CASE("no edge with a time takes the place of another",
                "[partition][import][csv][times]") {
  for (const auto& [changes, says] :
       {std::pair{graph_changes{.all_undirected = true},
                  "take --reverse, which keeps all edges"},
        std::pair{graph_changes{.duplicates = duplicate_edges::sum},
                  "--duplicates sum: "}}) {
    timed_import take;
    take.options.edges = {take.table("", "e.csv",
                                     "source,target,weight,when\n"
                                     "a,b,1,1289241912\n"
                                     "a,b,2,1289241913\n")};
    take.options.choices = {{csv_role::edge_time, "when"}};
    take.options.changes = changes;
    const auto done = take();
    CATCH_REQUIRE_FALSE(done);
    CATCH_INFO(done.error().message);
    CATCH_CHECK(has(done.error().message, says));
    CATCH_CHECK(has(done.error().message, "times of their own"));
  }
}

CATCH_TEST_CASE("rows of edges with times are duplicates if all columns are "
                "the same",
                "[partition][import][csv][times]") {
  timed_import take;
  std::vector<std::string> notes;
  take.options.on_note = [&notes](const std::string& note) {
    notes.push_back(note);
  };
  take.options.edges = {take.table("", "e.csv",
                                   "source,target,when,sum,text,set\n"
                                   "a,b,1289241912,1,x,train\n"
                                   "a,b,1289241912,1,y,train\n" // Dropped.
                                   "a,b,1289241912,3,x,train\n"
                                   "a,b,1289241913,1,x,train\n"
                                   "a, b ,1289241912,1,z,train\n" // Dropped.
                                   "a,b,1289241912,1,x,test\n")};
  take.options.choices = {{csv_role::edge_time, "when"},
                          {csv_role::feature, "sum"},
                          {csv_role::ignore, "text"},
                          {csv_role::task_split, "set"}};
  take.options.features = {{"node__to__node",
                            {{.column = "sum",
                              .kind = "number",
                              .options = {{"scale", {"min-max"}}}}}}};
  take.options.fit_on_training = true;
  take.options.changes.duplicates = duplicate_edges::drop;
  take.options.reverse = true;
  const auto data = value_of(take());
  CATCH_CHECK(data.info().edge_types[0].count == 4);
  CATCH_CHECK(data.info().edge_types[1].count == 4);
  CATCH_CHECK(list<std::int64_t>(*data.edges(0).times)
              == numbers{1'289'241'912 * second, 1'289'241'912 * second,
                         1'289'241'913 * second, 1'289'241'912 * second});
  CATCH_CHECK(list<float>(*data.edges(0).features)
              == std::vector<float>{0, 1, 0, 0});
  CATCH_CHECK(data.info().tasks.at(0).split_counts
              == std::array<std::int64_t, 3>{3, 0, 1});
  CATCH_CHECK(std::ranges::count(notes,
                                 "e.csv: 2 rows equal to an earlier one in all "
                                 "columns dropped")
              == 1);
}

CATCH_TEST_CASE("edges before the time of a node are counted",
                "[partition][import][csv][times]") {
  const auto imported = [](bool own_times) {
    timed_import take;
    take.options.nodes = {take.table(
      "user", "n.csv", "id,born\na,2010-01-01\nb,2012-01-01\nc,2014-01-01\n")};
    take.options.edges = {take.table("user__pays__user", "e.csv",
                                     "source,target,when\n"
                                     "a,b,2012-01-01\n" // As old as b.
                                     "a,b,2011-01-01\n" // b is younger.
                                     "c,a,2013-01-01\n" // c is younger.
                                     "b,a,2015-01-01\n")};
    take.options.choices = {
      {csv_role::node_time, "born"},
      {own_times ? csv_role::edge_time : csv_role::ignore, "when"}};
    take.options.reverse = true;
    return std::pair{value_of(notes_on_early_edges(value_of(take()))),
                     take.found.edge_types.at(0).early};
  };
  const auto own = imported(true);
  CATCH_CHECK(own.second == 2);
  CATCH_REQUIRE(own.first.size() == 2);
  CATCH_CHECK(has(own.first[0], "user__pays__user: 2 of 4 edges are before the "
                                "time of one of their nodes"));
  // Edges that have the times of their sources cite what is older, or younger.
  const auto sources = imported(false);
  CATCH_CHECK(sources.second == 0);
  CATCH_CHECK(sources.first.empty());
}

CATCH_TEST_CASE(
  "a dataset like another one knows the columns of each edge type",
  "[partition][import][csv][times]") {
  timed_import take;
  take.options.edges = {
    take.table("account__pays__account", "m1.csv",
               "payer,payee,ts\na,b,1289241912\nb,a,1289241913\n"),
    take.table("account__uses__device", "m2.csv",
               "payer,device,ts\na,d,1289241912\nb,d,1289241913\n")};
  take.options.choices = {{csv_role::source, "payer"},
                          {csv_role::destination, "pays=payee"},
                          {csv_role::destination, "uses=device"},
                          {csv_role::edge_time, "ts"}};
  const auto first = value_of(take());
  timed_import like;
  like.options.edges = take.options.edges;
  like.options.like = take.out.path();
  const auto data = value_of(like());
  for (edge_type_id type = 0; type < 2; ++type)
    CATCH_CHECK(list<std::int64_t>(*data.edges(type).times)
                == list<std::int64_t>(*first.edges(type).times));
  // What the user says of one of them leaves the other alone.
  timed_import other;
  other.options = like.options;
  other.options.edges[0] = other.table("account__pays__account", "m3.csv",
                                       "by,payee,ts\na,b,1289241912\n");
  other.options.choices = {{csv_role::source, "m3.csv=by"}};
  CATCH_CHECK(value_of(other()).info().edge_types[1].count == 2);
}

CATCH_TEST_CASE("times of edges that are unclear are bad rows",
                "[partition][import][csv][times]") {
  for (const auto& [text, says] :
       {std::pair{"yesterday", "e.csv:2: the time \"yesterday\" is neither"},
        std::pair{"9999-12-31", "e.csv:2: the time \"9999-12-31\" is too far"},
        std::pair{"7", "--time-unit"}}) {
    timed_import take;
    take.options.edges = {take.table(
      "", "e.csv", std::string{"source,target,when\na,b,"} + text + "\n")};
    take.options.choices = {{csv_role::edge_time, "when"}};
    const auto done = take();
    CATCH_REQUIRE_FALSE(done);
    CATCH_INFO(done.error().message);
    CATCH_CHECK(has(done.error().message, says));
  }
}

CATCH_TEST_CASE("a row that is left out settles no form of times",
                "[partition][import][csv][times]") {
  // What is wrong with the first row, besides its time.
  for (const auto* bad :
       {"a,b,2024-05-01,-1,train,x\n", "a,b,2024-05-01,1,never,x\n",
        "a,b,2024-05-01,1,train,many\n"}) {
    CATCH_INFO(bad);
    for (const auto tabled : {false, true}) {
      timed_import take;
      take.options.skip_bad_rows = 1;
      take.options.edges = {
        take.table("node__to__node", "e.csv",
                   std::string{"source,target,when,weight,set,f\n"} + bad
                     + "a,b,2024-05-01T08:00,1,train,1\n"
                       "b,c,2024-05-01T09:00,1,test,2\n")};
      if (tabled)
        take.options.nodes = {take.table("node", "n.csv", "id\na\nb\nc\n")};
      take.options.choices = {{csv_role::edge_time, "when"},
                              {csv_role::task_split, "set"},
                              {csv_role::feature, "f"}};
      if (std::string{bad}.ends_with("x\n"))
        take.options.choices.back().role = csv_role::ignore;
      const auto data = value_of(take());
      CATCH_CHECK(data.info().edge_types[0].count == 2);
    }
  }
  timed_import nodes;
  nodes.options.skip_bad_rows = 1;
  nodes.options.nodes = {nodes.table("node", "n.csv",
                                     "id,born,split\n"
                                     "a,2024-05-01,never\n"
                                     "b,2024-05-01T08:00,\n"
                                     "c,2024-05-01T09:00,\n")};
  nodes.options.choices = {{csv_role::node_time, "born"}};
  CATCH_CHECK(value_of(nodes()).info().node_types[0].count == 2);
}

} // namespace graphmill::test::csv_times
