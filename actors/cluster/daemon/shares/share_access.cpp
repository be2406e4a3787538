#include "actors/cluster/daemon/shares/share_access.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/shares/rendezvous_client.hpp"
#include "actors/remote/failover.hpp"
#include "actors/remote/owner_order.hpp"
#include "actors/remote/proxies/batch_proxy.hpp"
#include "actors/remote/proxies/cache_filler.hpp"
#include "actors/remote/proxies/feature_proxy.hpp"
#include "actors/remote/proxies/sampling_proxy.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/remote/transport_calls.hpp"
#include "actors/remote/watched_link.hpp"
#include "actors/stages/training/ddp_group.hpp"
#include "messages/base/moments.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/gradients/gradient_set.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <limits>
#include <map>

namespace graphmill {

namespace {

/// Answers of all parts of other daemons that a member has under way, of either
/// kind: what arrives of them has memory of its own until it is taken.
constexpr std::uint32_t most_answers = 64;

/// Requests to one part under way, of `window` at the most.
std::uint32_t window_of(std::uint32_t window, const member_config& member) {
  const auto elsewhere =
    std::count(member.shards.begin(), member.shards.end(), nullptr);
  const auto parts =
    static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(elsewhere, 1));
  return std::clamp(most_answers / parts, 1U, window);
}

/// An owner that is slow is waited for; one that is lost is known as such long
/// before. It may have dropped an answer for want of room, so it is asked
/// again, ever more seldom.
void repeat_seldom(call_options& how) {
  how.attempts = 8;
  how.repeat = std::chrono::seconds{20};
  how.longest_repeat = std::chrono::minutes{2};
}

call_options data_patience() {
  call_options out;
  out.deadline = timeouts::data_request;
  repeat_seldom(out);
  return out;
}

/// The same while another owner of the part can be asked instead.
call_options brief_patience() {
  auto out = data_patience();
  out.unreachable = timeouts::owner_unreachable;
  out.fails_if_refused = true;
  return out;
}

/// The daemons of a run as they are asked for data, by their positions.
std::shared_ptr<failover> failover_of(const deployment& assignment,
                                      const member_config& member,
                                      const share_surroundings& around) {
  std::vector<failover::target> daemons;
  for (const auto& [name, address] : assignment.daemons)
    daemons.push_back({name, call_over(around.net, address, brief_patience()),
                       call_over(around.net, address, data_patience())});
  failover::settings with;
  if (member.log)
    with.tell = [log = member.log,
                 run = assignment.run](const std::string& sentence) {
      log->warn("run {}: {}", run, sentence);
    };
  return failover::over(std::move(daemons), std::move(with));
}

/// Where the parts of other daemons are, found out once: addresses are read for
/// it, and owners put in order. A value that nobody changes.
class remote_directory {
public:
  remote_directory(const deployment& assignment, const member_config& member,
                   failover& owners,
                   const std::shared_ptr<remote_counters>& counters) {
    for (std::size_t p = 0; p < member.shards.size(); ++p)
      if (!member.shards[p]) {
        const auto part = static_cast<part_id>(p);
        const auto order = owner_order(assignment, part);
        parts_.insert(
          {part,
           {assignment.run, part, assignment.daemons[order.front()].name,
            member.graph, owners.among({order.begin(), order.end()}),
            member.pool, counters}});
      }
  }

