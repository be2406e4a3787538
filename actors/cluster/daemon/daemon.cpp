#include "actors/cluster/daemon/daemon.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/admission.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/coordinator/coordinator.hpp"
#include "actors/cluster/daemon/agent.hpp"
#include "actors/cluster/daemon/console_sink.hpp"
#include "actors/cluster/daemon/end_note.hpp"
#include "actors/cluster/daemon/request_router.hpp"
#include "actors/cluster/history/state_folder.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/heap_trimmer.hpp"
#include "actors/process/processors.hpp"
#include "actors/process/shutdown_watchdog.hpp"
#include "actors/process/signals.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "actors/run/data_guard.hpp"
#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/user_keys.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/model/arithmetic.hpp"
#include "pipelines/model/devices.hpp"
#include "pipelines/model/threads.hpp"
#include "pipelines/results/run_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <numeric>
#include <thread>

namespace graphmill {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0)
    return "localhost";
  return name.data();
}

/// The same after a restart at a fixed port.
std::string default_name(const daemon_options& options) {
  const auto port = options.listen.substr(options.listen.rfind(':') + 1);
  return fmt::format("{}-{}", host_name(),
                     port == "0" ? std::to_string(getpid()) : port);
}

std::shared_ptr<spdlog::logger> console_logger(const std::string& name) {
  auto sink = std::make_shared<console_sink>(STDERR_FILENO);
  sink->set_pattern("%H:%M:%S.%e %n: %v");
  return std::make_shared<spdlog::logger>(printable(name), std::move(sink));
}

state_folder_options state_options(const daemon_options& options,
                                   const std::string& name) {
  return {options.keep_runs, options.take_up, options.standby, name};
}

unsigned processors_of(const daemon_options& options) {
  return options.processors.value_or(usable_processors());
}

/// What the daemon tells of itself. Opens the parts once, to know that they are
/// there, and belong to the dataset.
result<join_request> make_offer(const daemon_options& options,
                                const partitioned_graph& graph) {
  join_request out;
  out.dataset = graph.info().name;
  out.dataset_digest = graph.info().digest;
  out.part_digests = graph.part_digests();
  if (out.part_digests.empty())
    out.part_digests.push_back(graph.info().digest);
  if (options.parts) {
    out.parts = *options.parts;
  } else {
    out.parts.resize(static_cast<std::size_t>(graph.part_count()));
    std::iota(out.parts.begin(), out.parts.end(), part_id{0});
  }
  for (auto part : out.parts)
    GRAPHMILL_TRYV(graph.open_shard(part));
  out.slots = options.slots.value_or(processors_of(options));
  out.host = host_name();
  out.cuda_devices = cuda_devices();
  keep_libraries_single_threaded(); // As trainers have it: see there.
  auto [name, digest] = arithmetic_here();
  out.arithmetic = std::move(name);
  out.arithmetic_digest = std::move(digest);
  out.chaos = options.chaos;
  return out;
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
  out.on_peer = [router](const peer_event& event) { router->tell(event); };
  out.fair.emplace();
  out.on_log = [log](const std::string& line) { log->warn("{}", line); };
  return out;
}

/// Where a coordinator notes who has changed something, beside its runs.
result<std::shared_ptr<audit_log>>
open_audit(const std::filesystem::path& runs,
           const std::shared_ptr<spdlog::logger>& log) {
  GRAPHMILL_TRYV(make_private_folder(runs));
  return std::make_shared<audit_log>(
    runs, [log](const std::string& line) { log->warn("{}", line); });
}

