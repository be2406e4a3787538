#include "actors/feed/joined/feed_node.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/admission.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/agent.hpp"
#include "actors/cluster/daemon/daemon_log.hpp"
#include "actors/cluster/daemon/graph_offer.hpp"
#include "actors/cluster/daemon/request_router.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/host_name.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/processors.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/user_keys.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <spdlog/logger.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

namespace graphmill {

namespace {

/// How long the cluster may take to let a consumer in, and to see it off.
constexpr std::chrono::milliseconds join_time{30'000};
constexpr std::chrono::milliseconds leave_time{3000};

/// On loopback, if the cluster is there; else where the way to it begins.
result<std::string> listen_for(const std::string& coordinator) {
  GRAPHMILL_TRY(const auto where, parse_endpoint(coordinator));
  return std::string{is_loopback(where) ? "tcp://127.0.0.1:0"
                                        : "tcp://0.0.0.0:0"};
}

} // namespace

result<std::unique_ptr<feed_node>> feed_node::make(feed_node_config config) {
  std::unique_ptr<feed_node> out{new feed_node{std::move(config)}};
  GRAPHMILL_TRYV(out->prepare());
  return out;
}

result<void> feed_node::prepare() {
  const auto& cluster = config_.cluster;
  if (!cluster.insecure)
    forbid_core_dumps(); // The key would be in them.
  GRAPHMILL_TRY(coordinators_, parse_endpoints(cluster.join));
  GRAPHMILL_TRY(auto opened, partitioned_graph::open(config_.data));
  graph_ = std::make_shared<const partitioned_graph>(std::move(opened));
  GRAPHMILL_TRY(auto keys, choose_keys(cluster.key, cluster.insecure));
  const auto allowed = admission_of(keys, {}, true, {});
  if (!allowed)
    return fail(ec::invalid_argument, "{}", allowed.error().message);
  const auto& admitted = allowed.value();
  admitted_ = admitted.table;
  const auto host = host_name();
  const auto name =
    fmt::format("{}/feed-{}-{}", admitted.name.empty() ? host : admitted.name,
                host, getpid());
  GRAPHMILL_TRY(const auto logs, open_daemon_log({}, name, false));
  log_ = logs.log;
  flows_ = std::make_shared<peer_flows>();
  inboxes_ = std::make_shared<rank_inboxes>(flows_);
  router_ = std::make_shared<request_router>(inboxes_, logs.lines, flows_);
  transport_options net;
  net.name = name;
  GRAPHMILL_TRY(net.listen, listen_for(coordinators_.front()));
  net.route_to = coordinators_.front();
  net.keys = keys;
  net.admitted = admitted_;
  net.insecure = cluster.insecure;
  net.fair.emplace();
  net.on_request = [router = router_](const incoming_request& request) {
    router->serve(request);
  };
  net.on_peer = [router = router_](const peer_event& event) {
    router->tell(event);
  };
  net.on_log = [log = log_about(log_, {.module = "transport"})](
                 const std::string& line) { log->warn("{}", line); };
  net.on_failure = config_.on_refused;
  GRAPHMILL_TRY(auto started, transport::start(std::move(net)));
  net_ = std::move(started);
  guard_ = std::make_shared<data_guard>(data_guard::options{
    .data = config_.data, .verify = config_.verify, .log = log_});
  return ok();
}

agent_config feed_node::agent_of(data_server_actor data) const {
  agent_config out;
  out.offer = graph_offer(*graph_, config_.data);
  out.coordinator = coordinators_.front();
  out.stand_ins.assign(coordinators_.begin() + 1, coordinators_.end());
  out.admitted = admitted_;
  out.graph = graph_;
  out.data = config_.data;
  out.guard = guard_;
  out.around.net = net_;
  out.around.data = std::move(data);
  out.around.inboxes = inboxes_;
  out.around.processors = usable_processors();
  out.around.flows = flows_;
  out.feeds = config_.hooks;
  out.join_timeout = join_time;
  out.on_joined = config_.on_joined;
  out.on_stop = [refused =
                   config_.on_refused](const std::optional<error>& why) {
    refused(why
              ? *why
              : fail(ec::unavailable, "the coordinator has ended the cluster, "
                                      "or this part in it"));
  };
  out.log = log_about(log_, {.module = "agent"});
  return out;
}

void feed_node::start(caf::actor_system& system) {
  data_server_config serving;
  serving.daemon = net_->self().name;
  serving.log = log_about(log_, {.module = "data"});
  data_ = spawn_data_server(system, std::move(serving));
  agent_ = spawn_agent(system, agent_of(data_));
  router_->connect(agent_, {}, data_);
}

void feed_node::leave() {
  if (!agent_)
    return;
  struct farewell {
    std::promise<void> said;
    std::atomic<std::size_t> silent{0};
    std::atomic<bool> over{false};
  };
  const auto end = std::make_shared<farewell>();
  // One of them is the coordinator.
  for (const auto& address : coordinators_)
    net_->request(
      address, method::leave, {}, within(leave_time, timeouts::unheard, 1),
      [end, count = coordinators_.size()](const result<payload>& answer) {
        if ((answer || ++end->silent == count) && !end->over.exchange(true))
          end->said.set_value();
      });
  (void)end->said.get_future().wait_for(leave_time);
}

void feed_node::stop() {
  router_->disconnect();
  stop_actor(agent_);
  stop_actor(data_);
  agent_ = nullptr;
  data_ = nullptr;
}

feed_node::~feed_node() = default;

} // namespace graphmill
