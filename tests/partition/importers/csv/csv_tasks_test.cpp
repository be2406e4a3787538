#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/read_dataset.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using id_list = std::vector<std::int64_t>;

/// Edge lists with a task, imported.
struct task_import {
  csv_import_options options{};
  temp_folder source{};
  temp_folder out{};
  inspection found{};

  std::filesystem::path file(const char* name, const std::string& text) {
    std::ofstream{source / name} << text;
    return source / name;
  }

  result<dataset> operator()() {
    GRAPHMILL_TRYV(import_csv(options, out.path()));
    GRAPHMILL_TRY(auto data, dataset::open(out.path()));
    GRAPHMILL_TRY(found, inspect_dataset(data));
    CATCH_CHECK(found.broken == std::vector<std::string>{});
    return data;
  }

  result<dataset> operator()(const std::string& text) {
    options.edges = {{"", file("e.csv", text)}};
    return (*this)();
  }
};

const task_split_arrays& rows_in(const dataset& data, split which) {
  const auto& rows = data.task(0).splits[static_cast<std::size_t>(which)];
  CATCH_REQUIRE(rows);
  return *rows;
}

id_list edges_in(const dataset& data, split which) {
  return list<std::int64_t>(rows_in(data, which).edges);
}

edge_split_request shares(double train, double val, double test,
                          edge_order order = edge_order::random) {
  return {.fractions = {train, val, test}, .order = order, .seed = 3};
}

} // namespace

CATCH_TEST_CASE("columns say label, split, time, weight and negatives of edges",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.task = {.kind = edge_task_kind::edge_class};
  take.options.choices = {{csv_role::task_label, "sign"},
                          {csv_role::task_split, "set"},
                          {csv_role::task_time, "when"},
                          {csv_role::task_weight, "counts"}};
  const auto data = value_of(take("source,target,sign,set,when,counts\n"
                                  "a,b,good,train,5,1\n"
                                  "b,a,bad,test,7,2\n"
                                  "c,a,,train,8,1\n" // No label.
                                  "a,c,bad,train,1.5,0.5\n"
                                  "c,b,good,,9,1\n")); // In no split.
  const auto& task = data.info().tasks.at(0);
  CATCH_CHECK(task.name == "edge_class");
  CATCH_CHECK(task.class_names == std::vector<std::string>{"bad", "good"});
  CATCH_CHECK(task.split_counts == std::array<std::int64_t, 3>{2, 0, 1});
  const auto& train = rows_in(data, split::train);
  CATCH_CHECK(list<std::int64_t>(train.edges) == id_list{0, 1, 0, 2});
  CATCH_CHECK(list<std::int64_t>(*train.labels) == id_list{1, 0});
  CATCH_CHECK(list<double>(*train.times) == std::vector<double>{5, 1.5});
  CATCH_CHECK(list<float>(*train.weights) == std::vector<float>{1, 0.5f});
  CATCH_CHECK(list<std::int64_t>(*rows_in(data, split::test).labels)
              == id_list{0});
}

CATCH_TEST_CASE("numbers of a task have a decimal comma where one is asked for",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.task = {.kind = edge_task_kind::edge_value};
  take.options.choices = {{csv_role::task_label, "sum"},
                          {csv_role::task_split, "set"},
                          {csv_role::task_time, "when"},
                          {csv_role::task_weight, "counts"}};
  take.options.separator = ';';
  take.options.decimal_commas = true;
  const auto data = value_of(take("source;target;sum;set;when;counts\n"
                                  "a;b;1,5;train;2,5;0,5\n"
                                  "b;a;2;test;3;1\n"));
  const auto& train = rows_in(data, split::train);
  CATCH_CHECK(list<float>(*train.labels) == std::vector<float>{1.5f});
  CATCH_CHECK(list<double>(*train.times) == std::vector<double>{2.5});
  CATCH_CHECK(list<float>(*train.weights) == std::vector<float>{0.5f});
}

