#pragma once

#include "actors/cluster/daemon/agent.hpp"
#include "actors/remote/serving/data_server.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/chaos.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/actors/cluster/client/fake_coordinator.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill::test {

/// Longer than anything here takes, so that a test fails instead of hanging.
inline constexpr auto agent_patience = std::chrono::seconds{60};

inline constexpr const char* served_run = "run-1";

/// The actors of a daemon that serves all of a small dataset and trains
/// nothing, on a real scheduler. The test is the coordinator.
class serving_daemon {
public:
  /// @param throws What the agent calls when it has joined.
  explicit serving_daemon(bool throws = false) : throws_(throws) {
    value_of(write_example(folder_.path()));
    lead_.on(method::join, nothing);
    lead_.on(method::run_event, [this](const payload& told) -> result<payload> {
      if (!std::exchange(has_told_, true))
        told_.set_value(told);
      return payload{};
    });
    set_scheduler(settings_, 3);
    system_.emplace(settings_);
    transport_options options;
    options.name = "here";
    options.listen = "tcp://127.0.0.1:0";
    options.keys = value_of(read_keys(lead_.key_file()));
    net_ = value_of(transport::start(std::move(options)));
    data_server_config serving;
    serving.daemon = "here";
    data_ = spawn_data_server(*system_, std::move(serving));
    agent_ = spawn_agent(*system_, config());
    // From now on the agent takes nothing until `go_on`.
    CATCH_REQUIRE(joined_.get_future().wait_for(agent_patience)
                  == std::future_status::ready);
  }

  ~serving_daemon() {
    go_on();
    stop_actor(agent_);
    stop_actor(data_);
    agent_ = nullptr;
    data_ = nullptr;
    system_.reset();
  }

  void go_on() {
    if (!std::exchange(goes_on_, true))
      go_on_.set_value();
  }

  /// Of a run whose only trainer is elsewhere.
  payload assignment(std::uint32_t generation = 0) const {
    return assignment_of(served_run, {}, generation);
  }

  /// @param beside As in `deployment`.
  payload assignment_of(const std::string& run, std::vector<std::string> beside,
                        std::uint32_t generation = 0) const {
    deployment out;
    out.run = run;
    out.generation = generation;
    out.beside = std::move(beside);
    out.runs_at_once = 4;
    out.def =
      parse_definition("dataset: example\nmodel: {kind: rgcn}\n", "test.yaml")
        .value;
    out.dataset_digest = graph_->info().digest;
    out.daemons = {{"here", net_->self().address}, {"there", lead_.address()}};
    out.owner_of_part = {0};
    out.daemon_of_rank = {1};
    out.coordinator = lead_.address();
    return encode(out);
  }

  /// Another coordinator comes, at the same address.
  void replace_coordinator() {
    lead_.restart();
    tell(peer_event::kind::up, "the first one");
    tell(peer_event::kind::replaced, "the other one");
  }

  /// Tells the agent what its transport would of the coordinator.
  /// @param generation As of `ask`.
  void tell(peer_event::kind change, const std::string& incarnation,
            std::uint64_t generation = 0) {
    peer_event event;
    event.change = change;
    event.identity = {"fake", incarnation, lead_.address()};
    event.identity.cluster = generation == 0 ? "" : "a cluster";
    event.identity.generation = generation;
    post(agent_, peer_news{std::move(event)});
  }

  /// Asks as the coordinator.
  /// @param generation Of it, in a cluster that counts them; 0: in one that
  /// does not.
  std::future<result<payload>> ask(method what, payload data,
                                   std::uint64_t generation = 0) {
    peer_identity from{"fake", "", lead_.address()};
    from.cluster = generation == 0 ? "" : "a cluster";
    from.generation = generation;
    return ask_as(std::move(from), what, std::move(data));
  }

