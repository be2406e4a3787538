#include "partition/importers/csv/csv_labels.hpp"

#include "messages/words/number_text.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/importers/csv/csv_names.hpp"
#include "partition/importers/exact_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace graphmill {

result<std::optional<split>> parse_csv_split(const csv_reader& rows,
                                             std::string_view text) {
  const auto name = lower_name(text);
  if (name.empty() || name == "none")
    return std::optional<split>{};
  if (name == "valid" || name == "validation")
    return std::optional{split::validation};
  for (auto which : all_splits)
    if (name == file_stem(which))
      return std::optional{which};
  return rows.wrong(
    fmt::format("split \"{}\"; train, val, test or nothing expected", text));
}

result<bool> parse_csv_mask(const csv_reader& rows, std::string_view text) {
  constexpr auto marked =
    std::to_array<std::string_view>({"1", "1.0", "true", "t", "yes", "y"});
  constexpr auto unmarked =
    std::to_array<std::string_view>({"", "0", "0.0", "false", "f", "no", "n"});
  const auto word = lower_name(text);
  if (std::ranges::find(marked, word) != marked.end())
    return true;
  if (std::ranges::find(unmarked, word) != unmarked.end())
    return false;
  return rows.wrong(
    fmt::format("mask \"{}\"; 1, 0, true, false or nothing expected", text));
}

std::vector<std::string> number_classes(std::span<const std::string> texts,
                                        std::vector<std::int64_t>& labels) {
  const auto all_integers =
    std::ranges::all_of(texts, [](const std::string& text) {
      return text.empty() || number_from<std::int64_t>(text).has_value();
    });
  const auto is_none = [all_integers](const std::string& text) {
    return text.empty() || (all_integers && text == "-1");
  };
  // Classes are in the order of numbers where all are numbers, and then of
  // texts: "1" and "01" are two classes.
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> classes;
  const auto key_of = [all_integers](const std::string& text) {
    return std::pair{all_integers ? *number_from<std::int64_t>(text) : 0, text};
  };
  for (const auto& text : texts)
    if (!is_none(text))
      classes.try_emplace(key_of(text), 0);
  std::vector<std::string> names;
  for (auto& [key, number] : classes) {
    number = std::ssize(names);
    names.push_back(key.second);
  }
  labels.clear();
  for (const auto& text : texts)
    labels.push_back(is_none(text) ? -1 : classes.at(key_of(text)));
  return names;
}

namespace {

/// Names of classes; where they have none, their numbers.
std::vector<std::string> names_of(std::vector<std::string> names,
                                  std::int64_t count) {
  for (auto i = std::ssize(names); i < count; ++i)
    names.push_back(std::to_string(i));
  return names;
}

} // namespace

result<known_classes> known_classes::of(const std::filesystem::path& folder) {
  GRAPHMILL_TRY(const auto graph, partitioned_graph::open(folder));
  const auto& info = graph.info();
  known_classes out;
  const auto add = [&out](const std::string& type, const std::string& set,
                          const auto& labels) {
    if (!traits_of(labels.labels).rows && labels.class_count > 0)
      out.all_.emplace(std::pair{type, set},
                       names_of(labels.class_names, labels.class_count));
  };
  for (const auto& type : info.node_types) {
    add(type.name, {}, type);
    for (const auto& set : type.label_sets)
      add(type.name, set.name, set);
  }
  for (const auto& task : info.tasks)
    if (traits_of(task.kind).labels == label_kind::classes)
      out.tasks_.emplace(task.name,
                         names_of(task.class_names, task.class_count));
  if (out.all_.empty() && out.tasks_.empty())
    return fail(ec::invalid_argument,
                "--classes-of {}: no labels of that dataset are classes",
                folder.string());
  return out;
}

const std::vector<std::string>*
known_classes::find(const std::string& type, const std::string& set) const {
  const auto found = all_.find(std::pair{type, set});
  return found == all_.end() ? nullptr : &found->second;
}