CATCH_TEST_CASE("triples in three files are a task of links of all relations",
                "[partition][import][csv][tasks]") {
  task_import take;
  const auto train =
    take.file("train.txt", "a likes b\nb likes c\na hates c\n");
  const auto val = take.file("valid.txt", "c likes a\n");
  const auto test = take.file("test.txt", "b hates a\nd likes b\n");
  take.options.edges = {{"", train}, {"", val}, {"", test}};
  take.options.choices = {{csv_role::source, "1"},
                          {csv_role::relation, "2"},
                          {csv_role::destination, "3"}};
  take.options.edge_header = false;
  take.options.task_files = {{train.string(), split::train},
                             {val.string(), split::validation},
                             {test.string(), split::test}};
  take.options.reverse = true;
  const auto data = value_of(take());
  const auto& task = data.info().tasks.at(0);
  CATCH_CHECK(task.name == "link");
  CATCH_CHECK(task.edge_types == std::vector<edge_type_id>{0, 1});
  CATCH_CHECK(task.reverse_types
              == std::vector<std::optional<edge_type_id>>{2, 3});
  CATCH_CHECK(edges_in(data, split::train) == id_list{0, 1, 1, 2, 0, 2});
  CATCH_CHECK(list<std::int32_t>(*rows_in(data, split::train).types)
              == std::vector<std::int32_t>{0, 0, 1});
  CATCH_CHECK(edges_in(data, split::validation) == id_list{2, 0});
  // Rows go relation by relation: "likes" first.
  CATCH_CHECK(edges_in(data, split::test) == id_list{3, 1, 1, 0});
  // The reverse of c -> a ends at c and is hidden until the test.
  CATCH_CHECK(list<std::int32_t>(*data.edges(2).visible)
              == std::vector<std::int32_t>{1, 1, 1, 1, 0, 1, 0, 0});
  const auto& found = take.found;
  CATCH_REQUIRE(found.tasks.size() == 1);
  CATCH_CHECK(found.tasks[0].overlapping == 0);
  CATCH_CHECK(found.tasks[0].reversed == 0);
  CATCH_CHECK(found.tasks[0].unseen == 1); // d
}

CATCH_TEST_CASE("inspect counts overlaps, repetitions and reverse rows",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.choices = {{csv_role::task_split, "set"}};
  const auto data = value_of(take("source,target,set\n"
                                  "a,b,train\n"
                                  "a,b,train\n"
                                  "b,a,test\n"
                                  "a,b,val\n"
                                  "c,c,test\n"));
  const auto& found = take.found;
  CATCH_REQUIRE(found.tasks.size() == 1);
  CATCH_CHECK(found.tasks[0].repeated == 1);
  CATCH_CHECK(found.tasks[0].overlapping == 1);
  CATCH_CHECK(found.tasks[0].reversed == 1);
  CATCH_CHECK(found.tasks[0].unseen == 1);
}

CATCH_TEST_CASE("shares split edges by chance, by pair and by time",
                "[partition][import][csv][tasks]") {
  std::string text = "source,target,when\n";
  for (int i = 0; i < 40; ++i)
    text +=
      fmt::format("{},{},{}\n{},{},{}\n", i, i + 1, 100 - i, i + 1, i, 100 - i);
  std::int64_t reversed = 0; // Of the last one.
  const auto imported = [&](const edge_split_request& request,
                            bool undirected = false) {
    task_import take;
    take.options.changes.task = {.split = request};
    take.options.changes.all_undirected = undirected;
    take.options.choices = {{csv_role::task_time, "when"}};
    auto data = value_of(take(text));
    reversed = take.found.tasks.at(0).reversed;
    return data;
  };
  const auto by_chance = imported(shares(0.5, 0.25, 0.25));
  CATCH_CHECK(by_chance.info().tasks[0].split_counts
              == std::array<std::int64_t, 3>{40, 20, 20});
  CATCH_CHECK_FALSE(by_chance.info().tasks[0].reverse_types[0]);
  CATCH_CHECK(reversed > 0);
  const auto by_pair = imported(shares(0.5, 0.25, 0.25, edge_order::pair));
  CATCH_CHECK(by_pair.info().tasks[0].split_counts
              == std::array<std::int64_t, 3>{40, 20, 20});
  CATCH_CHECK(reversed == 0);
  // Times 61 to 100, each twice: numpy.quantile(times, 0.7) is 88.3.
  const auto by_time = imported(shares(0.7, 0.15, 0.15, edge_order::time));
  const auto times = list<double>(*rows_in(by_time, split::train).times);
  CATCH_CHECK(times.size() == 56);
  CATCH_CHECK(times.front() == 61);
  CATCH_CHECK(times.back() == 88);
  CATCH_CHECK(std::ranges::is_sorted(times));
  CATCH_CHECK(list<double>(*rows_in(by_time, split::test).times).front() == 95);
  // An undirected edge is one row, whose other direction goes with it.
  const auto once = imported(shares(0.85, 0.05, 0.1), true);
  CATCH_CHECK(once.info().tasks[0].split_counts
              == std::array<std::int64_t, 3>{34, 2, 4});
  CATCH_CHECK(once.info().tasks[0].reverse_types[0] == edge_type_id{0});
  const auto visible = list<std::int32_t>(*once.edges(0).visible);
  std::int64_t shown = 0;
  for (std::size_t i = 0; i < visible.size(); i += 2)
    shown += visible[i];
  CATCH_CHECK(shown == 68);
}

