#include "partition/importers/csv/csv_names.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/csv/csv_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace graphmill {

namespace {

using word_list = std::span<const std::string_view>;

constexpr auto source_words = std::to_array<std::string_view>(
  {"source", "src", "from", "head", "u", "subject", "subj", "sourceid", "srcid",
   "fromid", "fromnode", "fromnodeid", "headid", "sourcenode", "sourcenodeid",
   "start", "startid", "node1", "id1"});
constexpr auto destination_words = std::to_array<std::string_view>(
  {"destination", "dst",    "dest",       "target",       "to",
   "tail",        "v",      "object",     "obj",          "destinationid",
   "dstid",       "destid", "targetid",   "toid",         "tonode",
   "tonodeid",    "tailid", "targetnode", "targetnodeid", "end",
   "endid",       "node2",  "id2"});
constexpr auto relation_words =
  std::to_array<std::string_view>({"relation", "rel", "relationtype", "reltype",
                                   "edgetype", "predicate", "relationid"});
constexpr auto weight_words = std::to_array<std::string_view>(
  {"weight", "weights", "edgeweight", "edgeweights"});
constexpr auto label_words = std::to_array<std::string_view>(
  {"y", "class", "classes", "labels", "target", "targets", "category",
   "categories", "classid", "labelid", "categoryid", "nodelabel"});
constexpr auto split_words = std::to_array<std::string_view>(
  {"set", "fold", "subset", "partition", "mask", "train", "val", "valid",
   "validation", "test", "trainmask", "valmask", "validmask", "testmask",
   "istrain", "isval", "isvalid", "istest"});

bool is_one_of(const std::string& word, word_list all) {
  return std::ranges::find(all, word) != all.end();
}

/// What a column of a label set begins with.
constexpr auto label_set_begins =
  std::to_array<std::string_view>({"label.", "labels."});
constexpr std::string_view split_set_begin = "split.";

/// How long the beginning of a column of a label set is; 0: it has none.
/// @param lower In lower case.
std::size_t begin_of_set(std::string_view lower, word_list begins) {
  for (auto begin : begins)
    if (lower.size() > begin.size() && lower.starts_with(begin))
      return begin.size();
  return 0;
}

/// Letters and digits alone, in lower case: "From_Node-ID" is "fromnodeid".
std::string bare_name(std::string_view text) {
  auto name = lower_name(text);
  std::erase_if(name, [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
  });
  return name;
}

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// A role by name among all fields of a row.
bool has_role(const std::vector<std::string>& row, csv_role role) {
  return std::ranges::any_of(row, [role](const std::string& name) {
    return edge_role_of(name) == role;
  });
}

} // namespace

std::string lower_name(std::string_view text) {
  std::string out{trim_blanks(text)};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<csv_role> edge_role_of(std::string_view name) {
  const auto bare = bare_name(name);
  if (is_one_of(bare, source_words))
    return csv_role::source;
  if (is_one_of(bare, destination_words))
    return csv_role::destination;
  if (is_one_of(bare, relation_words))
    return csv_role::relation;
  if (is_one_of(bare, weight_words))
    return csv_role::weight;
  return std::nullopt;
}

std::optional<csv_role> node_role_of(std::string_view name) {
  const auto lower = lower_name(name);
  if (lower == "id")
    return csv_role::id;
  if (lower == "label")
    return csv_role::label;
  if (lower == "split")
    return csv_role::split;
  if (begin_of_set(lower, label_set_begins) > 0)
    return csv_role::label_set;
  if (begin_of_set(lower, {&split_set_begin, 1}) > 0)
    return csv_role::split_set;
  return std::nullopt;
}

std::string label_set_name(std::string_view column) {
  const auto trimmed = trim_blanks(column);
  const auto lower = lower_name(column);
  const auto begin = std::max(begin_of_set(lower, label_set_begins),
                              begin_of_set(lower, {&split_set_begin, 1}));
  return std::string{trimmed.substr(begin)};
}

std::optional<csv_role> suspected_role_of(std::string_view name) {
  const auto bare = bare_name(name);
  if (is_one_of(bare, label_words) || bare.starts_with("label")
      || bare.ends_with("label") || bare.ends_with("labels"))
    return csv_role::label;
  if (is_one_of(bare, split_words) || bare.starts_with("split")
      || bare.ends_with("split") || bare.ends_with("mask"))
    return csv_role::split;
  return std::nullopt;
}

bool looks_like_header(const std::vector<std::string>& first,
                       const std::vector<std::string>& second) {
  if (has_role(first, csv_role::source)
      && has_role(first, csv_role::destination))
    return true;
  if (first.size() < 2)
    return false;
  const auto both = [](const std::vector<std::string>& row, auto is_so) {
    return is_so(row[0]) && is_so(row[1]);
  };
  const auto numeric = [](const std::string& text) {
    return number_from<std::int64_t>(text).has_value();
  };
  if (numeric(first[0]) || numeric(first[1]))
    return false;
  if (both(first, [](const std::string& text) {
        return bare_name(text).ends_with("id");
      }))
    return true;
  if (second.size() != first.size())
    return false;
  if (both(second, numeric))
    return true;
  if (!has_digit(first[0]) && !has_digit(first[1]) && both(second, has_digit))
    return true;
  for (std::size_t i = 2; i < first.size(); ++i)
    if (!number_from<double>(first[i]) && number_from<double>(second[i]))
      return true;
  return false;
}

bool looks_like_edge(const std::vector<std::string>& row) {
  return row.size() >= 2 && number_from<std::int64_t>(row[0])
         && number_from<std::int64_t>(row[1]);
}

std::string relation_name(std::string_view value) {
  std::string name;
  for (const char c : trim_blanks(value)) {
    const auto good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                      || (c >= '0' && c <= '9') || c == '_' || c == '.';
    const auto next = good ? c : '-';
    // Two of them separate the parts of an edge type's name.
    if (next == '_' && name.ends_with('_'))
      continue;
    name += next;
  }
  const auto begin = name.find_first_not_of("_.-");
  if (begin == name.npos)
    return {};
  name = name.substr(begin, name.find_last_not_of("_-") - begin + 1);
  return check_name(name, "") ? name : std::string{};
}

} // namespace graphmill
