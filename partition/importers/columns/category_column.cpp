#include "partition/importers/columns/category_column.hpp"

#include "messages/base/printable.hpp"
#include "partition/importers/columns/fields/column_state.hpp"
#include "partition/importers/columns/fields/field_items.hpp"
#include "partition/importers/columns/fields/number_reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

constexpr std::int64_t most_categories = 65536;
/// A limit, so that a column of ids does not fill the memory.
constexpr std::size_t most_counted = std::size_t{1} << 20;

} // namespace

std::unique_ptr<column_transform> category_column::make(column_options& options,
                                                        bool /*scaled_later*/) {
  constexpr std::int64_t usual_most = 50;
  auto out = std::make_unique<category_column>();
  out->separator_ = options.separator();
  out->none_ = options.texts("none");
  out->most_ = options.count("most", usual_most, 1, most_categories);
  out->least_ = options.count("least", 1, 1, std::int64_t{1} << 40);
  out->missing_ = options.flag("missing");
  auto values = options.texts("values");
  out->fixed_ = !values.empty();
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    options.add_mistake("values has a value twice");
  out->set_values(std::move(values));
  return out;
}

void category_column::set_values(std::vector<std::string> values) {
  values_ = std::move(values);
  places_.clear();
  for (std::size_t i = 0; i < values_.size(); ++i)
    places_.emplace(values_[i], i);
}

result<void> category_column::learn(std::string_view field) {
  for_each_item(field, separator_, [this](std::string_view item) {
    if (!is_missing(item, none_) && counts_.size() <= most_counted)
      ++counts_[std::string{item}];
  });
  if (counts_.size() > most_counted)
    return fail(ec::invalid_argument,
                "there are more than {} categories; take `as: hash`, which "
                "keeps none, or leave the column out",
                most_counted);
  return ok();
}

result<void> category_column::finish() {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (auto& [value, count] : counts_)
    if (count >= least_)
      all.emplace_back(value, count);
  counts_.clear();
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  all.resize(std::min(all.size(), static_cast<std::size_t>(most_)));
  std::vector<std::string> values;
  for (auto& [value, count] : all)
    values.push_back(std::move(value));
  std::sort(values.begin(), values.end());
  set_values(std::move(values));
  return ok();
}

std::vector<std::string> category_column::names() const {
  std::vector<std::string> out;
  for (const auto& value : values_)
    out.push_back("=" + printable(value));
  out.emplace_back("=(other)");
  if (missing_)
    out.emplace_back("=(missing)");
  return out;
}

result<void> category_column::write(std::string_view field,
                                    std::span<double> out) {
  auto known = false;
  auto other = false;
  for_each_item(field, separator_, [&](std::string_view item) {
    const auto at = places_.find(std::string{item});
    // A value that the user gives may look missing: NA is Namibia's code.
    if (at == places_.end() && is_missing(item, none_)) {
      note_missing(item);
      return;
    }
    known = true;
    other = other || at == places_.end();
    out[at == places_.end() ? values_.size() : at->second] = 1;
  });
  ++fields_;
  others_ += other ? 1 : 0;
  if (!known && missing_)
    out.back() = 1;
  return ok();
}

nlohmann::json category_column::state() const {
  return {{"values", values_}};
}

result<void> category_column::restore(const nlohmann::json& state) {
  GRAPHMILL_TRY(auto values, state_texts(state, "values"));
  set_values(std::move(values));
  return ok();
}

/// Counts a word that may be a value, such as "None" or "NA".
void category_column::note_missing(std::string_view item) {
  if (item.empty() || std::ranges::find(none_, item) != none_.end())
    return;
  ++missing_words_;
  if (missing_word_.empty())
    missing_word_ = item;
}

void category_column::begin_note() {
  fields_ = 0;
  others_ = 0;
  missing_words_ = 0;
}

std::string category_column::note() const {
  std::string out;
  if (others_ > 0)
    out = fmt::format("{} of {} rows have a value that is none of its {} "
                      "categories, and share one feature for others",
                      others_, fields_, values_.size());
  if (missing_words_ > 0)
    out += fmt::format("{}{} times, a word such as \"{}\" counts as missing; "
                       "list it in `values` if it is a category, or in `none` "
                       "if it is not",
                       out.empty() ? "" : "; ", missing_words_, missing_word_);
  return out;
}

} // namespace graphmill
