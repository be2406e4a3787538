#include "actors/commands/options/columns_file.hpp"
#include "actors/commands/options/import_flags.hpp"
#include "partition/importers/csv/csv.hpp"
#include "tests/fuzz/harnesses/imported.hpp"
#include "tests/fuzz/registry.hpp"

#include <string>
#include <vector>

// What says how features are made of columns: files of users, and columns.json
// of another dataset.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view people =
  "id,kind,split,age,town,born,note,list,ok\n"
  "a,x,train,1,Rom,2024-02-29,one two,1|2,yes\n"
  "b,y,val,,Ulm,1700000000,Two,3|4,no\n"
  "c,x,test,1e3,NA,,\"\",5|6,\n";
constexpr std::string_view knows = "from,to,how,sum\na,b,likes,1\nb,c,owns,2\n";

csv_import_options tables_of(std::string_view nodes) {
  csv_import_options out;
  put_file(scratch() / "people.csv", nodes);
  put_file(scratch() / "knows.csv", knows);
  out.nodes = {{"node", scratch() / "people.csv"}};
  out.edges = {{"node__to__node", scratch() / "knows.csv"}};
  return out;
}

constexpr std::string_view all_kinds =
  "fit: train\n"
  "node:\n"
  "  label: kind\n"
  "  features:\n"
  "    age: {as: number, fill: median, missing: true, scale: [log, rank]}\n"
  "    town: {as: category, most: 2, least: 1, missing: true}\n"
  "    born:\n"
  "      - {as: date, parts: [days, month, hour], missing: true, none: "
  "1700000000}\n"
  "      - {as: hash, buckets: 4}\n"
  "    note: {as: text, buckets: 8, weigh: tfidf, ngrams: [1, 2]}\n"
  "    list: {as: number, separator: \"|\", width: 2, scale: gauss}\n"
  "    ok: {as: boolean, missing: true}\n"
  "node__to__node: {relation: how, weight: sum}\n";

// -- files of users

result<void> read_file(csv_import_options& options) {
  change_flags flags;
  GRAPHMILL_TRYV(
    read_columns_file(scratch() / "columns.yaml", options, flags.tasks));
  GRAPHMILL_TRY(options.changes, changes_of(flags, options.normalise));
  return ok();
}

void read_columns(std::string_view input) {
  const auto files = files_in(input, 2);
  auto options = tables_of(files[1].empty() ? people : files[1]);
  put_file(scratch() / "columns.yaml", files[0]);
  const auto read = read_file(options);
  if (!read) {
    require(!read.error().message.empty(), "an error without a sentence");
    return;
  }
  const auto folder = fresh_folder();
  check_import(import_csv(options, folder), folder);
}

std::vector<std::string> columns_files() {
  return {
    std::string{all_kinds},
    joined({"node:\n  ignore: [kind, split, town, born, note, list, ok]\n"
            "  features:\n    age: {as: buckets, range: [0, 10], count: 3, "
            "window: 2, fill: mean}\nknows.csv: {ignore: [how, sum]}\n",
            people}),
    joined({"node:\n  features:\n    t: {as: date, format: epoch, parts: "
            "[hour, weekday]}\nto: {ignore: ['*']}\n",
            "id,t\na,-1e-12\nb,0\nc,1700000000\n"}),
    "node: {ignore: [split, age, town, born, note, list, ok], label: kind, "
    "features: {}}\ntasks:\n  how: {kind: edge_class, edges: to, label: how, "
    "split_edges: [0.5, 0, 0.5], by: pair}\n  sum: {kind: edge_value, label: "
    "sum, split_edges: '1,0,0'}\n",
  };
}

// -- columns.json of another dataset

/// A dataset that others are imported like.
fs::path today() {
  auto out = scratch() / "today";
  if (fs::exists(out))
    return out;
  auto options = tables_of(people);
  put_file(scratch() / "columns.yaml", all_kinds);
  require(read_file(options).has_value(),
          "the file with all kinds of columns is refused");
  options.changes.all_undirected = true;
  fs::create_directory(out);
  const auto done = import_csv(options, out);
  if (!done)
    broken("the dataset with all kinds of columns: " + done.error().message);
  return out;
}

void read_record(std::string_view input) {
  auto options = tables_of(people);
  options.like = today();
  put_file(options.like / "columns.json", input);
  const auto folder = fresh_folder();
  check_import(import_csv(options, folder), folder);
}

std::vector<std::string> records() {
  const auto record = today() / "columns.json";
  static const auto sound = get_file(record);
  auto options = tables_of(people);
  options.like = today();
  put_file(record, sound);
  if (const auto done = import_csv(options, fresh_folder()); !done)
    broken("a dataset like another one: " + done.error().message);
  return {sound};
}

} // namespace

const harness columns_file_harness{"columns_file", "columns files",
                                   read_columns, columns_files, 2000};
const harness columns_record_harness{
  "columns_record", "columns.json of a dataset", read_record, records, 2000};

} // namespace graphmill::fuzz
