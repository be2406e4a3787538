#include "actors/commands/text/placement_table.hpp"

#include "actors/launch/part_list.hpp"
#include "messages/base/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace graphmill {

namespace {

struct duties {
  std::vector<part_id> parts; ///< That it is the first owner of.
  std::vector<part_id> replicas;
  std::vector<part_id> ranks;
  bool samples = false;
};

std::map<std::string, duties> by_daemon(const plan_reply& placed) {
  std::map<std::string, duties> out;
  part_id part = 0;
  for (const auto& name : placed.daemon_of_part)
    out[name].parts.push_back(part++);
  part = 0;
  for (const auto& others : placed.replicas_of_part) {
    for (const auto& name : others.names)
      out[name].replicas.push_back(part);
    ++part;
  }
  part_id rank = 0;
  for (const auto& name : placed.daemon_of_rank)
    out[name].ranks.push_back(rank++);
  for (const auto& name : placed.samplers)
    out[name].samples = true;
  // Without any named, each trainer's daemon samples for itself.
  for (auto& [name, tasks] : out)
    tasks.samples |= placed.samplers.empty() && !tasks.ranks.empty();
  return out;
}

std::string or_dash(std::string text) {
  return text.empty() ? "-" : text;
}

} // namespace

std::string placement_text(const plan_reply& placed) {
  const auto daemons = by_daemon(placed);
  std::size_t name = 6, parts = 5, replicas = 8;
  for (const auto& [daemon, tasks] : daemons) {
    name = std::max(name, daemon.size());
    parts = std::max(parts, to_part_text(tasks.parts).size());
    replicas = std::max(replicas, to_part_text(tasks.replicas).size());
  }
  auto out =
    fmt::format("{:<{}}  {:<{}}  {:<{}}  {:<7}  trainer ranks\n", "daemon",
                name, "parts", parts, "replicas", replicas, "samples");
  for (const auto& [daemon, tasks] : daemons)
    out += format_printable("{:<{}}  {:<{}}  {:<{}}  {:<7}  {}\n", daemon, name,
                            or_dash(to_part_text(tasks.parts)), parts,
                            or_dash(to_part_text(tasks.replicas)), replicas,
                            tasks.samples ? "yes" : "-",
                            or_dash(to_part_text(tasks.ranks)));
  return out;
}

nlohmann::json placement_json(const definition& def, const std::string& address,
                              const plan_reply& placed) {
  auto list = nlohmann::json::array();
  for (const auto& [daemon, tasks] : by_daemon(placed))
    list.push_back({{"name", daemon},
                    {"parts", tasks.parts},
                    {"replicas", tasks.replicas},
                    {"samples", tasks.samples},
                    {"ranks", tasks.ranks}});
  return {
    {"name", def.name}, {"cluster", address}, {"daemons", std::move(list)}};
}

} // namespace graphmill