CATCH_TEST_CASE("given negatives are nodes, and as many for each row",
                "[partition][import][csv][tasks]") {
  const auto* good = "source,target,set,wrong\n"
                     "a,b,train,\n"
                     "b,c,test,a|b\n"
                     "c,a,test,c b\n";
  const std::vector<csv_choice> choices{{csv_role::task_split, "set"},
                                        {csv_role::task_negatives, "wrong"}};
  task_import take{{.choices = choices}};
  const auto data = value_of(take(good));
  CATCH_CHECK(data.info().tasks[0].negative_counts
              == std::array<std::int64_t, 3>{0, 0, 2});
  CATCH_CHECK(list<std::int64_t>(*rows_in(data, split::test).negatives)
              == id_list{0, 1, 2, 1});
  task_import unknown{{.choices = choices}};
  CATCH_CHECK(
    has(error_of(unknown("source,target,set,wrong\na,b,test,z\n")).message,
        "e.csv:2: the negative \"z\" is no node of type node"));
  task_import uneven{{.choices = choices}};
  CATCH_CHECK(has(error_of(uneven("source,target,set,wrong\na,b,test,a\n"
                                  "b,a,test,a b\n"))
                    .message,
                  "row 1 of the test split has 2 negatives; 1 expected"));
}

CATCH_TEST_CASE("what a task lacks, and what it cannot use, is told",
                "[partition][import][csv][tasks]") {
  struct row {
    edge_task_request task;
    std::vector<csv_choice> choices;
    const char* expected;
  };
  const std::vector<row> table{
    {{}, {}, "task link: nothing says which edges train: say --split-edges"},
    {{.kind = edge_task_kind::edge_class, .split = shares(1, 0, 0)},
     {},
     "--task-kind edge_class: no edge list has a column of labels"},
    {{.split = shares(1, 0, 0)},
     {{csv_role::task_label, "l"}},
     "--task-label: a task of kind link has no labels"},
    {{.split = shares(1, 0, 0)},
     {{csv_role::task_split, "s"}},
     "--split-edges: the source says the splits of edges already"},
    {{.split = shares(0.5, 0.2, 0.3, edge_order::time)},
     {},
     "--split-edges by time: no edge list has a column of times"},
    {{.edge_types = {"likes"}, .split = shares(1, 0, 0)},
     {},
     "--task-edges likes: there is no such edge type"},
    {{.kind = edge_task_kind::edge_value, .split = shares(1, 0, 0)},
     {{csv_role::task_label, "s"}},
     "e.csv:2: the label \"train\" is no finite number"},
    {{}, {{csv_role::task_split, "l"}}, "e.csv:2: split \"x\""},
  };
  for (const auto& [task, choices, expected] : table) {
    CATCH_INFO(expected);
    task_import take;
    take.options.changes.task = task;
    take.options.choices = choices;
    for (const auto* column : {"l", "s"})
      if (std::ranges::none_of(choices, [column](const csv_choice& one) {
            return one.column == column;
          }))
        take.options.ignore.emplace_back(column);
    CATCH_CHECK(has(error_of(take("source,target,l,s\na,b,x,train\n")).message,
                    expected));
  }
}