/// The actors of a daemon.
class household {
public:
  household(caf::actor_system& system, const daemon_options& options,
            const join_request& offer,
            const std::shared_ptr<const partitioned_graph>& graph,
            const std::shared_ptr<data_guard>& guard,
            const std::vector<std::string>& coordinators,
            const state_folder& state, const std::shared_ptr<audit_log>& audit,
            const std::shared_ptr<transport>& net, const admission& admitted,
            const std::shared_ptr<rank_inboxes>& inboxes,
            const std::shared_ptr<orphan_threads>& orphans,
            const monitoring& watched, end_note& end,
            const std::shared_ptr<spdlog::logger>& log) {
    const auto on_stop = [&end](std::optional<error> reason) {
      end.write(std::move(reason));
    };
    data_server_config serving;
    serving.daemon = net->self().name;
    serving.log = log;
    data_ = spawn_data_server(system, std::move(serving));
    if (options.chaos)
      chaos_ = std::make_shared<chaos_tool>(
        chaos_tool::settings{net, options.runs, log});
    if (coordinators.empty()) {
      coordinator_config lead;
      lead.offer = offer;
      lead.data = options.data;
      lead.runs = options.runs;
      lead.history = state.history;
      lead.lock = state.lock;
      lead.audit = audit;
      lead.graph = graph;
      lead.net = net;
      lead.members = admitted.members;
      lead.watch = admitted.watch;
      lead.chaos = chaos_;
      lead.figures = watched.board();
      lead.feed = watched.feed();
      lead.on_stop = on_stop;
      lead.log = log;
      coordinator_ = spawn_coordinator(system, std::move(lead));
    }
    agent_config own;
    own.offer = offer;
    if (coordinators.empty()) {
      own.coordinator = net->self().address;
    } else {
      own.coordinator = coordinators.front();
      own.stand_ins.assign(coordinators.begin() + 1, coordinators.end());
    }
    own.grace = options.grace;
    if (coordinator_ == nullptr)
      own.admitted = admitted.table;
    own.graph = graph;
    own.data = options.data;
    own.guard = guard;
    own.chaos = chaos_;
    own.around = {net, data_, inboxes, orphans, processors_of(options)};
    own.storage = options.storage;
    own.join_timeout = options.join_timeout;
    own.on_joined = [&end, file = options.ready_file,
                     address = net->self().address] {
      if (file.empty())
        return;
      if (auto written = write_file(file, address + "\n"); !written)
        end.write(written.error());
    };
    own.on_stop = on_stop;
    own.figures = watched.board();
    own.log = log;
    agent_ = spawn_agent(system, std::move(own));
    watch(data_, "the data server", end);
    if (coordinator_)
      watch(coordinator_, "the coordinator", end);
    watch(agent_, "the agent", end);
  }

  ~household() {
    stop_actor(coordinator_);
    stop_actor(agent_);
    stop_actor(data_);
  }

  void connect(request_router& router) {
    router.connect(agent_, coordinator_, data_);
  }

  /// Begins to end what is on: a coordinator its run, any other its part in
  /// one, which the coordinator lets go of. The end is told.
  void begin_end(transport& net, const std::vector<std::string>& coordinators,
                 end_note& end) {
    if (coordinator_) {
      post(coordinator_, end_orderly{});
      return;
    }
    // The transport ends before the note. One of them is the coordinator.
    const auto silent = std::make_shared<std::atomic<std::size_t>>(0);
    for (const auto& address : coordinators)
      net.request(address, method::leave, {},
                  within(timeouts::daemon_end, timeouts::unheard, 1),
                  [&end, silent,
                   of = coordinators.size()](const result<payload>& answer) {
                    if (answer || ++*silent == of)
                      end.write(std::nullopt);
                  });
  }

private:
  /// A daemon without one of its actors is of no use to anybody.
  template <class Handle>
  static void watch(const Handle& actor, const char* label, end_note& end) {
    caf::actor_cast<caf::actor>(actor)->attach_functor(
      [&end, label](const caf::error& reason) {
        if (reason && reason != caf::exit_reason::user_shutdown)
          end.write(from_caf(reason, label));
      });
  }

  std::shared_ptr<chaos_tool> chaos_; ///< Null unless it is allowed.
  data_server_actor data_;
  coordinator_actor coordinator_;
  agent_actor agent_;
};

/// Makes a folder's path one that holds whatever becomes of the folder in which
/// the daemon was started.
result<void> make_absolute(std::filesystem::path& folder) {
  std::error_code failed;
  auto whole = std::filesystem::absolute(folder, failed);
  if (failed)
    return fail_errno(failed.value(),
                      "cannot tell where {} is, as seen from the root",
                      folder.string());
  folder = std::move(whole);
  return ok();
}

} // namespace

