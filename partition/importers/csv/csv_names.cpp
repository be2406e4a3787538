#include "partition/importers/csv/csv_names.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

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
  {"set", "fold", "subset", "partition", "mask"});
constexpr auto train_mask_words =
  std::to_array<std::string_view>({"train", "trainmask", "istrain"});
constexpr auto val_mask_words = std::to_array<std::string_view>(
  {"val", "valid", "validation", "valmask", "validmask", "validationmask",
   "isval", "isvalid"});
constexpr auto test_mask_words =
  std::to_array<std::string_view>({"test", "testmask", "istest"});

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

/// The words of a name, in lower case: "From_userID" is from, user, id.
std::vector<std::string> words_in(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::vector<std::string> words;
  auto before = ' ';
  for (const auto c : trim_blanks(name)) {
    const auto within = is_lower(c) || is_upper(c) || (c >= '0' && c <= '9')
                        || static_cast<unsigned char>(c) >= 0x80;
    const auto begins = before == ' ' || (is_upper(c) && is_lower(before));
    before = within ? c : ' ';
    if (!within)
      continue;
    if (begins)
      words.emplace_back();
    words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

/// What the name of a column says beside the type of its ids.
constexpr auto words_beside_type = std::to_array<std::string_view>(
  {"id", "ids", "no", "nr", "number", "key", "code", "source", "src", "from",
   "head", "start", "target", "destination", "dst", "dest", "to", "tail",
   "end"});

/// A name for comparing it with another one.
std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words)
    out += word;
  return out;
}

} // namespace

bool is_name_of_ids(std::string_view name) {
  const auto words = words_in(name);
  return words.size() > 1 && (words.back() == "id" || words.back() == "ids");
}

bool is_name_of_times(std::string_view name) {
  constexpr auto times = std::to_array<std::string_view>(
    {"time", "times", "timestamp", "ts", "date", "datetime", "when", "at",
     "day", "created", "zeit", "datum"});
  return std::ranges::any_of(words_in(name), [&times](const std::string& word) {
    return is_one_of(word, times);
  });
}

bool names_type(std::string_view column, std::string_view type) {
  const auto wanted = joined(words_in(type));
  auto words = words_in(column);
  const auto same = [&wanted](const std::string& text) {
    return text == wanted || text + 's' == wanted || text == wanted + 's'
           || text == wanted + "id";
  };
  if (wanted.empty() || same(joined(words)))
    return !wanted.empty();
  std::erase_if(words, [](const std::string& word) {
    return is_one_of(word, words_beside_type);
  });
  return same(joined(words));
}

std::string lower_name(std::string_view text) {
  std::string out{trim_blanks(text)};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool repeats_name(std::string_view field, std::string_view name) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (field.starts_with(byte_order_mark))
    field.remove_prefix(byte_order_mark.size());
  return std::ranges::equal(trim_blanks(field), trim_blanks(name), {}, lower,
                            lower);
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
  if (is_one_of(bare, train_mask_words))
    return csv_role::train_mask;
  if (is_one_of(bare, val_mask_words))
    return csv_role::val_mask;
  if (is_one_of(bare, test_mask_words))
    return csv_role::test_mask;
  if (is_one_of(bare, split_words) || bare.starts_with("split")
      || bare.ends_with("split") || bare.ends_with("mask"))
    return csv_role::split;
  return std::nullopt;
}

bool looks_like_edge(const std::vector<std::string>& row) {
  return row.size() >= 2 && number_from<std::int64_t>(row[0])
         && number_from<std::int64_t>(row[1]);
}

} // namespace graphmill
