#include "partition/dataset/inspection/class_census.hpp"
#include "partition/dataset/inspection/inspect.hpp"
#include "partition/dataset/inspection/task_findings.hpp"
#include "partition/dataset/task_checks.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/partition/importers/npy/array_list.hpp"
#include "tests/partition/importers/read_dataset.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <cmath>
#include <fstream>
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

const task_split_arrays& rows_in(const dataset& data, split which,
                                 std::size_t task = 0) {
  const auto& rows = data.task(task).splits[static_cast<std::size_t>(which)];
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
  take.options.changes.tasks = {{.kind = edge_task_kind::edge_class}};
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
  take.options.changes.tasks = {{.kind = edge_task_kind::edge_value}};
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
  CATCH_CHECK(found.tasks[0].shown_back == 1);
  CATCH_CHECK(found.tasks[0].unseen == 1);
}

CATCH_TEST_CASE("an import tells of held-out links whose other direction is in "
                "no split",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.choices = {{csv_role::task_split, "set"}};
  const auto data = value_of(take("source,target,set\n"
                                  "a,b,train\n"
                                  "b,a,\n"
                                  "b,c,val\n"
                                  "c,b,\n"
                                  "c,d,test\n"
                                  "d,c,test\n" // Hidden as c -> d is.
                                  "a,a,test\n"));
  CATCH_CHECK(take.found.tasks.at(0).reversed == 0);
  CATCH_CHECK(take.found.tasks.at(0).shown_back == 1);
  const auto notes = notes_on_tasks(data);
  CATCH_REQUIRE(notes.size() == 1);
  CATCH_CHECK_THAT(notes[0],
                   contains("other direction of 1 of 4 held-out links"));
}