result<void> run_daemon(const daemon_options& given) {
  auto options = given;
  GRAPHMILL_TRYV(make_absolute(options.data));
  GRAPHMILL_TRYV(make_absolute(options.runs));
  std::vector<std::string> coordinators; // As news of them name them.
  if (!options.join.empty()) {
    GRAPHMILL_TRY(coordinators, parse_endpoints(options.join));
  }
  const auto leads = coordinators.empty();
  if (options.standby && !leads)
    return fail(
      ec::invalid_argument,
      "a stand-in for the coordinator joins nobody: leave out --join, "
      "or --standby");
  GRAPHMILL_TRY(auto watched, monitoring::prepare(options.watched, leads));
  GRAPHMILL_TRY(auto opened, partitioned_graph::open(options.data));
  const auto graph =
    std::make_shared<const partitioned_graph>(std::move(opened));
  GRAPHMILL_TRY(const auto offer, make_offer(options, *graph));
  if (!options.insecure)
    forbid_core_dumps(); // Its keys would be in them.
  GRAPHMILL_TRY(const auto keys, choose_keys(options.key, options.insecure));
  GRAPHMILL_TRY(const auto admitted,
                admission_of(keys, options.name, !leads, options.members));
  const auto name =
    admitted.name.empty() ? default_name(options) : admitted.name;
  const auto log = console_logger(name);
  const auto inboxes = std::make_shared<rank_inboxes>();
  const auto router = std::make_shared<request_router>(inboxes);
  signal_watch signals;
  end_note end{signals};
  auto net_options = transport_of(options, name, coordinators, router, log);
  net_options.keys = keys;
  net_options.admitted = admitted.table;
  net_options.on_failure = [&end](const error& reason) { end.write(reason); };
  state_folder state;
  std::shared_ptr<audit_log> audit;
  if (leads) {
    // Before it listens: until then clients and daemons go to another one.
    GRAPHMILL_TRY(auto taken,
                  take_state_folder(options.runs, state_options(options, name),
                                    signals, *log));
    if (!taken)
      return ok(); // Told to end before its turn, or all were.
    state = std::move(*taken);
    GRAPHMILL_TRY(audit, open_audit(options.runs, log));
    net_options.on_refusal = [audit](const access_refusal& refusal) {
      audit->add(audit_of(refusal));
    };
    net_options.cluster = state.history->cluster();
    net_options.generation = state.history->generation();
  }
  watched_system_config settings;
  set_scheduler(settings, std::max<std::size_t>(2, usable_processors()));
  net_options.gauge = settings.watch->enter("the transport's thread");
  GRAPHMILL_TRY(auto started, transport::start(std::move(net_options)));
  const std::shared_ptr<transport> net = std::move(started);
  log->info("serves {} of {} of {} at {}{}", offer.parts.size(),
            pluralized(offer.part_digests.size(), "part"), offer.dataset,
            net->self().address,
            leads ? fmt::format(", coordinator {} of its cluster",
                                net->self().generation)
                  : "");
  log->log(keys ? spdlog::level::info : spdlog::level::warn, "{}",
           admitted.described(keys, net->self().address));
  watched.start(log);
  std::optional<shutdown_watchdog> watchdog;
  // After the watchdog, which watches its threads end, too.
  const auto orphans = std::make_shared<orphan_threads>();
  {
    caf::actor_system system{settings};
    const auto guard = std::make_shared<data_guard>(data_guard::options{
      .data = options.data, .verify = options.verify, .log = log});
    household actors{system,       options, offer,   graph, guard,
                     coordinators, state,   audit,   net,   admitted,
                     inboxes,      orphans, watched, end,   log};
    actors.connect(*router);
    for (heap_trimmer heap; signals.count() == 0 && !end.written();
         heap.tick()) {
      signals.wait(timeouts::signal_look);
      settings.watch->report(*log);
    }
    log->info("ending");
    if (!end.written())
      actors.begin_end(*net, coordinators, end);
    const auto until = std::chrono::steady_clock::now() + timeouts::daemon_end;
    while (signals.count() < 2 && !end.written()
           && std::chrono::steady_clock::now() < until) {
      signals.wait(timeouts::signal_look);
      settings.watch->report(*log);
    }
    watchdog.emplace(log, signals.count() > 1);
    router->disconnect();
  }
  if (auto reason = end.reason())
    return *reason;
  return ok();
}

} // namespace graphmill
