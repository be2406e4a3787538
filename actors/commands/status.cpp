#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/launch/part_list.hpp"
#include "actors/process/say.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace graphmill {

namespace {

nlohmann::json daemon_json(const daemon_status& daemon) {
  return {{"name", daemon.name},
          {"address", daemon.address},
          {"host", daemon.host},
          {"state", to_string(daemon.state)},
          {"parts", daemon.parts},
          {"slots", daemon.slots},
          {"cuda_devices", daemon.cuda_devices},
          {"chaos", daemon.chaos},
          {"note", daemon.note}};
}

nlohmann::json status_json(const std::string& address,
                           const status_reply& now) {
  auto daemons = nlohmann::json::array();
  for (const auto& daemon : now.daemons)
    daemons.push_back(daemon_json(daemon));
  return {
    {"cluster", address},
    {"coordinator", now.coordinator},
    {"dataset", now.dataset},
    {"parts", now.parts},
    {"daemons", std::move(daemons)},
    {"running",
     now.running.empty() ? nlohmann::json() : nlohmann::json(now.running)},
    {"queued", now.queued},
    {"note", now.note},
  };
}

/// The parts that nobody in service has: no run can start without them.
std::vector<part_id> missing_parts(const status_reply& now) {
  std::vector<part_id> out;
  for (part_id part = 0; part < static_cast<part_id>(now.parts); ++part)
    if (std::ranges::none_of(now.daemons, [part](const daemon_status& daemon) {
          return daemon.state == daemon_state::ready
                 && std::ranges::find(daemon.parts, part) != daemon.parts.end();
        }))
      out.push_back(part);
  return out;
}

/// Who lets itself be harmed: nobody wants to hear of that too late.
std::string chaos_line(const std::vector<daemon_status>& daemons) {
  std::vector<std::string> names;
  for (const auto& daemon : daemons)
    if (daemon.chaos)
      names.push_back(daemon.name);
  return fmt::format("clients may do harm (--chaos-allowed): {}",
                     fmt::join(names, ", "));
}

void print_daemons(const std::vector<daemon_status>& daemons) {
  std::size_t name = 6, host = 4, address = 7, parts = 5;
  for (const auto& daemon : daemons) {
    name = std::max(name, daemon.name.size());
    host = std::max(host, daemon.host.size());
    address = std::max(address, daemon.address.size());
    parts = std::max(parts, to_part_text(daemon.parts).size());
  }
  say("\n{:<{}}  {:<8}  {:<{}}  {:<{}}  {:<{}}  {:>5}\n", "daemon", name,
      "state", "host", host, "address", address, "parts", parts, "slots");
  for (const auto& daemon : daemons)
    say("{:<{}}  {:<8}  {:<{}}  {:<{}}  {:<{}}  {:>5}{}{}\n", daemon.name, name,
        to_string(daemon.state), daemon.host, host, daemon.address, address,
        to_part_text(daemon.parts), parts, daemon.slots,
        daemon.note.empty() ? "" : "  ", daemon.note);
}

void print_status(const std::string& address, const status_reply& now) {
  say("coordinator  {} at {}\n", now.coordinator, address);
  say("dataset      {} in {} {}\n", now.dataset, now.parts,
      now.parts == 1 ? "part" : "parts");
  say("running      {}\n", now.running.empty() ? "nothing" : now.running);
  if (!now.queued.empty())
    say("queued       {}\n", fmt::format("{}", fmt::join(now.queued, ", ")));
  if (!now.note.empty())
    say("trouble      {}\n", now.note);
  print_daemons(now.daemons);
  if (std::ranges::any_of(now.daemons, &daemon_status::chaos))
    say("\n{}\n", chaos_line(now.daemons));
  if (const auto missing = missing_parts(now); !missing.empty())
    say("\nno daemon in service has part {}: no run can start\n",
        to_part_text(missing));
}

result<int> status(const cluster_options& options) {
  GRAPHMILL_TRY(auto client, connect(options, "status"));
  GRAPHMILL_TRY(const auto now, client.status());
  if (options.json)
    say("{}\n", one_line(status_json(client.address(), now)));
  else
    print_status(client.address(), now);
  return 0;
}

} // namespace

void add_status_command(command_line& cli) {
  auto options = std::make_shared<cluster_options>();
  auto* command = cli.app.add_subcommand(
    "status", "Show a cluster: its daemons, what runs and what waits");
  add_cluster_options(*command, *options);
  command->callback(
    [&cli, options] { cli.run = [options] { return status(*options); }; });
}

} // namespace graphmill