  /// @pre the part is not here
  const remote_part& to(part_id part) const {
    return parts_.find(part)->second;
  }

private:
  std::map<part_id, remote_part> parts_;
};

/// The way to a part, whose requests are counted.
remote_part gauged(remote_part to, actor_kind proxy, gauge_board& health) {
  to.call =
    gauged(std::move(to.call), health.add({proxy, to.part, -1, to.daemon}));
  return to;
}

bool samples(const deployment& assignment, std::uint16_t daemon) {
  return std::find(assignment.samplers.begin(), assignment.samplers.end(),
                   daemon)
         != assignment.samplers.end();
}

call_options batch_patience() {
  call_options out;
  out.deadline = timeouts::batch_request;
  repeat_seldom(out);
  return out;
}

batch_proxy_config proxy_of(const deployment& assignment,
                            const member_config& member,
                            const stage_table& stages,
                            const share_surroundings& around,
                            std::shared_ptr<remote_counters> wire) {
  batch_proxy_config out;
  out.run = assignment.run;
  out.graph = member.graph;
  for (auto daemon : assignment.samplers) {
    const auto& [name, address] = assignment.daemons[daemon];
    out.sources.push_back(
      {name,
       daemon == assignment.you
         ? remote_call{}
         : gauged(call_over(around.net, address, batch_patience()),
                  member.health->add({actor_kind::batch_link, -1, -1, name}))});
  }
  out.world = static_cast<rank_id>(assignment.daemon_of_rank.size());
  out.pool = member.pool;
  out.counters = stages[stage_kind::batch_proxy];
  out.wire = std::move(wire);
  out.log = member.log;
  return out;
}

serve_batches offer_of(const deployment& assignment,
                       const member_config& member) {
  serve_batches out;
  out.run = assignment.run;
  out.graph = member.graph;
  // The size of a batch may stand for all seeds there are.
  const auto& info = member.graph->info();
  const auto disjoint = member.def.sampler.disjoint;
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto rows =
    std::max(target.count, *std::ranges::max_element(target.split_counts));
  const auto most = [&](phase which, std::uint32_t size) {
    // With trees, a node may be a seed of each row.
    const auto seeds = seed_bound(member.def, info, which,
                                  disjoint ? std::min<std::int64_t>(size, rows)
                                           : std::int64_t{size});
    std::int64_t sum = 0;
    for (std::size_t t = 0; t < seeds.size(); ++t)
      sum += disjoint ? seeds[t] : std::min(seeds[t], info.node_types[t].count);
    return static_cast<std::uint32_t>(
      std::min(sum, std::int64_t{std::numeric_limits<std::uint32_t>::max()}));
  };
  out.train = {member.train_scheme,
               most(phase::train, member.def.train.batch_size)};
  out.evaluate = {
    member.evaluate_scheme,
    std::max(most(phase::validation, member.def.evaluate.batch_size),
             most(phase::test, member.def.evaluate.batch_size))};
  return out;
}

/// Samplers of other daemons, and those here for others.
void link_samplers(const deployment& assignment, const member_config& member,
                   const stage_table& stages, const share_surroundings& around,
                   std::shared_ptr<remote_counters> wire, remote_access& out) {
  if (samples(assignment, assignment.you))
    out.publish_sampler = [data = around.data,
                           offer =
                             offer_of(assignment, member)](sampler_actor here) {
      auto own = offer;
      own.sampler = std::move(here);
      post(data, std::move(own));
    };
  if (!assignment.samplers.empty() && !member.ranks.empty())
    out.sampler = [proxy = proxy_of(assignment, member, stages, around,
                                    std::move(wire))](caf::actor_system& system,
                                                      sampler_actor here) {
      auto own = proxy;
      own.here = std::move(here);
      return spawn_batch_proxy(system, std::move(own));
    };
}

bool in_one_process(const deployment& assignment) {
  return std::all_of(assignment.daemon_of_rank.begin(),
                     assignment.daemon_of_rank.end(),
                     [&assignment](std::uint16_t daemon) {
                       return daemon == assignment.daemon_of_rank.front();
                     });
}

/// A daemon without trainers fetches nothing, one with all parts nothing
/// remote.
bool wants_cache(const member_config& member) {
  const auto& shards = member.shards;
  return member.def.fetch.cache != 0 && !member.ranks.empty()
         && std::find(shards.begin(), shards.end(), nullptr) != shards.end();
}

std::function<cache_filler_actor(caf::actor_system&)>
filler_of(const member_config& member,
          const std::shared_ptr<remote_directory>& remotes,
          const share_traffic& traffic) {
  cache_filler_config config;
  config.def = member.def;
  config.graph = member.graph;
  config.shards = member.shards;
  config.scheme = member.train_scheme;
  config.world = member.world;
  config.ranks = member.ranks;
  config.remote = [remotes](part_id part) { return remotes->to(part); };
  config.cache = traffic.cache;
  config.audit = traffic.audit;
  config.log = member.log;
  return [config, health = member.health](caf::actor_system& system) {
    auto own = config;
    own.gauge = health->add({actor_kind::cache_filler});
    return spawn_cache_filler(system, std::move(own));
  };
}

group_options options_of(const deployment& assignment) {
  group_options out;
  out.run = assignment.run;
  out.generation = assignment.generation;
  out.ranks = static_cast<rank_id>(assignment.daemon_of_rank.size());
  for (auto daemon : assignment.daemon_of_rank)
    out.names.push_back(assignment.daemons[daemon].name);
  // The others may still be opening their parts.
  out.join_timeout = timeouts::deployment;
  out.step_timeout = std::chrono::seconds{assignment.def.trainer.step_timeout};
  return out;
}

rank_places places_of(const deployment& assignment) {
  rank_places out{assignment.run, assignment.generation, {}};
  for (auto daemon : assignment.daemon_of_rank)
    out.daemons.push_back(assignment.daemons[daemon]);
  return out;
}

/// Has each rank take part in a gradient group of several processes.
void link_group(const deployment& assignment, const member_config& member,
                const stage_table& stages, const share_surroundings& around,
                remote_access& out) {
  ddp_group_config group;
  group.options = options_of(assignment);
  group.shape =
    member.models.empty() ? gradient_shape{} : member.models.front()->shape();
  group.store =
    rendezvous_at(around.net, assignment.coordinator, assignment.run);
  group.orphans = around.orphans;
  group.counters = stages[stage_kind::gradient_group];
  std::map<rank_id, std::string> devices;
  for (std::size_t i = 0; i < member.models.size(); ++i)
    devices[member.ranks[i]] = member.models[i]->device();
  // A rank waits for the others while they join, and then in a step.
  const auto patience =
    patience_of_ranks(group.options.join_timeout + group.options.step_timeout);
  out.group = [group, devices, health = member.health, net = around.net,
               inboxes = around.inboxes, places = places_of(assignment),
               patience](caf::actor_system& system, rank_id rank) {
    auto own = group;
    own.options.rank = rank;
    own.device = devices.at(rank);
    own.gauge = health->add({actor_kind::gradient_group, -1, rank});
    own.link = link_over(*net, inboxes, places, rank, patience);
    if (moments_watched())
      own.link = watched_link(std::move(own.link));
    return spawn_ddp_group(system, std::move(own));
  };
}

/// The other daemons of the run, by name.
std::vector<std::string> others_of(const deployment& assignment) {
  std::vector<std::string> out;
  for (std::size_t d = 0; d < assignment.daemons.size(); ++d)
    if (d != assignment.you)
      out.push_back(assignment.daemons[d].name);
  return out;
}

} // namespace

