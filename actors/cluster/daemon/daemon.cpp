#include "actors/cluster/daemon/daemon.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/base/admission.hpp"
#include "actors/cluster/daemon/end_note.hpp"
#include "actors/cluster/daemon/graph_offer.hpp"
#include "actors/cluster/daemon/household.hpp"
#include "actors/cluster/daemon/monitoring.hpp"
#include "actors/cluster/daemon/request_router.hpp"
#include "actors/cluster/health/event_journal.hpp"
#include "actors/cluster/history/state_folder.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/heap_trimmer.hpp"
#include "actors/process/host_name.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"
#include "actors/process/signals.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/user_keys.hpp"
#include "actors/transport/sockets/open_files.hpp"
#include "actors/transport/transport.hpp"
#include "messages/base/error_list.hpp"
#include "messages/base/moments.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/gradients/devices/orphan_threads.hpp"
#include "pipelines/health/peer_flows.hpp"
#include "pipelines/model/arithmetic.hpp"
#include "pipelines/model/threads.hpp"
#include "pipelines/model/torch/devices.hpp"
#include "pipelines/results/run_folder.hpp"

#include <spdlog/logger.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

/// Of a daemon: a client, and itself or its coordinator.
constexpr std::size_t least_peers = 2;

/// The same after a restart at a fixed port.
std::string default_name(const daemon_options& options) {
  const auto port = options.listen.substr(options.listen.rfind(':') + 1);
  return fmt::format("{}-{}", host_name(),
                     port == "0" ? std::to_string(getpid()) : port);
}

state_folder_options state_options(const daemon_options& options,
                                   const std::string& name) {
  return {options.keep_runs, options.take_up, options.standby, name};
}

unsigned processors_of(const daemon_options& options) {
  return options.processors.value_or(usable_processors());
}

result<std::shared_ptr<const partitioned_graph>>
open_graph(const std::filesystem::path& folder) {
  GRAPHMILL_TRY(auto opened, partitioned_graph::open(folder));
  return std::make_shared<const partitioned_graph>(std::move(opened));
}

/// What the daemon tells of itself. Opens the parts once, to know that they are
/// there, and belong to the dataset.
result<join_request> make_offer(const daemon_options& options,
                                const partitioned_graph& graph) {
  auto out = graph_offer(graph, options.data);
  if (options.parts) {
    out.parts = *options.parts;
  } else {
    out.parts.resize(static_cast<std::size_t>(graph.part_count()));
    std::iota(out.parts.begin(), out.parts.end(), part_id{0});
  }
  for (auto part : out.parts)
    GRAPHMILL_TRYV(graph.open_shard(part));
  out.slots = options.slots.value_or(processors_of(options));
  out.cuda_devices = cuda_devices();
  keep_libraries_single_threaded(); // As trainers have it: see there.
  auto [name, digest] = arithmetic_here();
  out.arithmetic = std::move(name);
  out.arithmetic_digest = std::move(digest);
  out.chaos = options.chaos;
  return out;
}

/// For who looks into a network.
void tell_of_peer(spdlog::logger& log, const peer_event& event) {
  constexpr std::array words{"is there", "is lost", "was replaced", "has left"};
  const auto& who = event.identity;
  log.debug("{} {}{} {}{}{}", event.inbound ? "from " : "",
            who.address.empty() ? "a client, " : who.address + ", ", who.name,
            words[static_cast<std::size_t>(event.change)],
            event.reason.empty() ? "" : ": ", event.reason);
}

/// Whether it is asked for the sake of a batch, or to fill a cache.
bool is_of_batch(method which) {
  return which == method::sample || which == method::gather
         || which == method::sample_batch;
}

/// Takes requests, and says first which of them is a moment of a run.
std::function<void(incoming_request)>
with_moments(std::function<void(incoming_request)> serve) {
  return [serve = std::move(serve)](incoming_request request) {
    if (is_of_batch(request.method))
      now_at(moment::mid_epoch);
    serve(std::move(request));
  };
}

transport_options transport_of(const daemon_options& options,
                               const std::string& name,
                               const std::vector<std::string>& coordinators,
                               const std::shared_ptr<request_router>& router,
                               const std::shared_ptr<spdlog::logger>& log) {
  transport_options out;
  out.name = name;
  out.listen = options.listen;
  out.advertise = options.advertise;
  out.interface_name = options.interface_name;
  if (!coordinators.empty())
    out.route_to = coordinators.front();
  out.insecure = options.insecure;
  out.liveness.lost_after = std::chrono::seconds{options.lost_after};
  out.on_request = [router](const incoming_request& request) {
    router->serve(request);
  };
  if (options.chaos)
    out.on_request = with_moments(std::move(out.on_request));
  out.on_peer = [router, log = log_about(log, {.module = "transport"})](
                  const peer_event& event) {
    tell_of_peer(*log, event);
    router->tell(event);
  };
  out.fair.emplace();
  out.on_log = [log = log_about(log, {.module = "transport"})](
                 const std::string& line) { log->warn("{}", line); };
  return out;
}

