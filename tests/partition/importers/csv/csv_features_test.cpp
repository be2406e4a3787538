#include "partition/dataset/dataset.hpp"
#include "partition/dataset/meaning/feature_meaning.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/draft/csv_draft.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace fs = std::filesystem;

namespace {

fs::path table_at(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

constexpr const char* accounts = "id,label,split,age,town,tip\n"
                                 "a,ok,train,10,Rom,1\n"
                                 "b,fraud,train,30,Ulm,2\n"
                                 "c,ok,test,,Rom,3\n"
                                 "d,ok,,500,Bonn,4\n";
constexpr const char* payments = "source,target\na,b\nc,d\n";

/// A folder with two tables, and options that import them.
struct export_folder {
  export_folder(const char* nodes = accounts, const char* edges = payments) {
    options.nodes = {{"account", table_at(folder / "accounts.csv", nodes)}};
    options.edges = {
      {"account__pays__account", table_at(folder / "payments.csv", edges)}};
  }

  void choose(std::vector<column_request> requests,
              std::vector<std::string> ignored = {}) {
    options.features = {{"account", std::move(requests)}};
    for (const auto& column : ignored)
      options.choices.push_back({csv_role::ignore, "account=" + column});
  }

  temp_folder folder;
  csv_import_options options;
};

column_request request(std::string column, std::string kind,
                       decltype(column_request::options) options = {}) {
  return {"c.yaml:1:1", std::move(column), std::move(kind), std::move(options)};
}

/// All features of the first node type.
std::vector<float> features_in(const fs::path& folder) {
  const auto graph = value_of(dataset::open(folder));
  const auto view = value_of(graph.nodes(0).features->as<float>());
  return {view.begin(), view.end()};
}

} // namespace

CATCH_TEST_CASE("large numbers are standardised in double",
                "[partition][import][csv]") {
  export_folder in{"id,t\na,1700000000\nb,1700000010\nc,1700000020\nd,"
                   "1700000030\n"};
  in.options.normalise = row_norm::standardise;
  temp_folder out;
  value_of(import_csv(in.options, out.path()));
  const auto got = features_in(out.path());
  const auto step = 10 / std::sqrt(125.0);
  for (std::size_t i = 0; i < 4; ++i)
    CATCH_CHECK(std::abs(got[i] - (static_cast<double>(i) - 1.5) * step)
                < 1e-6);
}

CATCH_TEST_CASE("an integer that float32 would round is refused",
                "[partition][import][csv]") {
  export_folder in{"id,t\na,16777217\nb,1\nc,2\nd,3\n"};
  temp_folder out;
  const auto message = error_of(import_csv(in.options, out.path())).message;
  CATCH_CHECK(has(message, "accounts.csv:2"));
  CATCH_CHECK(has(message, "16777217, which float32 would round to 16777216"));
}

CATCH_TEST_CASE("columns become features as they are asked for",
                "[partition][import][csv]") {
  export_folder in;
  in.choose(
    {request("age", "number", {{"fill", {"mean"}}, {"missing", {"true"}}}),
     request("town", "category", {{"most", {"2"}}}),
     request("age", "number", {{"fill", {"zero"}}})},
    {"tip"});
  in.options.fit_on_training = true;
  temp_folder out;
  const auto info = value_of(import_csv(in.options, out.path()));
  CATCH_REQUIRE(info.node_types.front().feature_width == 6);
  // The mean of a and b alone; Bonn is no town of a training node.
  CATCH_CHECK(features_in(out.path())
              == std::vector<float>{10, 0, 1, 0, 0, 10, 30,  0, 0, 1, 0, 30,
                                    20, 1, 1, 0, 0, 0,  500, 0, 0, 0, 1, 500});
  const auto meanings = value_of(read_feature_meanings(out.path(), info));
  CATCH_CHECK(meanings.at("account").columns
              == std::vector<std::string>{"age", "age(missing)", "town=Rom",
                                          "town=Ulm", "town=(other)", "age"});
  CATCH_CHECK(!meanings.at("account").fitted.empty());
}

CATCH_TEST_CASE("a columns file says what becomes of all columns",
                "[partition][import][csv]") {
  const auto message_of = [](std::vector<column_request> requests,
                             std::vector<std::string> ignored) {
    export_folder in;
    in.choose(std::move(requests), std::move(ignored));
    temp_folder out;
    return error_of(import_csv(in.options, out.path())).message;
  };
  CATCH_CHECK(
    has(message_of({request("age", "number", {{"fill", {"zero"}}})}, {"tip"}),
        "what becomes of \"town\""));
  CATCH_CHECK(has(message_of({request("twon", "hash")}, {"tip"}),
                  "did you mean \"town\"?"));
  CATCH_CHECK(has(message_of({request("label", "hash")}, {}),
                  "as a feature it would tell the answer"));
  CATCH_CHECK(has(
    message_of({request("age", "number"), request("tip", "date")}, {"town"}),
    "\"1\" is no date"));
  CATCH_CHECK(has(
    message_of({request("age", "number"), request("tip", "number")}, {"town"}),
    "accounts.csv:4: a number is missing"));
  CATCH_CHECK(has(message_of({request("town", "hash", {{"buckets", {"9000"}}})},
                             {"age", "tip"}),
                  "say --sparse"));
}

CATCH_TEST_CASE("tomorrow's graph has the state of today's",
                "[partition][import][csv]") {
  export_folder in;
  in.choose(
    {request("age", "number", {{"fill", {"mean"}}, {"scale", {"min-max"}}}),
     request("town", "category")},
    {"tip"});
  temp_folder today;
  const auto before = value_of(import_csv(in.options, today.path()));

  // No labels, other columns in another order, a town that is new, a gap.
  export_folder later{"town,age,id\nKiel,255,x\nRom,,y\nUlm,10,z\n",
                      "source,target\nx,y\n"};
  later.options.like = today.path();
  temp_folder tomorrow;
  const auto after = value_of(import_csv(later.options, tomorrow.path()));
  CATCH_REQUIRE(after.node_types.front().feature_width == 5);
  // Columns: age; Bonn, Rom, Ulm, others. The mean of ages is 180.
  const auto got = features_in(tomorrow.path());
  CATCH_CHECK(got[0] == 0.5f);
  CATCH_CHECK(got[4] == 1);
  CATCH_CHECK(std::abs(got[5] - 170.0 / 490) < 1e-6);
  CATCH_CHECK(got[7] == 1);
  CATCH_CHECK(got[10] == 0);
  const auto here = value_of(read_feature_meanings(tomorrow.path(), after));
  const auto there = value_of(read_feature_meanings(today.path(), before));
  CATCH_CHECK(here == there);

  // And so has the graph of the day after, made like tomorrow's.
  export_folder last{"town,age,id\nRom,,y\n", "source,target\ny,y\n"};
  last.options.like = tomorrow.path();
  temp_folder third;
  value_of(import_csv(last.options, third.path()));
  CATCH_CHECK(features_in(third.path())
              == std::vector<float>(got.begin() + 5, got.begin() + 10));

  // Without --like the same values would mean something else.
  export_folder other{accounts};
  other.choose(
    {request("age", "number", {{"fill", {"zero"}}, {"scale", {"standard"}}}),
     request("town", "category")},
    {"tip"});
  temp_folder unlike;
  const auto info = value_of(import_csv(other.options, unlike.path()));
  CATCH_CHECK(
    has(difference(value_of(read_feature_meanings(unlike.path(), info)), there),
        "--like"));
}

CATCH_TEST_CASE("what is not like the other dataset is refused",
                "[partition][import][csv]") {
  export_folder in;
  in.choose({request("age", "number", {{"fill", {"mean"}}})}, {"tip", "town"});
  temp_folder today;
  value_of(import_csv(in.options, today.path()));
  const auto message_of = [&today](const char* nodes, auto change) {
    export_folder later{nodes};
    later.options.like = today.path();
    change(later.options);
    temp_folder out;
    return error_of(import_csv(later.options, out.path())).message;
  };
  const auto nothing = [](csv_import_options&) {};
  constexpr const char* small = "id,age\na,1\nb,2\nc,3\nd,4\n";
  CATCH_CHECK(has(message_of("id\na\nb\nc\nd\n", nothing), "age"));
  CATCH_CHECK(
    has(message_of("id,age,more\na,1,1\nb,2,1\nc,3,1\nd,1,1\n", nothing),
        "has no features of \"more\""));
  CATCH_CHECK(
    has(message_of(small,
                   [](csv_import_options& options) { options.nodes.clear(); }),
        "was made of a table --nodes account"));
  CATCH_CHECK(
    has(message_of(small,
                   [](csv_import_options& options) { options.reverse = true; }),
        "--reverse is another"));
  CATCH_CHECK(has(message_of(small,
                             [](csv_import_options& options) {
                               options.number_options["fill"] = {"zero"};
                             }),
                  "leave --columns"));
  CATCH_CHECK(has(message_of(small,
                             [](csv_import_options& options) {
                               options.like = options.like / "nodes";
                             }),
                  "it has no columns.json"));
  CATCH_CHECK(
    has(message_of("id,age,label\na,1,ok\nb,2,theft\nc,3,\nd,4,\n", nothing),
        "the label \"theft\" is none of the classes"));
}

CATCH_TEST_CASE("the target of tomorrow is that of today",
                "[partition][import][csv]") {
  temp_folder folder;
  csv_import_options options;
  const auto tables = [&](const char* labelled) {
    options.nodes = {{"device", table_at(folder / "d.csv", "id\nd\n")},
                     {"account", table_at(folder / "a.csv", labelled)}};
    options.edges = {{"device__of__account",
                      table_at(folder / "e.csv", "source,target\nd,a\n")}};
  };
  tables("id,label,split\na,x,train\nb,y,train\n");
  temp_folder today;
  CATCH_CHECK(value_of(import_csv(options, today.path())).target == 1);
  tables("id\na\nb\n");
  options.like = today.path();
  temp_folder tomorrow;
  CATCH_CHECK(value_of(import_csv(options, tomorrow.path())).target == 1);
}

CATCH_TEST_CASE("edges of tomorrow have weights if those of today do",
                "[partition][import][csv]") {
  constexpr const char* nodes = "id,f\na,1\nb,2\n";
  export_folder in{nodes, "source,target\na,b\n"};
  temp_folder today;
  value_of(import_csv(in.options, today.path()));
  export_folder later{nodes, "source,target,weight\na,b,7\n"};
  later.options.like = today.path();
  temp_folder tomorrow;
  CATCH_CHECK(has(error_of(import_csv(later.options, tomorrow.path())).message,
                  "have weights here and none there"));
  later.options.ignore = {"weight"};
  temp_folder again;
  CATCH_CHECK_FALSE(
    value_of(import_csv(later.options, again.path())).edge_types[0].weighted);
}

CATCH_TEST_CASE("a damaged record of columns is refused",
                "[partition][import][csv]") {
  export_folder in;
  in.choose({request("age", "number", {{"fill", {"mean"}}})}, {"tip", "town"});
  temp_folder today;
  value_of(import_csv(in.options, today.path()));
  in.options.features.clear();
  in.options.choices.clear();
  in.options.like = today.path();
  std::ifstream file{today / "columns.json"};
  const auto sound = nlohmann::json::parse(file);
  const std::pair<const char*, nlohmann::json> changes[] = {
    {"/nodes/0/header", 7},       {"/changes/duplicates", 7},
    {"/changes/duplicates", "x"}, {"/changes/time_unit", false},
    {"/changes/sparse", 1},       {"/changes", 7}};
  for (const auto& [path, value] : changes) {
    CATCH_INFO(path);
    auto damaged = sound;
    damaged[nlohmann::json::json_pointer{path}] = value;
    std::ofstream{today / "columns.json"} << damaged;
    temp_folder out;
    CATCH_CHECK(has(error_of(import_csv(in.options, out.path())).message,
                    "its columns.json is damaged"));
  }
}

CATCH_TEST_CASE("labels that stand for none stay such",
                "[partition][import][csv]") {
  export_folder in{
    "id,label,split,f\na,x,train,1\nb,unknown,,2\nc,y,val,3\nd,x,,4\n"};
  in.options.no_label = {"unknown"};
  temp_folder today;
  const auto before = value_of(import_csv(in.options, today.path()));
  CATCH_REQUIRE(before.node_types.front().class_count == 2);
  export_folder later{
    "id,label,split,f\na,unknown,,1\nb,y,test,2\nc,x,,3\nd,y,,4\n"};
  later.options.like = today.path();
  temp_folder tomorrow;
  const auto after = value_of(import_csv(later.options, tomorrow.path()));
  CATCH_CHECK(after.node_types.front().class_names
              == before.node_types.front().class_names);
}

CATCH_TEST_CASE("masks are splits, also of tomorrow's graph",
                "[partition][import][csv]") {
  export_folder in{"id,label,f,tr,va,te\na,x,1,1,0,0\nb,y,2,0,true,\n"
                   "c,y,3,no,f,yes\nd,x,4,,,\n"};
  in.options.choices = {{csv_role::train_mask, "tr"},
                        {csv_role::val_mask, "va"},
                        {csv_role::test_mask, "te"}};
  temp_folder today;
  value_of(import_csv(in.options, today.path()));
  const auto splits_in = [](const std::filesystem::path& folder) {
    const auto graph = value_of(dataset::open(folder));
    std::vector<std::vector<std::int64_t>> out;
    for (const auto& nodes : graph.nodes(0).splits) {
      out.emplace_back();
      if (!nodes)
        continue;
      const auto view = value_of(nodes->as<std::int64_t>());
      out.back().assign(view.begin(), view.end());
    }
    return out;
  };
  CATCH_CHECK(splits_in(today.path())
              == std::vector<std::vector<std::int64_t>>{{0}, {1}, {2}});

  // Of a table in another order; without the masks there are no splits.
  export_folder later{"te,id,va,f,tr\n1,d,0,1,0\n0,c,1,2,0\n0,b,0,3,0\n0,a,0,"
                      "4,1\n"};
  later.options.like = today.path();
  temp_folder tomorrow;
  CATCH_CHECK(has(error_of(import_csv(later.options, tomorrow.path())).message,
                  "has no label"));
  export_folder bare{"id,f\na,1\nb,2\nc,3\nd,4\n"};
  bare.options.like = today.path();
  temp_folder other;
  value_of(import_csv(bare.options, other.path()));
  CATCH_CHECK(splits_in(other.path())
              == std::vector<std::vector<std::int64_t>>{{}, {}, {}});
  export_folder labelled{"te,id,va,f,tr,label\n1,d,0,1,0,x\n0,c,1,2,0,y\n"
                         "0,b,0,3,0,x\n0,a,0,4,1,y\n"};
  labelled.options.like = today.path();
  temp_folder third;
  value_of(import_csv(labelled.options, third.path()));
  CATCH_CHECK(splits_in(third.path())
              == std::vector<std::vector<std::int64_t>>{{3}, {1}, {0}});

  // A mask is no feature.
  in.choose({request("f", "number"), request("tr", "number")}, {});
  temp_folder refused;
  CATCH_CHECK(has(error_of(import_csv(in.options, refused.path())).message,
                  "as a feature it would tell the answer"));
}

CATCH_TEST_CASE("relations of tomorrow are those of today",
                "[partition][import][csv]") {
  constexpr const char* nodes = "id,f\na,1\nb,2\n";
  export_folder in{nodes, "source,target,relation\na,b,buys\nb,a,sells\n"};
  temp_folder today;
  const auto before = value_of(import_csv(in.options, today.path()));
  export_folder later{nodes, "source,target,relation\na,b,sells\n"};
  later.options.like = today.path();
  temp_folder tomorrow;
  const auto after = value_of(import_csv(later.options, tomorrow.path()));
  CATCH_REQUIRE(after.edge_types.size() == 2);
  CATCH_CHECK(after.edge_types[0].name == before.edge_types[0].name);
  CATCH_CHECK(after.edge_types[0].count == 0);
  CATCH_CHECK(after.edge_types[1].count == 1);

  export_folder more{nodes, "source,target,relation\na,b,lends\n"};
  more.options.like = today.path();
  temp_folder out;
  CATCH_CHECK(has(error_of(import_csv(more.options, out.path())).message,
                  "has no edge of the relation \"lends\""));
}

CATCH_TEST_CASE("a draft has each word once", "[partition][import][csv]") {
  export_folder in{"id,label,class,train_mask,is_val,test\n"
                   "a,x,1,1,0,0\nb,y,2,0,1,0\nc,x,1,0,0,1\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  for (const auto* part : {"  label: \"label\"", "  train_mask: \"train_mask\"",
                           "  val_mask: \"is_val\"", "  test_mask: \"test\"",
                           "    - \"class\"  # looks like `label`, too; "})
    CATCH_CHECK(has(draft, part));
}

