#include "tests/actors/cluster/coordinator/led_cluster.hpp"
#include "tests/support/catch.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace graphmill::test {

namespace {

using state = attempt::state;

constexpr const char* on_one = "model: {kind: rgcn}\n"
                               "trainer: {replicas: 1}\n";

/// A cluster of a, which has the only part, and the consumers f and g.
struct fed_cluster : led_cluster {
  fed_cluster() {
    join("a");
    join_consumer("f");
    join_consumer("g");
  }

  void join_consumer(const std::string& name) {
    auto nothing = offer();
    nothing.parts.clear();
    nothing.slots = 0;
    whole->daemons.registry().join({name, "1", "tcp://" + name}, nothing);
    whole->starter.start();
    port.settle();
  }

  incoming_request from(const std::string& consumer) const {
    incoming_request out;
    out.from = {consumer, "1", "tcp://" + consumer};
    return out;
  }

  using answer_place = std::shared_ptr<std::optional<result<payload>>>;

  /// A consumer wants to be fed, and the run is being written until the port
  /// settles. @returns where the answer will be.
  answer_place ask(const std::string& consumer, const resume_request& on = {}) {
    auto answer = std::make_shared<std::optional<result<payload>>>();
    auto request = from(consumer);
    request.data =
      encode_resumption(parse_definition("dataset: example\n"
                                         "trainer: {replicas: 2}\n"
                                         "recovery: {wait: 100}\n"
                                         "faults: {fetcher_delay_ms: 20}\n",
                                         "test.yaml")
                          .value,
                        on);
    request.reply =
      responder{[answer](result<payload> came) { *answer = std::move(came); }};
    whole->leader.end_feeds_of(consumer);
    whole->submissions.feed(request);
    return answer;
  }

  /// @returns the id of its run, or why there is none.
  result<std::string> feed(const std::string& consumer) {
    const auto answer = ask(consumer);
    port.settle();
    CATCH_REQUIRE(*answer);
    if (!**answer)
      return (*answer)->error();
    return decode_run_id((*answer)->value());
  }

  bool has_folder(const std::string& id) const {
    return std::filesystem::exists(config.runs / id);
  }

  member_request order(const std::string& daemon) {
    return value_of(decode_member_request(
      port.answer("tcp://" + daemon, method::order, encode(member_reply{}))));
  }

  deployment deploy(const std::string& daemon) {
    return value_of(
      decode_deployment(port.answer("tcp://" + daemon, method::deploy)));
  }

  /// Of a feed that is on. @returns its id.
  std::string begin(const std::string& consumer) {
    auto id = value_of(feed(consumer));
    deploy("a");
    deploy(consumer);
    CATCH_CHECK(order(consumer).action == member_action::begin);
    return id;
  }

  /// A consumer wants to leave. @returns whether it was answered.
  std::shared_ptr<bool> leave(const std::string& consumer) {
    const auto is_answered = std::make_shared<bool>(false);
    auto request = from(consumer);
    request.reply =
      responder{[is_answered](const result<payload>&) { *is_answered = true; }};
    whole->leader.leave(request);
    port.settle();
    return is_answered;
  }
};

} // namespace

CATCH_TEST_CASE(
  "a feed is deployed on owners and its consumer, and begins once "
  "all have their shares",
  "[leading][feeds]") {
  fed_cluster it;
  const auto id = value_of(it.feed("f"));
  const auto share = it.deploy("f");
  CATCH_CHECK(share.run == id);
  CATCH_CHECK(share.feed);
  CATCH_REQUIRE(share.daemon_of_rank.size() == 1);
  CATCH_CHECK(share.daemons[share.daemon_of_rank[0]].name == "f");
  CATCH_CHECK(share.parts_of(share.you).empty());
  CATCH_CHECK(share.def.faults == definition{}.faults);
  CATCH_CHECK(!it.port.asks("tcp://f", method::order));
  CATCH_CHECK(it.deploy("a").feed);
  const auto order = it.order("f");
  CATCH_CHECK(order.action == member_action::begin);
  CATCH_CHECK(order.run == id);
  CATCH_CHECK(it.run(id).life.now() == state::conducting);
  CATCH_CHECK(!it.port.asks("tcp://a", method::order));
  CATCH_CHECK(it.record_in_history(id).state == run_state::running);
}