/// Warns in the log, and of those who watch the cluster each: from any thread.
std::function<void(const std::string&)>
warning_teller(const std::shared_ptr<spdlog::logger>& log,
               const std::shared_ptr<cluster_feed>& feed) {
  return [log, feed](const std::string& line) {
    log->warn("{}", line);
    feed->tell({.time = now_unix(), .kind = event_kind::warning, .text = line});
  };
}

/// Where a coordinator notes who has changed something, and what has happened,
/// beside its runs.
/// @param warn Is told when that cannot be written, and when it can again.
result<void> open_notes(const std::filesystem::path& runs,
                        const std::function<void(const std::string&)>& warn,
                        leadership& of) {
  GRAPHMILL_TRYV(make_private_folder(runs));
  of.audit = std::make_shared<audit_log>(runs, warn);
  of.events =
    std::make_shared<event_journal>(runs, of.state.history->cluster(), warn);
  return ok();
}

/// Before anybody can ask: numbers of events, figures and lines of logs are
/// above all that a coordinator before has given, and its events are known.
/// @param warn Tells of what cannot be read.
void begin_telling(const leadership& lead, cluster_feed& feed, log_ring& lines,
                   const std::function<void(const std::string&)>& warn) {
  const auto first = lead.state.history->generation() << 32;
  lines.begin(first);
  auto past = lead.events->former(first);
  feed.begin(first, std::move(past.events),
             // The journal ends with the leadership, before its lock.
             [kept = std::weak_ptr{lead.events}](const cluster_event& event) {
               if (const auto events = kept.lock())
                 events->add(event);
             });
  for (const auto& damage : past.damage)
    warn(damage);
}

/// Makes a folder's path one that holds whatever becomes of the folder in which
/// the daemon was started.
result<void> make_absolute(std::filesystem::path& folder) {
  std::error_code failed;
  auto whole = std::filesystem::absolute(folder, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot find the absolute path of {}",
                      folder.string());
  folder = std::move(whole);
  return ok();
}

result<daemon_options> with_absolute_paths(daemon_options options) {
  GRAPHMILL_TRYV(make_absolute(options.data));
  GRAPHMILL_TRYV(make_absolute(options.runs));
  for (auto* file : {&options.logs.file, &options.members})
    if (!file->empty())
      GRAPHMILL_TRYV(make_absolute(*file));
  return options;
}

std::string name_of(const daemon_options& options, const admission& admitted) {
  return admitted.name.empty() ? default_name(options) : admitted.name;
}

/// Whom a daemon joins, as news of them name them. None: it leads.
result<std::vector<std::string>>
coordinators_of(const daemon_options& options) {
  if (options.join.empty())
    return std::vector<std::string>{};
  if (options.standby)
    return fail(
      ec::invalid_argument,
      "a stand-in joins no coordinator: leave out --join, or --standby");
  return parse_endpoints(options.join);
}

/// What a daemon is made of before it opens its log.
struct daemon_beginning {
  std::vector<std::string> coordinators;
  monitoring watched;
  std::shared_ptr<const partitioned_graph> graph;
  join_request offer;
  std::optional<curve_keys> keys;
  admission admitted;
};

/// Fails with all that is wrong with options and files.
result<daemon_beginning> begin_daemon(const daemon_options& options) {
  if (!options.insecure)
    forbid_core_dumps(); // Its keys would be in them.
  const auto leads = options.join.empty();
  error_list wrong;
  wrong.take(check_open_files(least_peers));
  auto coordinators = wrong.take(coordinators_of(options));
  auto watched = wrong.take(options.monitor(leads));
  auto keys = wrong.take(choose_keys(options.key, options.insecure));
  auto admitted =
    keys
      ? wrong.take(admission_of(*keys, options.name, !leads, options.members))
      : std::nullopt;
  auto graph = wrong.take(open_graph(options.data));
  auto offer = graph ? wrong.take(make_offer(options, **graph)) : std::nullopt;
  GRAPHMILL_TRYV(wrong.ended());
  return daemon_beginning{std::move(*coordinators), std::move(*watched),
                          std::move(*graph),        std::move(*offer),
                          std::move(*keys),         std::move(*admitted)};
}

