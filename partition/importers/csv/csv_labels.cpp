#include "partition/importers/csv/csv_labels.hpp"

#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_names.hpp"

#include <algorithm>
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

csv_classes label_texts::finish() {
  std::vector<std::string> texts;
  for (node_id i = 0; i < texts_.size(); ++i)
    texts.emplace_back(texts_.name(i));
  std::vector<std::int64_t> numbers;
  csv_classes out;
  out.names = number_classes(texts, numbers);
  for (auto text : text_of_)
    out.labels.push_back(numbers[static_cast<std::size_t>(text)]);
  return out;
}

result<void> csv_set_reader::add(const csv_reader& rows, node_id node) {
  if (columns_.label)
    labels_.add(rows.fields()[*columns_.label]);
  if (!columns_.split)
    return ok();
  GRAPHMILL_TRY(const auto which,
                parse_csv_split(rows, rows.fields()[*columns_.split]));
  if (which)
    splits_[static_cast<std::size_t>(*which)].push_back(node);
  return ok();
}

result<incoming_labels> csv_set_reader::finish(const csv_classes& own,
                                               const csv_reader& rows) {
  auto classes = columns_.label ? labels_.finish() : own;
  if (classes.names.empty() && !columns_.label)
    return rows.wrong(fmt::format(
      "label set \"{0}\" has a split alone, and the table has no labels that "
      "it could be of; make a column \"label\" or \"label.{0}\"",
      columns_.name));
  if (classes.names.empty())
    return rows.wrong(
      fmt::format("label set \"{0}\" has no label in any row; leave it out "
                  "with --ignore",
                  columns_.name));
  incoming_labels out{.name = columns_.name,
                      .labels = std::move(classes.labels),
                      .class_count = std::ssize(classes.names),
                      .class_names = std::move(classes.names)};
  if (columns_.split)
    out.splits = std::move(splits_);
  return out;
}

} // namespace graphmill
