#include "partition/importers/columns/boolean_column.hpp"

#include "partition/importers/columns/fields/number_reader.hpp"

#include <algorithm>
#include <array>

namespace graphmill {

namespace {

constexpr auto yes_words =
  std::to_array<std::string_view>({"1", "true", "t", "yes", "y", "on"});
constexpr auto no_words =
  std::to_array<std::string_view>({"0", "false", "f", "no", "n", "off"});

} // namespace

std::optional<bool> boolean_in(std::string_view field) {
  std::string lower{field};
  for (auto& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  if (std::ranges::find(yes_words, lower) != yes_words.end())
    return true;
  if (std::ranges::find(no_words, lower) != no_words.end())
    return false;
  return std::nullopt;
}

std::unique_ptr<column_transform> boolean_column::make(column_options& options,
                                                       bool /*scaled_later*/) {
  auto out = std::make_unique<boolean_column>();
  out->yes_ = options.texts("yes");
  out->no_ = options.texts("no");
  out->none_ = options.texts("none");
  out->missing_ = options.flag("missing");
  return out;
}

std::vector<std::string> boolean_column::names() const {
  std::vector<std::string> out{""};
  if (missing_)
    out.emplace_back("(missing)");
  return out;
}

result<void> boolean_column::check(std::string_view field) {
  std::array<double, 2> out{};
  return write(field, out);
}

result<void> boolean_column::write(std::string_view field,
                                   std::span<double> out) {
  const auto has = [field](const std::vector<std::string>& words) {
    return std::ranges::find(words, field) != words.end();
  };
  const auto usual = boolean_in(field);
  const auto missing = has(none_); // Even if it is a usual word.
  if (!missing && (has(yes_) || (usual.value_or(false) && !has(no_)))) {
    out[0] = 1;
  } else if (!missing && (has(no_) || usual)) {
    out[0] = 0;
  } else if (is_missing(field, none_) && missing_) {
    out[1] = 1;
  } else if (is_missing(field, none_)) {
    return fail(ec::invalid_data,
                "it is missing whether this is so; say `missing: true` for a "
                "feature that tells, or leave the column out");
  } else {
    return fail(ec::invalid_data,
                "\"{}\" is neither true nor false; say what it means by `yes: "
                "[...]` and `no: [...]`",
                field);
  }
  return ok();
}

} // namespace graphmill