stage_table stages_of(const deployment& assignment,
                      const member_config& member) {
  const auto& def = member.def;
  const auto trainers = member.ranks.size();
  const auto parts = std::count_if(member.shards.begin(), member.shards.end(),
                                   [](const auto& part) { return !!part; });
  const auto elsewhere = !assignment.samplers.empty() && trainers != 0;
  const auto here = samples(assignment, assignment.you)
                    || (assignment.samplers.empty() && trainers != 0);
  auto out = stage_table::of(def, static_cast<std::size_t>(parts), trainers,
                             here ? def.sampler.replicas : 0,
                             elsewhere ? batches_elsewhere(def, trainers) : 0);
  out.disk = member.disk;
  return out;
}

remote_access access_of(const deployment& assignment,
                        const member_config& member, const stage_table& stages,
                        const share_surroundings& around,
                        const share_traffic& traffic) {
  if (around.flows)
    around.flows->begin(assignment.run, others_of(assignment),
                        assignment.beside);
  remote_access out;
  link_samplers(assignment, member, stages, around, traffic.wire, out);
  // One for all, so that each learns of an owner that is away from the others.
  const auto owners = failover_of(assignment, member, around);
  const auto remotes = std::make_shared<remote_directory>(
    assignment, member, *owners, traffic.wire);
  const auto windows = [&member](std::uint32_t most) {
    return window_of(most, member);
  };
  out.sampling = [remotes, health = member.health,
                  window = windows(remote_sampling_config{}.window)](
                   caf::actor_system& system, part_id part) {
    remote_sampling_config config;
    config.to = gauged(remotes->to(part), actor_kind::sampling_proxy, *health);
    config.window = window;
    return spawn_remote_sampling_service(system, std::move(config));
  };
  out.features =
    [remotes, health = member.health, half = rounds_features(member.def),
     cache = wants_cache(member) ? traffic.cache : nullptr,
     census = member.def.fetch.cache == 0 ? traffic.census : nullptr,
     audit = traffic.audit, window = windows(remote_feature_config{}.window)](
      caf::actor_system& system, part_id part) {
      remote_feature_config config;
      config.to = gauged(remotes->to(part), actor_kind::feature_proxy, *health);
      config.window = window;
      config.half = half;
      config.cache = cache;
      config.census = census;
      config.audit = audit;
      return spawn_remote_feature_service(system, std::move(config));
    };
  out.publish =
    [run = assignment.run, shards = member.shards, pool = member.pool,
     data = around.data](part_id part, sampling_service_actor sampling,
                         feature_service_actor features) {
      post(data, serve_part{run, shards[static_cast<std::size_t>(part)],
                            std::move(sampling), std::move(features), pool});
    };
  if (wants_cache(member))
    out.cache = filler_of(member,
                          std::make_shared<remote_directory>(
                            assignment, member, *owners, traffic.filling),
                          traffic);
  if (in_one_process(assignment))
    return out;
  link_group(assignment, member, stages, around, out);
  return out;
}

} // namespace graphmill