CATCH_TEST_CASE("feeds take no slots, and trainers none of consumers",
                "[leading][feeds]") {
  fed_cluster it; // One run at a time.
  const auto trained = it.submit(on_one);
  CATCH_CHECK(it.run(trained).life.now() == state::deploying);
  it.deploy("a");
  const auto first = it.begin("f");
  const auto second = it.begin("g");
  CATCH_CHECK(it.whole->active.size() == 3);
  CATCH_CHECK(it.run(first).life.now() == state::conducting);
  CATCH_CHECK(it.run(second).life.now() == state::conducting);
  const auto waits = it.submit(on_one);
  CATCH_CHECK(it.whole->active.find(waits) == nullptr);
  const auto beside = it.whole->starter.names_beside(it.run(first));
  CATCH_CHECK(beside == std::vector{trained, second});
  CATCH_CHECK(
    error_of(it.whole->places.now(parse_definition("dataset: example\n"
                                                   "trainer: {replicas: 2}\n",
                                                   "test.yaml")
                                    .value))
      .code
    == ec::invalid_argument);
}

CATCH_TEST_CASE("a feed ends with its consumer, which waits for that",
                "[leading][feeds]") {
  fed_cluster it;
  const auto id = it.begin("f");
  const auto answered = it.leave("f");
  CATCH_CHECK(!*answered);
  CATCH_CHECK(it.order("a").action == member_action::end);
  CATCH_CHECK(it.order("f").action == member_action::end);
  CATCH_CHECK(*answered);
  CATCH_CHECK(it.whole->active.empty());
  CATCH_CHECK(it.record_in_history(id).state == run_state::finished);
  CATCH_REQUIRE(it.fed.size() == 1);
  CATCH_CHECK(!it.fed[0].second);
  CATCH_CHECK(!it.has_folder(id));
}

CATCH_TEST_CASE("a feed whose consumer leaves before it begins is cancelled",
                "[leading][feeds]") {
  fed_cluster it;
  const auto id = value_of(it.feed("f"));
  it.leave("f");
  it.order("a");
  it.order("f");
  CATCH_CHECK(it.whole->active.empty());
  CATCH_CHECK(it.record_in_history(id).state == run_state::cancelled);
  CATCH_CHECK(it.record_in_history(id).message == "its consumer has left");
  CATCH_CHECK(!it.has_folder(id));
}

CATCH_TEST_CASE("a feed that is written while its consumer goes is not taken",
                "[leading][feeds]") {
  for (const std::string what : {"leaves", "is lost", "comes anew", "asks"}) {
    CATCH_INFO(what);
    fed_cluster it;
    const auto answer = it.ask("f");
    const auto before = it.config.history->list(10);
    const auto id = value_of(before).runs.at(0).id;
    CATCH_REQUIRE(it.has_folder(id));
    if (what == "leaves") {
      it.leave("f");
    } else if (what == "is lost") {
      it.lose("f");
    } else if (what == "comes anew") {
      auto nothing = it.offer();
      nothing.parts.clear();
      it.whole->daemons.registry().join({"f", "2", "tcp://f"}, nothing);
    } else {
      const auto next = value_of(it.feed("f"));
      CATCH_CHECK(it.run(next).life.now() == state::deploying);
    }
    it.port.settle();
    CATCH_REQUIRE(*answer);
    CATCH_CHECK(error_of(**answer).code == ec::unavailable);
    CATCH_CHECK(it.whole->queue.all().empty());
    CATCH_CHECK(it.whole->active.size() == (what == "asks" ? 1u : 0u));
    CATCH_CHECK(it.record_in_history(id).state == run_state::cancelled);
    CATCH_CHECK(!it.has_folder(id));
  }
}

CATCH_TEST_CASE(
  "a feed that is written while the coordinator ends is not taken",
  "[leading][feeds]") {
  fed_cluster it;
  const auto answer = it.ask("f");
  const auto before = it.config.history->list(10);
  const auto id = value_of(before).runs.at(0).id;
  CATCH_REQUIRE(it.has_folder(id));
  it.whole->starter.close();
  it.port.settle();
  CATCH_REQUIRE(*answer);
  CATCH_CHECK(error_of(**answer).code == ec::unavailable);
  CATCH_CHECK(it.whole->queue.all().empty());
  CATCH_CHECK(it.record_in_history(id).state == run_state::failed);
  CATCH_CHECK(it.record_in_history(id).message
              == "the coordinator ended before it was taken");
  CATCH_CHECK(!it.has_folder(id));
}

