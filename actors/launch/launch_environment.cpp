#include "actors/launch/launch_environment.hpp"

#include "actors/launch/part_list.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/words/number_text.hpp"

#include <boost/algorithm/string.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace graphmill {

namespace {

/// Where daemons listen unless told otherwise.
constexpr std::uint16_t usual_port = 7800;

constexpr std::uint32_t most_ranks = 65536;

result<std::uint32_t> read_number(const std::string& name,
                                  const std::string& text, std::uint32_t from,
                                  std::uint32_t to) {
  const auto value = number_from<std::uint32_t>(text);
  if (!value || *value < from || *value > to)
    return fail(ec::invalid_argument,
                "the environment variable {} is `{}`, must be a number from {} "
                "to {}; unset it if no launcher is meant",
                name, text, from, to);
  return *value;
}

/// Two variables that only mean something together.
struct rank_variables {
  const char* rank;
  const char* world;
};

struct place {
  std::uint32_t rank;
  std::uint32_t world;
  bool slurm;
};

result<std::optional<place>> read_place(const environment_lookup& lookup) {
  for (const auto& names : {rank_variables{"RANK", "WORLD_SIZE"},
                            rank_variables{"SLURM_PROCID", "SLURM_NTASKS"}}) {
    const auto rank = lookup(names.rank);
    const auto world = lookup(names.world);
    if (!rank || !world)
      continue;
    GRAPHMILL_TRY(const auto total,
                  read_number(names.world, *world, 1, most_ranks));
    GRAPHMILL_TRY(const auto mine,
                  read_number(names.rank, *rank, 0, total - 1));
    return std::optional{
      place{mine, total, std::string_view{names.rank} != "RANK"}};
  }
  return std::optional<place>{};
}

result<std::string> master_host(const environment_lookup& lookup,
                                const place& mine) {
  if (auto host = lookup("MASTER_ADDR"); host && !host->empty())
    return *std::move(host);
  if (const auto list = lookup("SLURM_JOB_NODELIST"); mine.slurm && list)
    return first_slurm_host(*list);
  return fail(
    ec::invalid_argument,
    "the environment variables {0} and {1} are set, as by a launcher, "
    "but MASTER_ADDR is not: if no launcher is meant, `unset {0} {1}`; "
    "else name the host of rank 0 by MASTER_ADDR, or give --listen "
    "and --join",
    mine.slurm ? "SLURM_PROCID" : "RANK",
    mine.slurm ? "SLURM_NTASKS" : "WORLD_SIZE");
}

result<std::uint16_t> master_port(const environment_lookup& lookup) {
  const auto text = lookup("MASTER_PORT");
  if (!text)
    return usual_port;
  GRAPHMILL_TRY(auto port, read_number("MASTER_PORT", *text, 1, 65534));
  if (const auto taken = lookup("TORCHELASTIC_USE_AGENT_STORE");
      taken && (*taken == "True" || *taken == "1"))
    ++port;
  return static_cast<std::uint16_t>(port);
}

/// Where a daemon listens and whom it joins. Others cannot reach loopback, so
/// it is not offered to them.
result<void> read_addresses(const environment_lookup& lookup, const place& mine,
                            launch_environment& out) {
  endpoint master;
  GRAPHMILL_TRY(master.host, master_host(lookup, mine));
  GRAPHMILL_TRY(master.port, master_port(lookup));
  GRAPHMILL_TRYV(parse_endpoint(to_string(master)));
  const auto is_v6 = master.host.find(':') != std::string::npos;
  const std::string where =
    is_loopback(master) ? (is_v6 ? "::1" : "127.0.0.1") : (is_v6 ? "::" : "*");
  const auto port = mine.rank == 0 ? master.port : std::uint16_t{0};
  out.listen = to_string(endpoint{where, port});
  if (mine.rank != 0)
    out.join = to_string(master);
  else if (!is_loopback(master))
    out.advertise = master.host;
  return ok();
}

/// The device of a process that shares its machine with others of the launch.
result<std::string> own_device(const environment_lookup& lookup,
                               std::uint32_t devices) {
  const auto rank = lookup("LOCAL_RANK");
  const auto world = lookup("LOCAL_WORLD_SIZE");
  if (!rank || !world)
    return std::string{};
  GRAPHMILL_TRY(const auto total,
                read_number("LOCAL_WORLD_SIZE", *world, 1, most_ranks));
  GRAPHMILL_TRY(const auto mine,
                read_number("LOCAL_RANK", *rank, 0, total - 1));
  std::vector<std::string> names;
  if (const auto visible = lookup("CUDA_VISIBLE_DEVICES"))
    boost::algorithm::split(names, *visible, boost::is_any_of(","));
  else
    for (std::uint32_t i = 0; i < devices; ++i)
      names.push_back(std::to_string(i));
  // A launcher that has dealt them out already leaves one.
  return total > 1 && names.size() > 1 ? names[mine % names.size()]
                                       : std::string{};
}

} // namespace