CATCH_TEST_CASE("a draft has a split or masks, and not both",
                "[partition][import][csv]") {
  export_folder in{"id,label,train_mask,is_val,split\n"
                   "a,x,1,0,train\nb,y,0,1,val\nc,x,0,0,test\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  for (const auto* part : {"  split: \"split\"",
                           "    - \"train_mask\"  # a mask, beside `split`; ",
                           "    - \"is_val\"  # a mask, beside `split`; "})
    CATCH_CHECK(has(draft, part));
  CATCH_CHECK_FALSE(has(draft, "train_mask:"));
}

CATCH_TEST_CASE("a draft of a columns file", "[partition][import][csv]") {
  export_folder in{"id,class,age,since,town,sum,ok\n"
                   "a,x,,2024-01-01,Rom,\"1,5\",yes\n"
                   "b,y,2,2024-01-02,Ulm,\"2,5\",no\n"
                   "c,y,3,,Ulm,3,yes\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  for (const auto* part :
       {"\"account\":  # all 3 rows looked at\n", "  id: \"id\"",
        "  label: \"class\"",
        "\"age\": {as: number, fill: median, missing: true, scale: standard}",
        "\"since\": {as: date, parts: [days, month, weekday], missing: true}",
        "\"town\": {as: category}", "\"sum\": {as: number, decimal: comma",
        "\"ok\": {as: boolean}"}) {
    CATCH_INFO(draft);
    CATCH_CHECK(has(draft, part));
  }
}

