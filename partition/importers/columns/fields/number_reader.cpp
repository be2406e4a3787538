#include "partition/importers/columns/fields/number_reader.hpp"

#include "messages/words/number_text.hpp"
#include "partition/importers/columns/fields/column_state.hpp"
#include "partition/importers/exact_number.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace graphmill {

namespace {

/// What says that nothing is known, in lower case.
constexpr auto missing_words =
  std::to_array<std::string_view>({"", "nan", "na", "n/a", "#n/a", "<na>",
                                   "null", "none", "nil", "nat", "?", "\\n"});
constexpr std::size_t longest_missing_word = 4;

/// A text as float32. Rounding the double would round twice, which matters
/// where that lies in the middle between two floats, or below normal ones.
float narrow_of(double value, std::string_view text) {
  constexpr auto below = (std::uint64_t{1} << 29) - 1;
  constexpr auto middle = std::uint64_t{1} << 28;
  if ((std::bit_cast<std::uint64_t>(value) & below) == middle
      || std::fabs(value) < std::numeric_limits<float>::min())
    return float_in(text).value_or(0);
  return static_cast<float>(value);
}

} // namespace

bool is_missing(std::string_view field,
                const std::vector<std::string>& others) {
  if (std::ranges::find(others, field) != others.end())
    return true;
  if (field.size() > longest_missing_word)
    return false;
  std::string lower{field};
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(missing_words, lower) != missing_words.end();
}

number_reader number_reader::of(column_options& options) {
  number_reader out;
  out.comma_ =
    options.choice("decimal", {"point", "comma"}, "point") == "comma";
  out.of_file_ = options.is_of_file();
  out.lowest_ = options.number("lowest");
  out.highest_ = options.number("highest");
  if (out.lowest_ && out.highest_ && *out.lowest_ > *out.highest_)
    options.add_mistake("lowest is above highest");
  out.none_ = options.texts("none");
  return out;
}

result<std::optional<number_reader::number>>
number_reader::read(std::string_view field) const {
  if (reads_nothing(field))
    return std::optional<number>{};
  std::string replaced;
  auto text = field;
  if (comma_) {
    GRAPHMILL_TRY(replaced, with_decimal_point(field));
    text = replaced;
  }
  auto value = number_from<double>(text);
  if (!value || !std::isfinite(*value)) {
    auto hint = number_hint(field, comma_     ? ""
                                   : of_file_ ? "`decimal: comma`"
                                              : decimal_flag);
    if (hint.empty())
      hint = of_file_
               ? "; `as: category`, `as: date` or `as: text` makes features of "
                 "it, and `ignore` leaves the column out"
               : "; a columns file makes features of categories, dates and "
                 "texts (--suggest drafts one), and --ignore leaves the column "
                 "out";
    return fail(ec::invalid_data, "\"{}\" is no finite number{}", field, hint);
  }
  if (lowest_ && *value < *lowest_)
    return std::optional{number{*lowest_, static_cast<float>(*lowest_)}};
  if (highest_ && *value > *highest_)
    return std::optional{number{*highest_, static_cast<float>(*highest_)}};
  return std::optional{
    number{*value, narrow_of(*value, text), is_rounded_integer(text)}};
}

number_fill number_fill::of(column_options& options) {
  number_fill out;
  out.indicates_ = options.flag("missing");
  const auto text = options.text("fill");
  if (!text) {
    out.how_ = out.indicates_ ? how::indicator : how::none;
    return out;
  }
  out.how_ = *text == "mean"            ? how::mean
             : *text == "median"        ? how::median
             : *text == "most_frequent" ? how::mode
                                        : how::constant;
  if (out.how_ != how::constant || *text == "zero")
    return out;
  const auto value = number_from<double>(*text);
  if (!value || !std::isfinite(*value))
    options.add_mistake(fmt::format("fill is \"{}\"; mean, median, "
                                    "most_frequent, zero or a number expected",
                                    *text));
  else
    out.value_ = *value;
  return out;
}

result<void> number_fill::finish() {
  if (!needs_fit())
    return ok();
  if (fit_.count() == 0)
    return fail(ec::invalid_data,
                "there is no number that a missing one could be filled by; "
                "leave the column out with --ignore, or say --fill zero, or "
                "`fill: zero` in a columns file");
  value_ = how_ == how::mean     ? fit_.mean()
           : how_ == how::median ? fit_.median()
                                 : fit_.mode();
  fit_ = {};
  return ok();
}

error number_fill::not_filled() {
  return fail(ec::invalid_data,
              "a number is missing; say what it becomes (--fill mean, or "
              "`fill: mean` in a columns file), or leave the column out with "
              "--ignore");
}

nlohmann::json number_fill::state() const {
  return needs_fit() ? nlohmann::json{{"fill", value_}}
                     : nlohmann::json::object();
}

result<void> number_fill::restore(const nlohmann::json& state) {
  if (!needs_fit())
    return ok();
  GRAPHMILL_TRY(value_, state_number(state, "fill"));
  return ok();
}

} // namespace graphmill
