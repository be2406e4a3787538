#include "actors/cluster/daemon/household.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/audit/audit_log.hpp"
#include "actors/cluster/base/admission.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/base/chaos_tool.hpp"
#include "actors/cluster/coordinator/coordinator.hpp"
#include "actors/cluster/daemon/agent.hpp"
#include "actors/cluster/daemon/daemon.hpp"
#include "actors/cluster/daemon/end_note.hpp"
#include "actors/cluster/daemon/monitoring.hpp"
#include "actors/cluster/daemon/request_router.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "pipelines/health/peer_flows.hpp"
#include "pipelines/results/run_folder.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// Has an actor's wish that the daemon stop noted.
auto stop_by(end_note& end) {
  return [&end](std::optional<error> reason) { end.write(std::move(reason)); };
}

coordinator_config
coordinator_config_of(const household_setting& of,
                      const std::shared_ptr<chaos_tool>& chaos) {
  coordinator_config out;
  out.offer = of.offer;
  out.data = of.options.data;
  out.runs = of.options.runs;
  out.history = of.lead.state.history;
  out.lock = of.lead.state.lock;
  out.runs_at_once = of.options.runs_at_once;
  out.audit = of.lead.audit;
  out.graph = of.graph;
  out.net = of.net;
  out.members = of.admitted.members;
  out.watch = of.admitted.watch;
  out.chaos = chaos;
  out.figures = of.watched.board;
  out.feed = of.watched.feed;
  out.on_stop = stop_by(of.end);
  out.log = log_about(of.log, {.module = "coordinator"});
  out.logs = of.lines;
  return out;
}

agent_config agent_config_of(const household_setting& of,
                             const std::shared_ptr<chaos_tool>& chaos,
                             const data_server_actor& data,
                             std::shared_ptr<const reply_gauge> answers) {
  agent_config out;
  out.offer = of.offer;
  if (of.coordinators.empty()) {
    out.coordinator = of.net->self().address;
  } else {
    out.coordinator = of.coordinators.front();
    out.stand_ins.assign(of.coordinators.begin() + 1, of.coordinators.end());
    out.admitted = of.admitted.table;
  }
  out.grace = of.options.grace;
  out.graph = of.graph;
  out.data = of.options.data;
  out.guard = of.guard;
  out.chaos = chaos;
  out.around = {of.net,     data,          of.inboxes,
                of.orphans, of.processors, std::move(answers),
                of.flows};
  out.storage = of.options.storage;
  out.join_timeout = of.options.join_timeout;
  out.on_joined = [&end = of.end, file = of.options.ready_file,
                   address = of.net->self().address] {
    if (file.empty())
      return;
    if (auto written = write_file(file, address + "\n"); !written)
      end.write(written.error());
  };
  out.on_stop = stop_by(of.end);
  out.figures = of.watched.board;
  out.log = log_about(of.log, {.module = "agent"});
  return out;
}

template <class Handle>
void end_with(const Handle& actor, const char* label, end_note& end) {
  caf::actor_cast<caf::actor>(actor)->attach_functor(
    [&end, label](const caf::error& reason) {
      if (reason && reason != caf::exit_reason::user_shutdown)
        end.write(from_caf(reason, label));
    });
}

} // namespace

struct household::actors {
  std::shared_ptr<chaos_tool> chaos; ///< Null unless it is allowed.
  data_server_actor data;
  coordinator_actor coordinator;
  agent_actor agent;
};

household::household(caf::actor_system& system, const household_setting& of)
  : actors_(std::make_unique<actors>()) {
  auto& [chaos, data, coordinator, agent] = *actors_;
  data_server_config serving;
  serving.daemon = of.net->self().name;
  serving.log = log_about(of.log, {.module = "data"});
  const auto answers = std::make_shared<reply_gauge>();
  serving.answers = answers;
  data = spawn_data_server(system, std::move(serving));
  if (of.options.chaos)
    chaos = std::make_shared<chaos_tool>(
      chaos_tool::settings{of.net, of.options.runs, of.log});
  if (of.coordinators.empty())
    coordinator = spawn_coordinator(system, coordinator_config_of(of, chaos));
  agent = spawn_agent(system, agent_config_of(of, chaos, data, answers));
  end_with(data, "the data server", of.end);
  if (coordinator)
    end_with(coordinator, "the coordinator", of.end);
  end_with(agent, "the agent", of.end);
}

household::~household() {
  stop_actor(actors_->coordinator);
  stop_actor(actors_->agent);
  stop_actor(actors_->data);
}

void household::connect(request_router& router) {
  router.connect(actors_->agent, actors_->coordinator, actors_->data);
}

void household::begin_end(const household_setting& of) {
  if (actors_->coordinator) {
    post(actors_->coordinator, end_orderly{});
    return;
  }
  // The transport ends before the note. One of them is the coordinator.
  const auto silent = std::make_shared<std::atomic<std::size_t>>(0);
  for (const auto& address : of.coordinators)
    of.net->request(address, method::leave, {},
                    within(timeouts::daemon_end, timeouts::unheard, 1),
                    [&end = of.end, silent, count = of.coordinators.size()](
                      const result<payload>& answer) {
                      if (answer || ++*silent == count)
                        end.write(std::nullopt);
                    });
}

} // namespace graphmill
