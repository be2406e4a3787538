#include "actors/commands/text/placement_table.hpp"

#include "actors/launch/part_list.hpp"

#include <algorithm>
#include <map>

namespace graphmill {

namespace {

struct duties {
  std::vector<part_id> parts;
  std::vector<part_id> ranks;
  bool samples = false;
};

std::map<std::string, duties> by_daemon(const plan_reply& plan) {
  std::map<std::string, duties> out;
  part_id part = 0;
  for (const auto& name : plan.daemon_of_part)
    out[name].parts.push_back(part++);
  part_id rank = 0;
  for (const auto& name : plan.daemon_of_rank)
    out[name].ranks.push_back(rank++);
  for (const auto& name : plan.samplers)
    out[name].samples = true;
  // Without any named, each trainer's daemon samples for itself.
  for (auto& [name, what] : out)
    what.samples |= plan.samplers.empty() && !what.ranks.empty();
  return out;
}

std::string or_dash(std::string text) {
  return text.empty() ? "-" : text;
}

} // namespace

std::string placement_text(const plan_reply& plan) {
  const auto daemons = by_daemon(plan);
  std::size_t name = 6, parts = 5;
  for (const auto& [who, what] : daemons) {
    name = std::max(name, who.size());
    parts = std::max(parts, to_part_text(what.parts).size());
  }
  auto out = fmt::format("{:<{}}  {:<{}}  {:<7}  trainer ranks\n", "daemon",
                         name, "parts", parts, "samples");
  for (const auto& [who, what] : daemons)
    out += fmt::format("{:<{}}  {:<{}}  {:<7}  {}\n", who, name,
                       or_dash(to_part_text(what.parts)), parts,
                       what.samples ? "yes" : "-",
                       or_dash(to_part_text(what.ranks)));
  return out;
}

nlohmann::json placement_json(const definition& def, const std::string& address,
                              const plan_reply& plan) {
  auto list = nlohmann::json::array();
  for (const auto& [who, what] : by_daemon(plan))
    list.push_back({{"name", who},
                    {"parts", what.parts},
                    {"samples", what.samples},
                    {"ranks", what.ranks}});
  return {
    {"name", def.name}, {"cluster", address}, {"daemons", std::move(list)}};
}

} // namespace graphmill