std::uint32_t nvidia_devices() {
  constexpr std::string_view prefix = "nvidia";
  std::uint32_t count = 0;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry{"/dev", ignored}, end;
       !ignored && entry != end; entry.increment(ignored)) {
    const auto name = entry->path().filename().string();
    count += name.size() > prefix.size() && name.starts_with(prefix)
             && std::all_of(name.begin() + prefix.size(), name.end(),
                            [](char c) { return c >= '0' && c <= '9'; });
  }
  return count;
}

std::optional<std::string> environment_variable(const std::string& name) {
  const auto* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

std::string launch_environment::serve(part_id parts) const {
  return to_part_text(deal_parts(parts, rank, world));
}

result<std::string> first_slurm_host(const std::string& list) {
  const auto wrong = [&list] {
    return fail(ec::invalid_argument,
                "SLURM_JOB_NODELIST is `{}`, which is no list of hosts", list);
  };
  const auto name_end = list.find_first_of(",[");
  auto host = list.substr(0, name_end);
  auto rest = name_end == std::string::npos ? "" : list.substr(name_end);
  // There may be several brackets: "rack[1-2]node[01-16]".
  while (!rest.empty() && rest.front() == '[') {
    const auto close = rest.find(']');
    if (close == std::string::npos)
      return wrong();
    const auto inside = rest.substr(1, close - 1);
    const auto first = inside.substr(0, inside.find_first_of(",-"));
    if (first.empty())
      return wrong();
    host += first;
    rest = rest.substr(close + 1);
    const auto next = rest.find_first_of(",[");
    host += rest.substr(0, next);
    rest = next == std::string::npos ? "" : rest.substr(next);
  }
  if (host.empty() || host.find(']') != std::string::npos
      || host.find(' ') != std::string::npos)
    return wrong();
  return host;
}

std::span<const char* const> launcher_variables() {
  static constexpr const char* names[]{"RANK",
                                       "WORLD_SIZE",
                                       "LOCAL_RANK",
                                       "LOCAL_WORLD_SIZE",
                                       "MASTER_ADDR",
                                       "MASTER_PORT",
                                       "SLURM_PROCID",
                                       "SLURM_NTASKS",
                                       "SLURM_JOB_NODELIST",
                                       "TORCHELASTIC_USE_AGENT_STORE"};
  return names;
}

result<std::optional<launch_environment>>
read_launch_environment(const environment_lookup& lookup, std::uint32_t devices,
                        bool addressed) {
  GRAPHMILL_TRY(const auto mine, read_place(lookup));
  // One process alone is started by hand as well, as in a shell of SLURM.
  if (!mine || (mine->world == 1 && (mine->slurm || !lookup("MASTER_ADDR"))))
    return std::optional<launch_environment>{};
  launch_environment out;
  out.rank = mine->rank;
  out.world = mine->world;
  out.name = fmt::format("daemon-{}", out.rank);
  if (!addressed)
    GRAPHMILL_TRYV(read_addresses(lookup, *mine, out));
  if (const auto local = lookup("LOCAL_WORLD_SIZE")) {
    GRAPHMILL_TRY(out.local_world,
                  read_number("LOCAL_WORLD_SIZE", *local, 1, most_ranks));
  }
  GRAPHMILL_TRY(out.devices, own_device(lookup, devices));
  return std::optional{std::move(out)};
}

} // namespace graphmill
