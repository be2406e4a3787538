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

#include <spdlog/sinks/null_sink.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace graphmill::test {

namespace {

using namespace std::chrono_literals;

/// Longer than anything here takes, so that a test fails instead of hanging.
constexpr auto patience = 60s;

constexpr const char* run_id = "run-1";

/// The actors of a daemon that serves all of a small dataset and trains
/// nothing, on a real scheduler. The test is the coordinator.
class serving_daemon {
public:
  serving_daemon() {
    value_of(write_example(folder_.path()));
    lead_.on(method::join, nothing);
    lead_.on(method::run_event, nothing);
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
    CATCH_REQUIRE(joined_.get_future().wait_for(patience)
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
  payload assignment() const {
    deployment out;
    out.run = run_id;
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

  /// Asks as the coordinator.
  std::future<result<payload>> ask(method what, payload data) {
    auto promise = std::make_shared<std::promise<result<payload>>>();
    auto answer = promise->get_future();
    incoming_request request;
    request.method = what;
    request.from = {"fake", "", lead_.address()};
    request.data = std::move(data);
    request.deadline = std::chrono::steady_clock::now() + patience;
    request.reply = responder{
      [promise](result<payload> came) { promise->set_value(std::move(came)); }};
    post(agent_, incoming{std::move(request)});
    return answer;
  }

  std::future<result<payload>> order(member_action what) {
    return ask(method::order, encode(member_request{run_id, what}));
  }

  /// The RUN RELAY of the share, once that is ready.
  run_reports_actor relay() { return relay_spawned_.get_future().get(); }

  /// Waits until the daemon has told the coordinator so often of itself.
  void await_joins(int count) const {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (lead_.count(method::join) < count) {
      CATCH_REQUIRE(std::chrono::steady_clock::now() < until);
      std::this_thread::sleep_for(1ms);
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
      relay_spawned_.set_value(made);
      return made;
    };
    out.on_joined = [this, going = go_on_.get_future().share()] {
      joined_.set_value();
      going.wait_for(patience);
    };
    return out;
  }

  temp_folder folder_;
  fake_coordinator lead_;
  std::promise<void> joined_;
  std::promise<void> go_on_;
  bool goes_on_ = false;
  std::promise<run_reports_actor> relay_spawned_;
  std::shared_ptr<const partitioned_graph> graph_;
  std::shared_ptr<transport> net_; // As in a daemon, it outlives the actors.
  caf::actor_system_config settings_;
  std::optional<caf::actor_system> system_;
  data_server_actor data_;
  agent_actor agent_;
};

/// What a daemon answers in the end.
result<payload> answer_of(std::future<result<payload>> from) {
  CATCH_REQUIRE(from.wait_for(patience) == std::future_status::ready);
  return from.get();
}

} // namespace

CATCH_TEST_CASE("a share that ended unverified says so when asked to finish",
                "[agent]") {
  serving_daemon daemon;
  // All three are there before the first is taken, so that the share is still
  // being prepared when the last one comes.
  auto deployed = daemon.ask(method::deploy, daemon.assignment());
  auto ended = daemon.order(member_action::end);
  auto finished = daemon.order(member_action::finish);
  daemon.go_on();
  const auto refused = error_of(answer_of(std::move(finished)));
  CATCH_CHECK(refused.code == ec::unavailable);
  CATCH_CHECK(refused.message
              == "run run-1 has ended at daemon \"here\" before its data were "
                 "verified");
  CATCH_CHECK(error_of(answer_of(std::move(deployed))).message
              == "the run is over");
  const auto report =
    value_of(decode_member_reply(value_of(answer_of(std::move(ended)))));
  CATCH_CHECK(report.failure.empty());
}

CATCH_TEST_CASE("a daemon that does not allow it does itself no harm",
                "[agent]") {
  serving_daemon daemon;
  auto asked = daemon.ask(method::chaos, encode(chaos_request{"here"}));
  daemon.go_on();
  const auto refused = error_of(answer_of(std::move(asked)));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(
    refused.message
    == "daemon \"here\" does not let itself be harmed: whoever starts "
       "it allows that by `graphmill node --chaos-allowed`");
}

CATCH_TEST_CASE(
  "a share whose relay dies ends, and the coordinator hears of it", "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  value_of(answer_of(daemon.order(member_action::check)));
  daemon.await_joins(1);
  caf::anon_send_exit(daemon.relay(), caf::exit_reason::kill);
  // A coordinator that is joined again asks for the share.
  daemon.await_joins(2);
  const auto gone = error_of(answer_of(daemon.order(member_action::check)));
  CATCH_CHECK(gone.code == ec::unavailable);
  CATCH_CHECK(gone.message == "run run-1 is not on at daemon \"here\"");
}

} // namespace graphmill::test
