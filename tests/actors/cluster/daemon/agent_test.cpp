#include "actors/cluster/daemon/shares/share_preparation.hpp"
#include "messages/wire/trace.hpp"
#include "tests/actors/cluster/daemon/serving_daemon.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill::test {

using namespace std::chrono_literals;

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
  CATCH_CHECK(news.run == served_run);
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
    == "daemon \"here\" does not allow chaos: start it with `graphmill "
       "node --chaos-allowed`");
}

CATCH_TEST_CASE("a daemon tells what the actors of its latest share did",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  const auto ask = [&daemon](const std::string& run, std::uint32_t most) {
    return answer_of(
      daemon.ask(method::spans, encode(trace_request{run, "here", 0, most})));
  };
  CATCH_CHECK(error_of(ask(served_run, 10)).code == ec::not_found);
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  const auto now = value_of(decode_trace_reply(value_of(ask(served_run, 10))));
  CATCH_CHECK(now.run == served_run);
  CATCH_CHECK(now.daemon == "here");
  CATCH_CHECK(now.attempt == 1);
  CATCH_CHECK_FALSE(now.over);
  CATCH_CHECK(now.actors.size() >= 2); // Services of its part.
  CATCH_CHECK(now.came <= now.left);
  const auto clock = value_of(decode_trace_reply(value_of(ask(served_run, 0))));
  CATCH_CHECK(clock.came >= now.left);
  CATCH_CHECK(clock.actors.empty());
  value_of(answer_of(daemon.order(member_action::end)));
  const auto then = value_of(decode_trace_reply(value_of(ask(served_run, 10))));
  CATCH_CHECK(then.over);
  CATCH_CHECK(then.actors.size() == now.actors.size());
  const auto refused = error_of(ask("run-2", 10));
  CATCH_CHECK(refused.code == ec::not_found);
  CATCH_CHECK(refused.message
              == "daemon \"here\" has no traces of run run-2: it keeps only "
                 "those of its latest run");
}

CATCH_TEST_CASE("a daemon that serves a feed does not take its batches",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  auto feed = value_of(decode_deployment(daemon.assignment()));
  feed.feed = true;
  auto to_it = feed;
  to_it.daemon_of_rank = {to_it.you};
  const auto refused =
    error_of(answer_of(daemon.ask(method::deploy, encode(to_it))));
  CATCH_CHECK(refused.code == ec::invalid_argument);
  CATCH_CHECK_THAT(refused.message, contains("takes no batches of a feed"));
  value_of(answer_of(daemon.ask(method::deploy, encode(feed))));
  CATCH_CHECK(error_of(answer_of(daemon.order(member_action::begin))).code
              == ec::invalid_argument);
  value_of(answer_of(daemon.order(member_action::check)));
}

CATCH_TEST_CASE("feeds share the memory of a daemon with the runs that train",
                "[agent]") {
  deployment assignment;
  assignment.runs_at_once = 2;
  CATCH_CHECK(sharers_of(assignment) == 2);
  assignment.beside = {"run-1"};
  CATCH_CHECK(sharers_of(assignment) == 2);
  assignment.beside = {"run-1", "feed-1", "feed-2"};
  CATCH_CHECK(sharers_of(assignment) == 4);
}

CATCH_TEST_CASE("a daemon takes orders from nobody but the coordinator, even "
                "if they reach it",
                "[agent][roles]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  value_of(answer_of(daemon.order(member_action::check)));
  weights_request wanted;
  wanted.run = served_run;
  wanted.kept = true;
  wanted.count = 4;
  const std::vector<std::pair<method, payload>> orders{
    {method::deploy, daemon.assignment(1)},
    {method::order, encode(member_request{served_run, member_action::end})},
    {method::weights, encode(wanted)},
    {method::spans, encode(trace_request{served_run, "here", 0, 0})},
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
        CATCH_CHECK(refused.message.find("only from the coordinator")
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
  CATCH_CHECK(gone.message == "run run-1 is not running at daemon \"here\"");
}

CATCH_TEST_CASE("a share that fails is told here at once", "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  value_of(answer_of(daemon.ask(method::deploy, daemon.assignment())));
  post(daemon.relay(), run_failed{fail(ec::unavailable, "no owner is left")});
  CATCH_CHECK(daemon.failed_run() == served_run);
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
              == "run run-1 is not running at daemon \"here\"");
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
  member_request check{served_run, member_action::check};
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

CATCH_TEST_CASE("a daemon has shares of several runs, which end by themselves",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  const auto is_on = [&daemon](const std::string& run) {
    return answer_of(daemon.order(member_action::check, run)).has_value();
  };
  const auto deploy = [&daemon](const std::string& run,
                                std::vector<std::string> beside,
                                std::uint32_t generation = 0) {
    return answer_of(
      daemon.ask(method::deploy,
                 daemon.assignment_of(run, std::move(beside), generation)));
  };
  value_of(deploy("r-1", {}));
  value_of(deploy("r-2", {"r-1"}));
  value_of(deploy("r-3", {"r-1", "r-2"}));
  CATCH_CHECK((is_on("r-1") && is_on("r-2") && is_on("r-3")));
  value_of(answer_of(daemon.order(member_action::end, "r-2")));
  CATCH_CHECK((is_on("r-1") && !is_on("r-2") && is_on("r-3")));
  // Another attempt ends no share but that of the one before.
  value_of(deploy("r-1", {"r-3"}, 1));
  CATCH_CHECK((is_on("r-1") && is_on("r-3")));
  CATCH_CHECK_FALSE(deploy("r-1", {"r-3"}, 1));
  // What its coordinator does not name any more has lost it.
  value_of(deploy("r-4", {"r-1"}));
  CATCH_CHECK((is_on("r-1") && !is_on("r-3") && is_on("r-4")));
  value_of(deploy("r-5", {}));
  CATCH_CHECK((!is_on("r-1") && !is_on("r-4") && is_on("r-5")));
}

CATCH_TEST_CASE("a daemon tells what the actors of each of its shares do",
                "[agent]") {
  serving_daemon daemon;
  daemon.go_on();
  const auto spans_of = [&daemon](const std::string& run) {
    return answer_of(
      daemon.ask(method::spans, encode(trace_request{run, "here", 0, 10})));
  };
  for (const auto& [run, beside] :
       {std::pair{"r-1", std::vector<std::string>{}},
        std::pair{"r-2", std::vector<std::string>{"r-1"}}})
    value_of(
      answer_of(daemon.ask(method::deploy, daemon.assignment_of(run, beside))));
  for (const auto* run : {"r-1", "r-2"}) {
    const auto told = value_of(decode_trace_reply(value_of(spans_of(run))));
    CATCH_CHECK(told.run == run);
    CATCH_CHECK_FALSE(told.over);
  }
  value_of(answer_of(daemon.order(member_action::end, "r-1")));
  CATCH_CHECK(value_of(decode_trace_reply(value_of(spans_of("r-1")))).over);
  CATCH_CHECK_FALSE(
    value_of(decode_trace_reply(value_of(spans_of("r-2")))).over);
  // The next one takes the place of what is over.
  value_of(answer_of(
    daemon.ask(method::deploy, daemon.assignment_of("r-3", {"r-2"}))));
  CATCH_CHECK(error_of(spans_of("r-1")).message
              == "daemon \"here\" has no traces of run r-1: it keeps only "
                 "those of its latest runs");
  value_of(spans_of("r-2"));
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
  const auto check = encode(member_request{served_run, member_action::check});
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