const std::vector<std::string>*
known_classes::find_task(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second;
}

label_texts::label_texts(no_label_values none,
                         const std::vector<std::string>* known, std::string of)
  : none_(std::move(none)), known_(known), of_(std::move(of)) {
  if (known_ != nullptr)
    for (const auto& name : *known_)
      numbers_.emplace(name, std::ssize(numbers_));
}

/// Whether a text stands for no label where classes are known.
bool label_texts::is_none(std::string_view text) const {
  return text.empty() || text == "-1" || none_.find(text) != nullptr;
}

std::string label_texts::unknown_text(std::string_view text) const {
  constexpr std::ptrdiff_t most_named = 10;
  const auto named = std::min<std::ptrdiff_t>(std::ssize(*known_), most_named);
  return fmt::format(
    "the label \"{}\" is none of the classes of {}: {}{}; weights that were "
    "learnt from it know no other. Where it says that no label is known, leave "
    "it empty, or import with --no-label '{}'",
    text, of_, fmt::join(known_->begin(), known_->begin() + named, ", "),
    std::ssize(*known_) > most_named ? ", ..." : "", text);
}

result<void> label_texts::add(const csv_reader& rows, std::string_view field) {
  const auto [text, fresh] = texts_.insert(trim_blanks(field));
  text_of_.push_back(text);
  if (known_ == nullptr)
    return ok();
  const auto label = texts_.name(text);
  if (fresh)
    unknown_.push_back(!is_none(label) && !numbers_.contains(label));
  return unknown_[static_cast<std::size_t>(text)]
           ? result<void>{rows.wrong(unknown_text(label))}
           : ok();
}

result<void> label_texts::check(const csv_reader& rows,
                                std::string_view field) const {
  const auto text = trim_blanks(field);
  if (known_ == nullptr || is_none(text) || numbers_.contains(text))
    return ok();
  return rows.wrong(unknown_text(text));
}

csv_labels label_texts::finish() {
  std::vector<std::string> texts; // Empty where they stand for none.
  for (node_id i = 0; i < texts_.size(); ++i)
    texts.emplace_back(none_.find(texts_.name(i)) ? "" : texts_.name(i));
  std::vector<std::int64_t> numbers;
  csv_labels out;
  if (known_ != nullptr && !text_of_.empty()) {
    for (const auto& text : texts) {
      const auto found = numbers_.find(text);
      numbers.push_back(found == numbers_.end() ? -1 : found->second);
    }
    out.names = *known_;
  } else {
    out.names = number_classes(texts, numbers);
  }
  std::vector<std::int64_t> nodes(texts.size());
  for (auto text : text_of_) {
    const auto at = static_cast<std::size_t>(text);
    out.labels.push_back(numbers[at]);
    ++nodes[at];
  }
  for (node_id i = 0; i < texts_.size(); ++i)
    if (const auto at = static_cast<std::size_t>(i);
        numbers[at] < 0 && !texts_.name(i).empty())
      out.unlabelled.emplace(texts_.name(i), nodes[at]);
  return out;
}

const std::string* label_numbers::none_in(std::string_view field,
                                          std::optional<float> value) const {
  const auto* same = none_.find(field);
  return same == nullptr && value ? none_.find_number(*value) : same;
}

std::vector<std::string> earlier_sets(const csv_import_options& options,
                                      csv_role role, const std::string& type) {
  std::vector<std::string> out;
  const auto begin = type + "=";
  for (const auto& choice : options.choices)
    if (!options.after.empty() && choice.role == role
        && choice.column.starts_with(begin))
      out.push_back(label_set_name(choice.column.substr(begin.size())));
  return out;
}

void append_value(std::vector<std::uint8_t>& values, float value) {
  const auto bytes =
    std::bit_cast<std::array<std::uint8_t, sizeof(value)>>(value);
  values.insert(values.end(), bytes.begin(), bytes.end());
}