CATCH_TEST_CASE("inspect counts rows of relations that nobody trains, and rows "
                "without negatives",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.choices = {{csv_role::relation, "how"},
                          {csv_role::task_split, "set"}};
  const auto data = value_of(take("source,target,how,set\n"
                                  "a,a,likes,train\n"
                                  "a,b,likes,val\n" // a likes all.
                                  "b,a,hates,test\n"
                                  "b,b,knows,test\n"
                                  "a,b,knows,train\n"
                                  "b,a,knows,val\n")); // b knows all.
  const auto& found = take.found.tasks.at(0);
  CATCH_CHECK(found.untrained == 1);
  CATCH_CHECK(found.without_others == std::array<std::int64_t, 2>{3, 1});
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
    take.options.changes.tasks = {{.split = request}};
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

CATCH_TEST_CASE("several tasks have columns of their own, and share others",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.tasks = {
    {.name = "links"},
    {.name = "sign", .kind = edge_task_kind::edge_class},
    {.name = "sum", .kind = edge_task_kind::edge_value}};
  take.options.choices = {{csv_role::task_label, "sign=sign"},
                          {csv_role::task_label, "value"},
                          {csv_role::task_split, "set"},
                          {csv_role::task_split, "sum=other"},
                          {csv_role::task_weight, "sum=e.csv=counts"},
                          {csv_role::task_time, "links=value"}};
  const auto data = value_of(take("source,target,sign,value,set,other,counts\n"
                                  "a,b,good,1,train,,1\n"
                                  "b,a,bad,2,test,train,2\n"
                                  "c,a,,3,train,val,3\n"
                                  "a,c,bad,4,,test,4\n"));
  const auto& tasks = data.info().tasks;
  CATCH_REQUIRE(tasks.size() == 3);
  CATCH_CHECK(tasks[0].kind == edge_task_kind::link);
  CATCH_CHECK(tasks[0].split_counts == std::array<std::int64_t, 3>{2, 0, 1});
  CATCH_CHECK(tasks[0].timed);
  CATCH_CHECK(list<double>(*rows_in(data, split::train).times)
              == std::vector<double>{1, 3});
  CATCH_CHECK(tasks[1].split_counts == std::array<std::int64_t, 3>{1, 0, 1});
  CATCH_CHECK_FALSE(tasks[1].timed);
  CATCH_CHECK_FALSE(tasks[1].weighted);
  CATCH_CHECK(list<std::int64_t>(*rows_in(data, split::test, 1).labels)
              == id_list{0});
  CATCH_CHECK(tasks[2].split_counts == std::array<std::int64_t, 3>{1, 1, 1});
  CATCH_CHECK(list<float>(*rows_in(data, split::validation, 2).labels)
              == std::vector<float>{3});
  CATCH_CHECK(list<float>(*rows_in(data, split::validation, 2).weights)
              == std::vector<float>{3});
  // b -> a is held out until the test by two tasks, and trains the third one.
  CATCH_CHECK(list<std::int32_t>(*data.edges(0).visible)
              == std::vector<std::int32_t>{0, 1, 1, 1, 0, 0});
  CATCH_CHECK(take.found.tasks.size() == 3);
}

CATCH_TEST_CASE("a row that is wrong for one task is a row of none",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.tasks = {
    {.name = "sign", .kind = edge_task_kind::edge_class},
    {.name = "sum", .kind = edge_task_kind::edge_value}};
  take.options.choices = {{csv_role::task_label, "sign=sign"},
                          {csv_role::task_label, "sum=value"},
                          {csv_role::task_split, "set"}};
  take.options.skip_bad_rows = 1;
  const auto data = value_of(take("source,target,sign,value,set\n"
                                  "a,b,good,1,train\n"
                                  "b,a,bad,x,train\n"
                                  "c,a,fine,3,train\n"));
  for (std::size_t task = 0; task < 2; ++task)
    CATCH_CHECK(list<std::int64_t>(rows_in(data, split::train, task).edges)
                == id_list{0, 1, 2, 0});
  CATCH_CHECK(data.info().tasks[0].class_names
              == std::vector<std::string>{"fine", "good"});
  CATCH_CHECK(list<float>(*rows_in(data, split::train, 1).labels)
              == std::vector<float>{1, 3});
}

CATCH_TEST_CASE("tasks of two edge lists take nothing from each other",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.edges = {
    {"user__buys__item", take.file("b.csv", "user,item,set,day\n"
                                            "u,i,train,4\n"
                                            "v,i,test,5\n")},
    {"user__knows__user", take.file("k.csv", "source,target,set\n"
                                             "u,v,val\n"
                                             "v,u,train\n")}};
  take.options.changes.tasks = {{.name = "buy", .edge_types = {"buys"}},
                                {.name = "know", .edge_types = {"knows"}}};
  take.options.choices = {{csv_role::task_split, "set"},
                          {csv_role::task_time, "day"}};
  const auto data = value_of(take());
  const auto& tasks = data.info().tasks;
  CATCH_CHECK(tasks[0].timed);
  CATCH_CHECK_FALSE(tasks[1].timed);
  CATCH_CHECK(tasks[0].split_counts == std::array<std::int64_t, 3>{1, 0, 1});
  CATCH_CHECK(tasks[1].split_counts == std::array<std::int64_t, 3>{1, 1, 0});
}

CATCH_TEST_CASE("files of splits may be patterns",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.file("train-1.csv", "source,target\na,b\n");
  take.file("train-2.csv", "source,target\nb,c\n");
  const auto pattern = take.source / "train-*.csv";
  const auto test = take.file("test.csv", "source,target\nc,a\n");
  take.options.edges = {{"", pattern}, {"", test}};
  take.options.task_files = {{pattern.string(), split::train},
                             {test.string(), split::test}};
  const auto data = value_of(take());
  CATCH_CHECK(data.info().tasks.at(0).split_counts
              == std::array<std::int64_t, 3>{2, 0, 1});
}

CATCH_TEST_CASE("what several tasks cannot share is told",
                "[partition][import][csv][tasks]") {
  struct row {
    std::vector<edge_task_request> tasks;
    std::vector<csv_choice> choices;
    const char* expected;
  };
  const edge_task_request by_class{.name = "sign",
                                   .kind = edge_task_kind::edge_class};
  const edge_task_request by_value{.name = "sum",
                                   .kind = edge_task_kind::edge_value};
  const csv_choice splits{csv_role::task_split, "s"};
  const std::vector<row> table{
    {{by_class, by_class},
     {{csv_role::task_label, "l"}, splits},
     "--task-kind: two tasks are called sign; give each a name: --task-kind "
     "NAME=edge_class"},
    {{{.name = "a"}, {.name = "b"}},
     {{csv_role::task_label, "l"}, splits},
     "--task-label l: none of the tasks a, b takes it: each has a column of "
     "its own, or no labels"},
    {{{.name = "a"}, by_class},
     {{csv_role::task_label, "a=l"}, {csv_role::task_label, "s"}},
     "--task-label: a task of kind link has no labels"},
    {{by_class, by_value},
     {{csv_role::task_time, "sign=l"},
      {csv_role::task_time, "sum=l"},
      splits,
      {csv_role::task_time, "s"}},
     "--task-time s: none of the tasks sign, sum takes it"},
    {{by_class, by_value},
     {{csv_role::task_label, "sign=l"}, splits},
     "--task-kind edge_value: no edge list has a column of labels"},
    {{by_class, {.name = "to"}},
     {{csv_role::task_label, "to=l"}, splits},
     "--task-label to=l: to is a task and a table; give the task another name, "
     "or say to=to=l for this table of the task"},
    {{by_class, {.name = "b", .split = shares(1, 0, 0)}},
     {{csv_role::task_label, "l"}, splits},
     "leave one of both out for the task b, or say TASK= before each"},
    {{by_class},
     {{csv_role::task_label, "l"}, {csv_role::task_split, "l"}},
     "column \"l\" cannot be both task-label and task-split"},
    {{by_class},
     {{csv_role::task_label, "l"}, {csv_role::feature, "l"}},
     "column \"l\" cannot be both task-label and feature, for each column is "
     "read once: repeat it in the table under another name"},
    {{by_class},
     {{csv_role::task_label, "l"}, {csv_role::task_label, "s"}},
     "columns \"l\" and \"s\" are both --task-label of the task sign"},
    {{by_class},
     {{csv_role::task_label, "sgn=l"}, splits},
     "--task-label sgn=l: no table has such a column"},
  };
  for (const auto& [tasks, choices, expected] : table) {
    CATCH_INFO(expected);
    task_import take;
    take.options.changes.tasks = tasks;
    take.options.choices = choices;
    take.options.ignore = {"*"};
    CATCH_CHECK_THAT(error_of(take("source,target,l,s\na,b,x,train\n")).message,
                     contains(expected));
  }
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
  task_import broken;
  broken.options.changes.tasks = {
    {.kind = edge_task_kind::edge_class, .split = shares(1, 0, 0)}};
  broken.options.choices = {{csv_role::task_label, "l"}};
  CATCH_CHECK(has(error_of(broken("source,target,l\na,b,\"x\ny\"\n")).message,
                  "class 0 of task edge_class is called"));
  for (const auto& [task, choices, expected] : table) {
    CATCH_INFO(expected);
    task_import take;
    take.options.changes.tasks = {task};
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

CATCH_TEST_CASE("edges without a label are rows of the test split alone",
                "[partition][import][csv][tasks]") {
  const auto has_note = [](const std::vector<std::string>& notes,
                           const char* wanted) {
    return std::ranges::any_of(
      notes, [wanted](const std::string& note) { return has(note, wanted); });
  };
  const auto* text = "source,target,sign,set\n"
                     "a,b,1,train\n"
                     "b,a,,test\n"
                     "c,a,,train\n"
                     "a,c,0,train\n"
                     "c,b,,val\n"
                     "b,c,?,test\n"
                     "a,b,0,test\n";
  for (const auto kind :
       {edge_task_kind::edge_class, edge_task_kind::edge_value}) {
    task_import take;
    std::vector<std::string> notes;
    take.options.on_note = [&notes](std::string note) {
      notes.push_back(std::move(note));
    };
    take.options.no_label = {"?"};
    take.options.changes.tasks = {{.name = "signs", .kind = kind}};
    take.options.choices = {{csv_role::task_label, "sign"},
                            {csv_role::task_split, "set"}};
    const auto data = value_of(take(text));
    const auto& task = data.info().tasks.at(0);
    CATCH_CHECK(task.split_counts == std::array<std::int64_t, 3>{2, 0, 3});
    CATCH_CHECK(task.unlabelled == 2);
    CATCH_CHECK(edges_in(data, split::test) == id_list{1, 0, 1, 2, 0, 1});
    const auto& labels = *rows_in(data, split::test).labels;
    if (kind == edge_task_kind::edge_class) {
      CATCH_CHECK(task.class_names == std::vector<std::string>{"0", "1"});
      CATCH_CHECK(list<std::int64_t>(labels) == id_list{-1, -1, 0});
    } else {
      const auto values = list<float>(labels);
      CATCH_CHECK((std::isnan(values[0]) && std::isnan(values[1])));
      CATCH_CHECK(values[2] == 0);
    }
    for (const auto* wanted :
         {"task signs: label ? of 1 edge says that no label is known",
          "task signs: 1 edge of the train split without a label left out",
          "task signs: 1 edge of the val split without a label left out",
          "task signs: 2 edges of the test split without a label kept"}) {
      CATCH_INFO(wanted);
      CATCH_CHECK(has_note(notes, wanted));
    }
    CATCH_CHECK_FALSE(has_note(notes, "--no-label ?"));
    // Shares are of edges with labels.
    task_import shared;
    notes.clear();
    shared.options = take.options;
    shared.options.changes.tasks[0].split = shares(0.5, 0, 0.5);
    shared.options.choices.pop_back();
    shared.options.ignore = {"set"};
    const auto other = value_of(shared(text));
    CATCH_CHECK(other.info().tasks[0].split_counts
                == std::array<std::int64_t, 3>{1, 0, 2});
    CATCH_CHECK(other.info().tasks[0].unlabelled == 0);
    CATCH_CHECK(
      has_note(notes, "task signs: 4 edges without a label in no split"));
  }
}

CATCH_TEST_CASE("a column of a task may have been something else in a dataset "
                "that the new one is to be like",
                "[partition][import][csv][tasks]") {
  for (const auto role : {csv_role::ignore, csv_role::feature}) {
    task_import first;
    first.options.choices = {{role, "kind"}, {csv_role::ignore, "set"}};
    value_of(first("source,target,kind,set\na,b,1,train\nb,a,2,test\n"));
    task_import like;
    like.options.like = first.out.path();
    like.options.changes.tasks = {
      {.name = "fraud", .kind = edge_task_kind::edge_class}};
    like.options.choices = {{csv_role::task_label, "fraud=kind"},
                            {csv_role::task_split, "fraud=set"}};
    auto made = like("source,target,kind,set\na,b,1,train\nb,a,2,test\n");
    if (role == csv_role::feature) {
      CATCH_REQUIRE_FALSE(made);
      CATCH_CHECK(has(made.error().message, "would tell the answer"));
      continue;
    }
    const auto data = value_of(std::move(made));
    CATCH_CHECK(data.info().tasks.at(0).class_names
                == std::vector<std::string>{"1", "2"});
  }
}

CATCH_TEST_CASE("files are each of a split, also of one table",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.edges = {{"", take.file("a.csv", "source,target\na,b\nb,c\n")},
                        {"", take.file("b.csv", "source,target\nc,a\n")},
                        {"", take.file("c.csv", "source,target\na,c\n")},
                        {"", take.file("d.csv", "source,target\nc,b\n")}};
  take.options.task_files = {{(take.source / "a.csv").string(), split::train},
                             {(take.source / "c.csv").string(), split::test},
                             {(take.source / "d.csv").string(), split::train}};
  const auto data = value_of(take());
  CATCH_CHECK(edges_in(data, split::train) == id_list{0, 1, 1, 2, 2, 1});
  CATCH_CHECK(edges_in(data, split::test) == id_list{0, 2});
}

CATCH_TEST_CASE(
  "a dataset that is to be like another one has the classes of its "
  "task",
  "[partition][import][csv][tasks]") {
  const csv_choice label{csv_role::task_label, "fraud"};
  const csv_choice splits{csv_role::task_split, "set"};
  task_import first;
  first.options.changes.tasks = {{.kind = edge_task_kind::edge_class}};
  first.options.choices = {label, splits};
  value_of(first("source,target,fraud,set\n"
                 "a,b,zfraud,train\n"
                 "b,a,ok,train\n"));
  const std::vector<std::string> classes{"ok", "zfraud"};
  const auto like = [&](const char* text, std::vector<csv_choice> choices) {
    task_import take;
    take.options.changes.tasks = first.options.changes.tasks;
    take.options.choices = std::move(choices);
    take.options.like = first.out.path();
    const auto data = take(text);
    if (!data)
      return std::pair{data.error().message, id_list{}};
    const auto& task = data.value().info().tasks.at(0);
    CATCH_CHECK(task.class_names == classes);
    return std::pair{
      std::string{},
      list<std::int64_t>(*rows_in(data.value(), split::test).labels)};
  };
  CATCH_CHECK(like("source,target,fraud,set\na,b,ok,test\nb,c,zfraud,test\n",
                   {label, splits})
                .second
              == id_list{0, 1});
  CATCH_CHECK(
    like("source,target,fraud,set\na,b,zfraud,test\n", {label, splits}).second
    == id_list{1});
  // Nothing is known of tomorrow's edges.
  CATCH_CHECK(like("source,target,set\na,b,test\nb,a,test\n", {splits}).second
              == id_list{-1, -1});
  CATCH_CHECK(has(like("source,target,fraud,set\n"
                       "a,b,ok,test\n"
                       "b,a,odd,test\n",
                       {label, splits})
                    .first,
                  "e.csv:3: the label \"odd\" is none of the classes of task "
                  "edge_class: ok, zfraud"));
}

CATCH_TEST_CASE("classes of a task are counted and doubted as those of nodes",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.tasks = {
    {.name = "fraud", .kind = edge_task_kind::edge_class}};
  take.options.choices = {{csv_role::task_label, "kind"},
                          {csv_role::task_split, "set"}};
  const auto data = value_of(take("source,target,kind,set\n"
                                  "a,b,fraud,train\n"
                                  "b,a,Fraud,val\n"
                                  "a,c,unknown,train\n"
                                  "c,a,fraud,test\n"
                                  "c,b,,test\n"));
  const auto all = value_of(count_classes_of(data));
  CATCH_REQUIRE(all.size() == 1);
  const auto& census = all[0];
  CATCH_CHECK(census.title() == "labels of task fraud");
  CATCH_CHECK(census.labelled == 4);
  CATCH_CHECK(census.unlabelled == 1);
  CATCH_REQUIRE(census.classes.size() == 3);
  CATCH_CHECK(census.classes[1].name == "fraud");
  CATCH_CHECK(census.classes[1].nodes == 2);
  CATCH_CHECK(census.classes[1].seeds == std::array<std::int64_t, 3>{1, 0, 1});
  CATCH_CHECK(
    notes_on_names(census)
    == std::vector<std::string>{
      "labels of task fraud: \"unknown\" is class 2 and has 1 of 4 labelled "
      "edges. If it says that no label is known, import with --no-label "
      "'unknown'",
      "labels of task fraud: classes have names that are almost the same: "
      "\"Fraud\" (1 edge), \"fraud\" (2 edges). If two are one class, write "
      "them alike"});
  CATCH_CHECK(
    notes_on_training(census)
    == std::vector<std::string>{
      "labels of task fraud: 1 of 3 classes have no edge in the train "
      "split, so that no model can learn them: \"Fraud\" (1 edge)"});
}

CATCH_TEST_CASE("negatives of all tasks are those of links alone",
                "[partition][import][csv][tasks]") {
  task_import take;
  take.options.changes.tasks = {
    {.kind = edge_task_kind::link, .split = shares(0.5, 0, 0.5)},
    {.kind = edge_task_kind::edge_class, .split = shares(0.5, 0, 0.5)}};
  take.options.choices = {{csv_role::task_label, "kind"},
                          {csv_role::task_negatives, "not"}};
  const auto data = value_of(take("source,target,kind,not\n"
                                  "a,b,x,c\nb,c,y,a\nc,a,x,b\na,c,y,b\n"));
  const auto& tasks = data.info().tasks;
  CATCH_REQUIRE(tasks.size() == 2);
  CATCH_CHECK(tasks[0].negative_counts != tasks[1].negative_counts);
  CATCH_CHECK(std::ranges::all_of(tasks[1].negative_counts,
                                  [](auto count) { return count == 0; }));
}

CATCH_TEST_CASE("edges with times that are split by chance are noted",
                "[partition][import][csv][tasks]") {
  for (const auto order :
       {edge_order::random, edge_order::pair, edge_order::time}) {
    task_import take;
    std::vector<std::string> notes;
    take.options.on_note = [&notes](std::string note) {
      notes.push_back(std::move(note));
    };
    take.options.changes.tasks = {{.split = shares(0.5, 0, 0.5, order)}};
    take.options.choices = {{csv_role::edge_time, "when"}};
    value_of(take("source,target,when\n"
                  "a,b,2024-05-01\nb,c,2024-05-02\nc,d,2024-05-03\n"));
    CATCH_CHECK(std::ranges::any_of(notes,
                                    [](const std::string& note) {
                                      return has(note, "split by chance");
                                    })
                == (order != edge_order::time));
  }
}