CATCH_TEST_CASE("a draft of the columns of an edge list",
                "[partition][import][csv]") {
  export_folder in{accounts, "payer,payee,ts,amount,country,fraud,class\n"
                             "a,b,2024-05-01T08:30:00,\"1,5\",NA,0,x\n"
                             "b,c,2024-05-02T08:30:00,\"2,25\",DE,1,y\n"
                             "c,a,2024-05-03T08:30:00,7,NA,0,x\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  for (const auto* part :
       {"\"account__pays__account\":  # all 3 rows looked at\n",
        "  source: \"payer\"  # ", "  destination: \"payee\"  # ",
        "  edge_time: \"ts\"  # ",
        "    \"amount\": {as: number, decimal: comma, scale: standard}",
        "    \"country\": {as: category, values: [\"DE\", \"NA\"]}  # codes "
        "such as DE, among which NA is no gap: it is Namibia in 2 of 3 rows",
        "    \"fraud\": {as: boolean}",
        "    - \"class\"  # looks like labels or splits"})
    CATCH_CHECK(has(draft, part));
  // Ends are told by the names of their types, and times by theirs.
  export_folder named{accounts, "amount,device_id,account,paid_at\n"
                                "1714521658,d,a,1714521658\n"};
  named.options.edges[0].type = "account__uses__device";
  const auto other = value_of(draft_columns_file(named.options));
  CATCH_INFO(other);
  for (const auto* part :
       {"  source: \"account\"", "  destination: \"device_id\"",
        "  edge_time: \"paid_at\"", "    \"amount\": {as: number"})
    CATCH_CHECK(has(other, part));
}