/// Becomes the coordinator of a folder for runs, before it listens: until then
/// clients and daemons go to another one.
/// @param net Gets what follows for the transport.
/// @returns nothing if it was told to end before its turn, or all were.
result<std::optional<leadership>>
take_lead(const daemon_options& options, const std::string& name,
          signal_watch& signals, const std::shared_ptr<spdlog::logger>& log,
          const std::function<void(const std::string&)>& warn,
          transport_options& net) {
  GRAPHMILL_TRY(auto taken,
                take_state_folder(options.runs, state_options(options, name),
                                  signals, *log));
  if (!taken)
    return std::optional<leadership>{};
  leadership out{std::move(*taken), nullptr, nullptr};
  GRAPHMILL_TRYV(open_notes(options.runs, warn, out));
  net.on_refusal = [audit = out.audit](const access_refusal& refusal) {
    audit->add(audit_of(refusal));
  };
  net.cluster = out.state.history->cluster();
  net.generation = out.state.history->generation();
  return std::optional{std::move(out)};
}

void say_beginning(spdlog::logger& log, const join_request& offer,
                   const transport& net, bool leads,
                   const std::optional<curve_keys>& keys,
                   const admission& admitted) {
  log.info("serves {} of {} of {} at {}{}", offer.parts.size(),
           pluralized(offer.part_digests.size(), "part"), offer.dataset,
           net.self().address,
           leads ? fmt::format(", coordinator {} of its cluster",
                               net.self().generation)
                 : "");
  log.log(keys ? spdlog::level::info : spdlog::level::warn, "{}",
          admitted.described(keys, net.self().address));
}

/// Until the daemon is told to end by a signal, or one of its actors ends it;
/// then for as long as the orderly end takes, or until one more signal.
void keep_house(household& actors, const household_setting& of,
                signal_watch& signals, work_watch& watch) {
  for (heap_trimmer heap; signals.count() == 0 && !of.end.written();
       heap.tick()) {
    signals.wait(timeouts::signal_look);
    watch.report(*of.log);
  }
  of.log->info("ending");
  if (!of.end.written())
    actors.begin_end(of);
  const auto until = std::chrono::steady_clock::now() + timeouts::daemon_end;
  while (signals.count() < 2 && !of.end.written()
         && std::chrono::steady_clock::now() < until) {
    signals.wait(timeouts::signal_look);
    watch.report(*of.log);
  }
}

} // namespace

result<void> run_daemon(const daemon_options& given) {
  GRAPHMILL_TRY(const auto options, with_absolute_paths(given));
  GRAPHMILL_TRY(auto begun, begin_daemon(options));
  auto& [coordinators, watched, graph, offer, keys, admitted] = begun;
  const auto leads = coordinators.empty();
  const auto name = name_of(options, admitted);
  GRAPHMILL_TRY(const auto logs, open_daemon_log(options.logs, name, leads));
  const auto& log = logs.log;
  const auto flows = std::make_shared<peer_flows>();
  const auto inboxes = std::make_shared<rank_inboxes>(flows);
  const auto router = std::make_shared<request_router>(
    inboxes, leads ? nullptr : logs.lines, flows);
  signal_watch signals;
  end_note end{signals};
  auto net_options = transport_of(options, name, coordinators, router, log);
  net_options.keys = keys;
  net_options.admitted = admitted.table;
  net_options.on_failure = [&end](const error& reason) { end.write(reason); };
  leadership lead;
  if (leads) {
    const auto warn = warning_teller(log, watched.feed);
    GRAPHMILL_TRY(auto taken,
                  take_lead(options, name, signals, log, warn, net_options));
    if (!taken)
      return ok();
    lead = std::move(*taken);
    begin_telling(lead, *watched.feed, *logs.lines, warn);
  }
  watched_system_config settings;
  set_scheduler(settings, std::max<std::size_t>(2, usable_processors()));
  net_options.gauge = settings.watch->enter("the transport's thread");
  GRAPHMILL_TRY(auto started, transport::start(std::move(net_options)));
  const std::shared_ptr<transport> net = std::move(started);
  say_beginning(*log, offer, *net, leads, keys, admitted);
  watched.start(
    log_about(log, {.module = "http"}), logs.lines,
    [router](const incoming_request& request) { router->serve(request); });
  std::optional<shutdown_watchdog> watchdog;
  // After the watchdog, which watches its threads end, too.
  const auto orphans = std::make_shared<orphan_threads>();
  {
    caf::actor_system system{settings};
    const auto guard = std::make_shared<data_guard>(data_guard::options{
      .data = options.data, .verify = options.verify, .log = log});
    const household_setting of{options,
                               offer,
                               graph,
                               guard,
                               coordinators,
                               lead,
                               net,
                               admitted,
                               inboxes,
                               flows,
                               orphans,
                               watched,
                               processors_of(options),
                               end,
                               log,
                               logs.lines};
    household actors{system, of};
    actors.connect(*router);
    keep_house(actors, of, signals, *settings.watch);
    watchdog.emplace(log, signals.count() > 1);
    router->disconnect();
  }
  if (auto reason = end.reason())
    return *reason;
  return ok();
}

} // namespace graphmill