CATCH_TEST_CASE("a feed goes on with no run, and draws no curves",
                "[leading][feeds]") {
  fed_cluster it;
  for (const auto& on :
       {resume_request{.run = "other"}, resume_request{.tensorboard = true},
        resume_request{.uploaded = true}}) {
    const auto answer = it.ask("f", on);
    CATCH_REQUIRE(*answer);
    CATCH_CHECK(error_of(**answer).code == ec::invalid_argument);
  }
  CATCH_CHECK(value_of(it.config.history->list(10)).runs.empty());
}

CATCH_TEST_CASE("a feed that loses a daemon fails, and has no other attempt",
                "[leading][feeds]") {
  for (const std::string lost : {"a", "f"}) {
    fed_cluster it;
    const auto id = it.begin("f");
    it.lose(lost);
    CATCH_CHECK(it.order(lost == "a" ? "f" : "a").action == member_action::end);
    CATCH_CHECK(it.whole->active.empty());
    CATCH_CHECK(it.whole->queue.all().empty());
    CATCH_CHECK(it.record_in_history(id).state == run_state::failed);
    CATCH_REQUIRE(it.fed.size() == 1);
    CATCH_REQUIRE(it.fed[0].second);
    CATCH_CHECK(it.fed[0].first == id);
    CATCH_CHECK(it.fed[0].second->code == ec::unavailable);
    CATCH_CHECK(it.has_folder(id));
  }
}

CATCH_TEST_CASE("a consumer has one feed: the latest", "[leading][feeds]") {
  fed_cluster it;
  const auto first = it.begin("f");
  const auto second = value_of(it.feed("f"));
  CATCH_CHECK(it.order("a").run == first);
  CATCH_CHECK(it.order("f").action == member_action::end);
  CATCH_CHECK(it.whole->active.find(first) == nullptr);
  CATCH_CHECK(it.run(second).life.now() == state::deploying);
}

CATCH_TEST_CASE("feeds of a consumer that has gone do not begin",
                "[leading][feeds]") {
  fed_cluster it;
  CATCH_REQUIRE(it.whole->daemons.registry().drain("a", true));
  const auto id = value_of(it.feed("f"));
  CATCH_CHECK(it.whole->queue.all().size() == 1);
  CATCH_CHECK(it.message_of(id).find("draining: a") != std::string::npos);
  CATCH_CHECK(*it.leave("f"));
  CATCH_CHECK(it.whole->queue.all().empty());
  CATCH_CHECK(it.record_in_history(id).state == run_state::cancelled);
  CATCH_CHECK(!it.has_folder(id));
  CATCH_REQUIRE(it.fed.size() == 1); // It asks again if it is there after all.
  CATCH_REQUIRE(it.fed[0].second);
  CATCH_CHECK(it.fed[0].second->code == ec::unavailable);
}

CATCH_TEST_CASE("whoever has not joined is not fed, nor without an owner",
                "[leading][feeds]") {
  fed_cluster it;
  CATCH_CHECK(error_of(it.feed("h")).code == ec::unavailable);
  it.lose("a");
  const auto none = error_of(it.feed("f"));
  CATCH_CHECK(none.code == ec::unavailable);
  CATCH_CHECK(none.message.find("; lost: a") != std::string::npos);
}

CATCH_TEST_CASE("a cancelled feed is cancelled", "[leading][feeds]") {
  fed_cluster it;
  const auto id = it.begin("f");
  CATCH_CHECK(it.whole->leader.cancel(id, false));
  it.order("a");
  it.order("f");
  CATCH_CHECK(it.record_in_history(id).state == run_state::cancelled);
  CATCH_CHECK(it.record_in_history(id).message == "stopped by the user");
}

CATCH_TEST_CASE("no coordinator goes on with a feed of another one",
                "[leading][feeds]") {
  fed_cluster it;
  const auto id = it.begin("f");
  it.whole.reset();
  it.config.history.reset();
  auto next = value_of(run_history::open(it.config.runs / "runs.sqlite", 100));
  CATCH_CHECK(next.take_open_runs().empty());
  const auto closed = value_of(next.get(id));
  CATCH_REQUIRE(closed);
  CATCH_CHECK(closed->record.state == run_state::failed);
}

} // namespace graphmill::test
