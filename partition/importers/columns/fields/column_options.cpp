#include "partition/importers/columns/fields/column_options.hpp"

#include "messages/words/closest.hpp"
#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

constexpr std::size_t longest_separator = 8;

} // namespace

const std::vector<std::string>* column_options::find(const std::string& name) {
  known_.insert(name);
  const auto at = from_.options.find(name);
  return at == from_.options.end() ? nullptr : &at->second;
}

const std::string* column_options::find_one(const std::string& name) {
  const auto* all = find(name);
  if (all == nullptr)
    return nullptr;
  if (all->size() == 1)
    return &all->front();
  add_mistake(fmt::format("{} takes one value, not {}", name, all->size()));
  return nullptr;
}

std::string column_options::choice(const std::string& name,
                                   std::initializer_list<std::string_view> all,
                                   std::string_view usual) {
  const auto* given = find_one(name);
  if (given == nullptr)
    return std::string{usual};
  if (std::ranges::find(all, *given) == all.end())
    add_mistake(fmt::format("{} is \"{}\"; one of {} expected", name, *given,
                            fmt::join(all.begin(), all.end(), ", ")));
  return *given;
}

std::int64_t column_options::count(const std::string& name, std::int64_t usual,
                                   std::int64_t least, std::int64_t most) {
  const auto* given = find_one(name);
  if (given == nullptr)
    return usual;
  const auto value = number_from<std::int64_t>(*given);
  if (value && *value >= least && *value <= most)
    return *value;
  add_mistake(fmt::format("{} is \"{}\"; a whole number from {} to {} expected",
                          name, *given, least, most));
  return usual;
}

std::optional<double> column_options::number(const std::string& name) {
  const auto* given = find_one(name);
  if (given == nullptr)
    return std::nullopt;
  const auto value = number_from<double>(*given);
  if (value && std::isfinite(*value))
    return value;
  add_mistake(
    fmt::format("{} is \"{}\"; a finite number expected", name, *given));
  return std::nullopt;
}

bool column_options::flag(const std::string& name, bool usual) {
  return choice(name, {"true", "false"}, usual ? "true" : "false") == "true";
}

std::optional<std::string> column_options::text(const std::string& name) {
  const auto* given = find_one(name);
  return given == nullptr ? std::nullopt : std::optional{*given};
}

std::vector<std::string> column_options::texts(const std::string& name) {
  const auto* given = find(name);
  return given == nullptr ? std::vector<std::string>{} : *given;
}

std::string column_options::separator() {
  const auto given = text("separator").value_or("");
  if (given.size() > longest_separator)
    add_mistake(fmt::format("separator has {} bytes; at most {} expected",
                            given.size(), longest_separator));
  return given;
}

void column_options::add_mistake(std::string sentence) {
  mistakes_.push_back(std::move(sentence));
}

result<void> column_options::finish() {
  const std::vector<std::string> known{known_.begin(), known_.end()};
  for (const auto& [name, values] : from_.options) {
    if (known_.contains(name))
      continue;
    const auto near = closest(name, known);
    add_mistake(near.empty()
                  ? fmt::format("`as: {}` has no option {}; it has {}",
                                from_.kind, name, fmt::join(known, ", "))
                  : fmt::format("`as: {}` has no option {}; did you mean {}?",
                                from_.kind, name, near));
  }
  if (mistakes_.empty())
    return ok();
  return fail(ec::invalid_argument, "{}{}column \"{}\": {}", from_.where,
              from_.where.empty() ? "" : ": ", from_.column,
              fmt::join(mistakes_, "; "));
}

} // namespace graphmill