  std::future<result<payload>> ask_as(peer_identity from, method what,
                                      payload data) {
    auto promise = std::make_shared<std::promise<result<payload>>>();
    auto answer = promise->get_future();
    incoming_request request;
    request.method = what;
    request.from = std::move(from);
    request.data = std::move(data);
    request.deadline = std::chrono::steady_clock::now() + agent_patience;
    request.reply = responder{
      [promise](result<payload> came) { promise->set_value(std::move(came)); }};
    post(agent_, incoming{std::move(request)});
    return answer;
  }

  std::future<result<payload>> order(member_action what,
                                     const std::string& run = served_run) {
    return ask(method::order, encode(member_request{run, what}));
  }

  /// The RUN RELAY of the share, once that is ready.
  run_reports_actor relay() { return relay_spawned_.get_future().get(); }

  /// The run of the first share that has failed here.
  std::string failed_run() {
    auto told = failed_.get_future();
    CATCH_REQUIRE(told.wait_for(agent_patience) == std::future_status::ready);
    return told.get();
  }

  /// The first that the daemon tells of its share.
  run_events news() {
    auto told = told_.get_future();
    CATCH_REQUIRE(told.wait_for(agent_patience) == std::future_status::ready);
    return value_of(decode_run_events(told.get()));
  }

  /// Waits until the daemon has told the coordinator so often of itself.
  void await_joins(int count) const {
    const auto until = std::chrono::steady_clock::now() + agent_patience;
    while (lead_.count(method::join) < count) {
      CATCH_REQUIRE(std::chrono::steady_clock::now() < until);
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

private:
  agent_config config() {
    agent_config out;
    graph_ = std::make_shared<const partitioned_graph>(
      value_of(partitioned_graph::open(folder_.path())));
    out.offer.dataset = graph_->info().name;
    out.offer.dataset_digest = graph_->info().digest;
    out.offer.part_digests = {graph_->info().digest};
    out.offer.parts = {0};
    out.coordinator = lead_.address();
    out.graph = graph_;
    out.data = folder_.path();
    out.log = std::make_shared<spdlog::logger>(
      "here", std::make_shared<spdlog::sinks::null_sink_mt>());
    out.guard = std::make_shared<data_guard>(data_guard::options{
      .data = folder_.path(), .verify = false, .log = out.log});
    out.around.net = net_;
    out.around.data = data_;
    out.around.inboxes = std::make_shared<rank_inboxes>();
    out.around.orphans = std::make_shared<orphan_threads>();
    out.relay = [this](caf::actor_system& system, run_relay_config relay) {
      auto made = spawn_run_relay(system, std::move(relay));
      if (!relay_told_.exchange(true))
        relay_spawned_.set_value(made);
      return made;
    };
    out.feeds.failed = [this](const std::string& run) {
      if (!has_failed_.exchange(true))
        failed_.set_value(run);
    };
    out.on_joined = [this, going = go_on_.get_future().share()] {
      joined_.set_value();
      going.wait_for(agent_patience);
      if (throws_)
        throw std::runtime_error("13 brings bad luck");
    };
    return out;
  }

  const bool throws_;
  temp_folder folder_;
  std::promise<payload> told_;
  bool has_told_ = false; ///< Known to the coordinator's thread alone.
  fake_coordinator lead_;
  std::promise<void> joined_;
  std::promise<void> go_on_;
  bool goes_on_ = false;
  std::promise<run_reports_actor> relay_spawned_; ///< Of the first share.
  std::atomic<bool> relay_told_{false};
  std::promise<std::string> failed_;
  std::atomic<bool> has_failed_{false};
  std::shared_ptr<const partitioned_graph> graph_;
  std::shared_ptr<transport> net_; // As in a daemon, it outlives the actors.
  caf::actor_system_config settings_;
  std::optional<caf::actor_system> system_;
  data_server_actor data_;
  agent_actor agent_;
};

/// What a daemon answers in the end.
inline result<payload> answer_of(std::future<result<payload>> from) {
  CATCH_REQUIRE(from.wait_for(agent_patience) == std::future_status::ready);
  return from.get();
}

} // namespace graphmill::test
