#include "actors/commands/text/cache_table.hpp"
#include "messages/base/pluralized.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace graphmill {

namespace {

/// Share of the rows that are wanted without a cache, in percent.
double found(std::uint64_t asked, std::uint64_t wanted) {
  return wanted == 0
           ? 0
           : 100
               - 100 * static_cast<double>(asked) / static_cast<double>(wanted);
}

} // namespace

std::string cache_text(const cache_report& report) {
  auto out = fmt::format(
    "rows requested from other daemons in an epoch of {}, by {} on {}\n"
    "with a daemon each; fetch.cache as a share of a part's rows\n"
    "\n"
    "{:>9} {:>14} {:>11} {:>8} {:>11} {:>8} {:>11}\n",
    pluralized(report.steps, "step"), pluralized(report.trainers, "trainer"),
    pluralized(report.parts, "part"), "share", "fetch.cache", "vip", "found",
    "degree", "found", "least");
  const auto wanted = report.sizes.empty() ? 0 : report.sizes.front().vip;
  for (const auto& size : report.sizes)
    out += fmt::format(
      "{:>7.0f} % {:>14} {:>11} {:>6.1f} % {:>11} {:>6.1f} % {:>11}\n",
      100 * size.fraction, size.bytes, size.vip, found(size.vip, wanted),
      size.degree, found(size.degree, wanted), size.least);
  return out;
}

nlohmann::json cache_json(const cache_report& report) {
  auto sizes = nlohmann::json::array();
  for (const auto& size : report.sizes)
    sizes.push_back({{"share", size.fraction},
                     {"bytes", size.bytes},
                     {"vip_rows", size.vip},
                     {"degree_rows", size.degree},
                     {"least_rows", size.least}});
  return {{"parts", report.parts},
          {"trainers", report.trainers},
          {"steps", report.steps},
          {"sizes", std::move(sizes)}};
}

} // namespace graphmill