CATCH_TEST_CASE("a draft takes dates for dates if their order is certain",
                "[partition][import][csv]") {
  export_folder in{
    "id,day,month,unclear,slash,timed,short,old,two,dots,number,mixed,ip\n"
    "a,31.05.2024,05/31/2024,01.02.2024,2024/05/31,31.05.2024 9:30,31.05.24,"
    "31.05.99,01.02.03,1.2.3,1.2,31.05.2024,10.0.0.1\n"
    "b,01.06.2024,06/01/2024,02.01.2024,2024/06/01,01.06.2024 17:05,01.06.24,"
    "1.6.98,02.03.04,1.20.3,2.3,05.31.2024,10.0.0.2\n"
    "c,,06/02/2024,12.12.2024,2024/06/02,02.06.2024 00:00,02.06.23,"
    "02.06.97,03.04.05,1.2.40,7.1,02.06.2024,10.0.0.1\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  for (const auto* part :
       {"\"day\": {as: date, format: \"%d.%m.%Y\", parts: [days, month, "
        "weekday], missing: true}",
        "\"month\": {as: date, format: \"%m/%d/%Y\", parts: [days, month, "
        "weekday]}",
        "- \"unclear\"  # the order in 01.02.2024 is unclear: it is {as: date, "
        "format: \"%d.%m.%Y\"} or {as: date, format: \"%m.%d.%Y\"}\n",
        "\"slash\": {as: date, format: \"%Y/%m/%d\", parts: [days, month, "
        "weekday]}",
        "\"timed\": {as: date, format: \"%d.%m.%Y %H:%M\", parts: [days, "
        "weekday, hour]}",
        "- \"short\"  # the order in 31.05.24 is unclear: it is {as: date, "
        "format: \"%d.%m.%y\"} or {as: date, format: \"%y.%m.%d\"}\n",
        "\"old\": {as: date, format: \"%d.%m.%y\", parts",
        "- \"two\"  # the order in 01.02.03 is unclear",
        "\"dots\": {as: category}", "\"number\": {as: number",
        "\"mixed\": {as: category}", "\"ip\": {as: category}"})
    CATCH_CHECK(has(draft, part));
}

CATCH_TEST_CASE("a draft takes codes with zeros in front for no numbers",
                "[partition][import][csv]") {
  export_folder in{"id,code,one\na,01067,0.5\nb,10115,0\nc,10115,00\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  CATCH_CHECK(has(draft, "\"code\": {as: category}"));
  CATCH_CHECK(has(draft, "\"one\": {as: category}"));
}

CATCH_TEST_CASE("a draft guesses nothing of commas between thousands",
                "[partition][import][csv]") {
  export_folder in{"id,sum,large,point,both\n"
                   "a,999,\"1,234,567\",\"1,234.5\",\"1,234\"\n"
                   "b,\"1,234\",5,7.25,\"2,5\"\n"
                   "c,\"12,345\",\"-7,000\",\"0\",3\n"};
  const auto draft = value_of(draft_columns_file(in.options));
  CATCH_INFO(draft);
  for (const auto* part : {"- \"sum\"  # commas as in 1,234 may separate",
                           "- \"large\"  # commas as in 1,234,567 may",
                           "- \"point\"  # commas as in 1,234.5 may",
                           "\"both\": {as: number, decimal: comma"})
    CATCH_CHECK(has(draft, part));
}
