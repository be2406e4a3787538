#include "actors/commands/options/class_table.hpp"

#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

constexpr std::size_t most_rows = 100;

} // namespace

std::string class_table(const class_census& census) {
  if (census.classes.empty())
    return "";
  auto out = format_printable("{}: {} with, {} without\n", census.title(),
                              pluralized(census.labelled, census.unit()),
                              pluralized(census.unlabelled, census.unit()));
  out +=
    fmt::format("{:>7} {:<32} {:>12} {:>9} {:>9} {:>9}\n", "index", "class",
                fmt::format("{}s", census.unit()), "train", "val", "test");
  const auto shown = std::min(census.classes.size(), most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& one = census.classes[i];
    out +=
      format_printable("{:>7} {:<32} {:>12} {:>9} {:>9} {:>9}\n", i, one.name,
                       one.nodes, one.seeds[0], one.seeds[1], one.seeds[2]);
  }
  if (shown < census.classes.size())
    out += fmt::format("    ... {} more; --json lists all\n",
                       census.classes.size() - shown);
  return out;
}

nlohmann::json classes_json(const class_census& census) {
  auto out = nlohmann::json::array();
  for (std::size_t i = 0; i < census.classes.size(); ++i) {
    const auto& one = census.classes[i];
    out.push_back({{"index", i},
                   {"name", one.name},
                   {fmt::format("{}s", census.unit()), one.nodes},
                   {"train", one.seeds[0]},
                   {"val", one.seeds[1]},
                   {"test", one.seeds[2]}});
  }
  return out;
}

} // namespace graphmill