result<label_numbers::number> label_numbers::read(const csv_reader& rows,
                                                  std::string_view text) const {
  const auto written = trim_blanks(text);
  auto field = written;
  std::string with_point;
  if (decimal_comma_ && none_.find(field) == nullptr) {
    auto replaced = with_decimal_point(field);
    if (!replaced)
      return rows.wrong("the label " + replaced.error().message);
    field = with_point = *std::move(replaced);
  }
  number out{.value = std::numeric_limits<float>::quiet_NaN()};
  const auto parsed = float_in(field);
  out.none = none_in(field, parsed);
  if (out.none == nullptr && !field.empty()) {
    if (!parsed || std::isinf(*parsed))
      return rows.wrong(
        fmt::format("the label \"{0}\" is no finite number, and {1} says that "
                    "labels are numbers to be learnt; where none is known, "
                    "leave it empty, or import with --no-label '{0}'{2}",
                    written, option_,
                    number_hint(written, decimal_comma_ ? "" : decimal_flag)));
    if (is_rounded_integer(field))
      return rows.wrong(
        fmt::format("the label is {}; write it with a point if it may be "
                    "rounded, or make it smaller",
                    rounded_integer_text(field)));
    if (!std::isnan(*parsed)) // Of which there are many kinds.
      out.value = *parsed;
  }
  return out;
}

void label_numbers::keep(const number& read) {
  if (read.none != nullptr)
    ++read_.unlabelled[*read.none];
  read_.labels.push_back(std::isnan(read.value) ? -1 : 0);
  append_value(read_.values, read.value);
}

result<void> csv_set_reader::add(csv_rows& rows, node_id node) {
  if (columns_.label && numbers_) {
    GRAPHMILL_TRYV(
      rows.check(*columns_.label,
                 numbers_->add(rows.reader(), rows.fields()[*columns_.label])));
  } else if (columns_.label) {
    GRAPHMILL_TRYV(
      rows.check(*columns_.label,
                 labels_.add(rows.reader(), rows.fields()[*columns_.label])));
  }
  if (!columns_.split)
    return ok();
  const auto which =
    parse_csv_split(rows.reader(), rows.fields()[*columns_.split]);
  if (!which)
    return rows.reject(columns_.split, which.error());
  if (const auto in = which.value())
    splits_[static_cast<std::size_t>(*in)].push_back(node);
  return ok();
}

result<incoming_labels> csv_set_reader::finish(const csv_labels& own,
                                               const csv_reader& rows) {
  if (!columns_.label && had_labels_)
    return rows.wrong(fmt::format(
      "label set \"{0}\" has labels of its own in the dataset, and this table "
      "has its split without them; add the column of labels, or leave that of "
      "the split out",
      columns_.name));
  auto read = own;
  if (columns_.label && numbers_) {
    read = numbers_->finish();
  } else if (columns_.label) {
    read = labels_.finish();
  }
  const auto none =
    !may_be_empty_ && std::ranges::all_of(read.labels, [](std::int64_t label) {
      return label < 0;
    });
  if (none && !columns_.label)
    return rows.wrong(fmt::format(
      "label set \"{0}\" has a split alone, and the table has no labels that "
      "it could be of; make a column \"label\" or \"label.{0}\"",
      columns_.name));
  if (none)
    return rows.wrong(
      fmt::format("label set \"{0}\" has no label in any row; leave it out "
                  "with --ignore",
                  columns_.name));
  incoming_labels out{.name = columns_.name,
                      .labels = std::move(read.labels),
                      .class_count = std::ssize(read.names),
                      .class_names = std::move(read.names)};
  if (!read.values.empty()) {
    out.class_count = 1;
    out.kind = label_kind::regression;
    out.rows = std::move(read.values);
  }
  if (columns_.split)
    out.splits = std::move(splits_);
  if (columns_.label)
    out.unlabelled = std::move(read.unlabelled);
  out.drops_unlabelled = !none_.empty();
  return out;
}

} // namespace graphmill
