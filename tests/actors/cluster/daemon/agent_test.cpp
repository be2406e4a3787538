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

namespace {

using namespace std::chrono_literals;

/// Longer than anything here takes, so that a test fails instead of hanging.
constexpr auto patience = 60s;

constexpr const char* run_id = "run-1";

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
  payload assignment(std::uint32_t generation = 0) const {
    deployment out;
    out.run = run_id;
    out.generation = generation;
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

  /// The first that the daemon tells of its share.
  run_events news() {
    auto told = told_.get_future();
    CATCH_REQUIRE(told.wait_for(patience) == std::future_status::ready);
    return value_of(decode_run_events(told.get()));
  }

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
      if (!relay_told_.exchange(true))
        relay_spawned_.set_value(made);
      return made;
    };
    out.on_joined = [this, going = go_on_.get_future().share()] {
      joined_.set_value();
      going.wait_for(patience);
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

CATCH_TEST_CASE("an exception in the agent does not end the daemon",
                "[agent]") {
  serving_daemon daemon{true};
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  value_of(answer_of(daemon.order(member_action::check)));
}

CATCH_TEST_CASE("a share tells when its data are known to be sound",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  const auto news = daemon.news();
  CATCH_CHECK(news.run == run_id);
  CATCH_CHECK(news.sound);
  CATCH_CHECK(news.sequence == 0); // It takes no turn among what is counted.
  CATCH_CHECK(news.empty());
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

CATCH_TEST_CASE("a daemon takes orders from nobody but the coordinator, even "
                "if they reach it",
                "[agent][roles]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  value_of(answer_of(daemon.order(member_action::check)));
  weights_request wanted;
  wanted.run = run_id;
  wanted.kept = true;
  wanted.count = 4;
  const std::vector<std::pair<method, payload>> orders{
    {method::deploy, daemon.assignment(1)},
    {method::order, encode(member_request{run_id, member_action::end})},
    {method::weights, encode(wanted)},
    {method::members, encode(members_update{})},
    {method::chaos, encode(chaos_request{"here"})},
    {method::stop, {}}};
  for (const auto& holder :
       {key_holder{key_role::client, "alice", "key of alice"},
        key_holder{key_role::reader, "screen", "key of screen"},
        key_holder{key_role::daemon, "second", "key of second"}})
    // Whether they say where they listen or not.
    for (const auto* address : {"", "tcp://127.0.0.1:1"})
      for (const auto& [what, data] : orders) {
        CATCH_INFO(label_of(holder)
                   << " at \"" << address << "\" asks for " << to_string(what));
        peer_identity from{holder.name, "", address};
        from.holder = holder;
        const auto refused =
          error_of(answer_of(daemon.ask_as(std::move(from), what, data)));
        CATCH_CHECK(refused.message.find("takes orders from the coordinator")
                    != std::string::npos);
        if (*address != '\0') {
          CATCH_CHECK(refused.code == ec::permission);
          CATCH_CHECK(refused.message.find(label_of(holder))
                      != std::string::npos);
        }
      }
  // Nothing has come of it.
  value_of(answer_of(daemon.order(member_action::check)));
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

CATCH_TEST_CASE("when another coordinator comes, shares end, and begin anew as "
                "it says",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  // The same attempt is there already.
  CATCH_CHECK(
    error_of(answer_of(daemon.ask(method::deploy, daemon.assignment()))).code
    == ec::invalid_argument);
  value_of(answer_of(daemon.order(member_action::check)));
  daemon.await_joins(1);
  daemon.replace_coordinator();
  daemon.await_joins(2);
  CATCH_CHECK(error_of(answer_of(daemon.order(member_action::check))).message
              == "run run-1 is not on at daemon \"here\"");
  // Whether the old share is over yet or not.
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment(1))));
  value_of(answer_of(daemon.order(member_action::check)));
}

CATCH_TEST_CASE("another attempt at a run waits for the end of the last one",
                "[agent]") {
  serving_daemon daemon;
  // All are there before the first is taken: the first share is being prepared.
  auto first = daemon.ask(method::deploy, daemon.assignment());
  auto second = daemon.ask(method::deploy, daemon.assignment(1));
  auto third = daemon.ask(method::deploy, daemon.assignment(2));
  // A coordinator that is joined again asks for what is to come.
  member_request check{run_id, member_action::check};
  check.attempt = 3;
  auto waiting = daemon.ask(method::order, encode(check));
  check.attempt = 2;
  auto dropped = daemon.ask(method::order, encode(check));
  daemon.go_on();
  value_of(answer_of(std::move(waiting)));
  CATCH_CHECK(error_of(answer_of(std::move(dropped))).code == ec::unavailable);
  CATCH_CHECK(error_of(answer_of(std::move(first))).code == ec::unavailable);
  CATCH_CHECK(error_of(answer_of(std::move(second))).code == ec::unavailable);
  value_of(answer_of(std::move(third)));
  value_of(answer_of(daemon.order(member_action::check)));
}

CATCH_TEST_CASE(
  "an attempt that waits for the last one's end can be called off", "[agent]") {
  serving_daemon daemon;
  auto first = daemon.ask(method::deploy, daemon.assignment());
  auto second = daemon.ask(method::deploy, daemon.assignment(1));
  auto ended = daemon.order(member_action::end);
  daemon.go_on();
  value_of(answer_of(std::move(ended)));
  CATCH_CHECK(error_of(answer_of(std::move(first))).code == ec::unavailable);
  CATCH_CHECK(error_of(answer_of(std::move(second))).code == ec::unavailable);
  CATCH_CHECK(error_of(answer_of(daemon.order(member_action::check))).code
              == ec::unavailable);
}

CATCH_TEST_CASE("a coordinator that another one has followed is told so",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  const auto check = encode(member_request{run_id, member_action::check});
  daemon.tell(peer_event::kind::up, "the second one", 2);
  // Who only says that it is a later one does not shut out the one that was
  // met.
  CATCH_CHECK(
    error_of(answer_of(daemon.ask(method::order, check, 1'000'000))).code
    == ec::unavailable);
  // The second of its cluster: it is heard, though there is no such run.
  CATCH_CHECK(error_of(answer_of(daemon.ask(method::order, check, 2))).code
              == ec::unavailable);
  for (const auto what : {method::deploy, method::order, method::weights,
                          method::members, method::stop})
    CATCH_CHECK(error_of(answer_of(daemon.ask(what, check, 1))).code
                == ec::superseded);
  CATCH_CHECK(error_of(answer_of(daemon.ask(method::order, check, 2))).code
              == ec::unavailable);
}

} // namespace graphmill::test
