#include "tests/actors/transport/sessions/server_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// Keys with roles: who may be who, and ask what.

namespace {

const key_holder the_leader{key_role::coordinator, "first", "key of first"};
const key_holder a_second{key_role::daemon, "second", "key of second"};
const key_holder a_third{key_role::daemon, "third", "key of third"};
const key_holder a_client{key_role::client, "alice", "key of alice"};
const key_holder a_reader{key_role::reader, "screen", "key of screen"};

hello_message hello_by(const key_holder& holder,
                       channel over = channel::control,
                       const std::string& incarnation = someone) {
  const auto listens =
    holder.role == key_role::coordinator || holder.role == key_role::daemon;
  hello_message out;
  out.name = listens ? holder.name : "submit";
  out.incarnation = incarnation;
  out.address = listens ? "tcp://h:1" : "";
  out.channel = over;
  out.lost_after = 3s;
  return out;
}

/// The failure of the last answer, which must be one.
const error& last_failure(server_scene& it) {
  CATCH_REQUIRE_FALSE(it.sent.empty());
  CATCH_REQUIRE(it.sent.back().content.head.failed);
  return it.sent.back().content.head.failure;
}

void greet_as(server_scene& it, const std::string& connection_id,
              const key_holder& holder, channel over = channel::control,
              const std::string& incarnation = someone) {
  it.receive(connection_id, hello_request(hello_by(holder, over, incarnation)),
             false, holder);
}

} // namespace

CATCH_TEST_CASE("every role may ask for its methods and no others",
                "[transport][session][roles]") {
  const std::set<std::string> of_daemons{
    "join",          "leave",        "run_event", "rendezvous", "sample",
    "gather",        "sample_batch", "spread",    "contribute", "prove",
    "health_report", "feed",         "feed_state"};
  auto of_leader = of_daemons;
  of_leader.merge(std::set<std::string>{"deploy", "order", "weights", "stop",
                                        "members", "status", "chaos",
                                        "log_lines", "spans"});
  const std::set<std::string> of_readers{"status",     "runs",   "watch",
                                         "fetch_file", "plan",   "health",
                                         "logs",       "events", "trace"};
  auto of_clients = of_readers;
  of_clients.merge(std::set<std::string>{"submit", "cancel", "drain", "stop",
                                         "chaos", "upload"});
  const std::vector<std::pair<key_holder, std::set<std::string>>> table{
    {the_leader, of_leader},
    {a_second, of_daemons},
    {a_client, of_clients},
    {a_reader, of_readers}};
  for (const auto& [holder, allowed] : table)
    for (std::uint16_t number = 3; number < method_count; ++number) {
      const auto asked = static_cast<method>(number);
      if (!is_known(asked))
        continue;
      const std::string name{to_string(asked)};
      CATCH_INFO(label_of(holder) << " asks for " << name);
      server_scene it;
      greet_as(it, "c", holder);
      it.sent.clear();
      it.receive("c", request_of(5, asked), false, holder);
      CATCH_CHECK(it.delivered.size() == allowed.count(name));
      CATCH_CHECK(it.sent.size() == 1 - allowed.count(name));
      if (allowed.contains(name)) {
        CATCH_CHECK(it.delivered[0].from.holder == holder);
        continue;
      }
      CATCH_CHECK(last_failure(it).code == ec::permission);
      CATCH_CHECK(last_failure(it).message.find(label_of(holder))
                  != std::string::npos);
      CATCH_CHECK(last_failure(it).message.find("`" + name + "`")
                  != std::string::npos);
      CATCH_REQUIRE(it.refusals.size() == 1);
      CATCH_CHECK(it.refusals[0].what == asked);
      CATCH_CHECK(it.refusals[0].code == ec::permission);
      CATCH_CHECK(it.dropped.empty());
    }
}

CATCH_TEST_CASE("the one key of a cluster without roles may everything",
                "[transport][session][roles]") {
  const key_holder all{key_role::all, {}, "key"};
  server_scene it;
  hello_message hello;
  hello.name = "anybody";
  hello.incarnation = someone;
  hello.address = "tcp://h:1";
  hello.lost_after = 3s;
  it.receive("c", hello_request(hello), false, all);
  std::size_t asked = 0;
  for (std::uint16_t number = 3; number < method_count; ++number)
    if (is_known(static_cast<method>(number))) {
      it.receive("c", request_of(number, static_cast<method>(number)), false,
                 all);
      ++asked;
    }
  CATCH_CHECK(it.delivered.size() == asked);
}

CATCH_TEST_CASE("a greeting fits its key", "[transport][session][roles]") {
  server_scene it;
  auto hello = hello_by(a_second);
  auto holder = a_second;
  std::string said;
  CATCH_SECTION("a daemon under the name of another") {
    hello.name = "third";
    said = "daemon \"second\"";
  }
  CATCH_SECTION("a daemon whose name begins alike") {
    hello.name = "second-1";
    said = "daemon \"second\"";
  }
  CATCH_SECTION("a daemon as the coordinator") {
    hello.name = "first";
    said = "daemon \"second\"";
  }
  CATCH_SECTION("a coordinator as a daemon") {
    holder = the_leader;
    said = "coordinator \"first\"";
  }
  CATCH_SECTION("a client that listens") {
    holder = a_client;
    said = "client \"alice\"";
  }
  CATCH_SECTION("a read-only client that listens") {
    holder = a_reader;
    said = "read-only client \"screen\"";
  }
  it.receive("c", hello_request(hello), false, holder);
  CATCH_CHECK(last_failure(it).code == ec::permission);
  CATCH_CHECK(last_failure(it).message.find(said) != std::string::npos);
  CATCH_CHECK(it->peers() == 0);
  // Nor is it served without a greeting.
  it.receive("c", request_of(1, method::status), false, holder);
  CATCH_CHECK(it.sent.back().content.head.kind == message_kind::stranger);
  CATCH_CHECK(it.delivered.empty());
}

CATCH_TEST_CASE("the key of a daemon has consumers of feeds, too",
                "[transport][session][roles]") {
  server_scene it;
  auto hello = hello_by(a_second);
  hello.name = "second/feed-1";
  it.receive("c", hello_request(hello), false, a_second);
  CATCH_CHECK(it->peers() == 1);
}

CATCH_TEST_CASE("an incarnation is of the key that greeted first",
                "[transport][session][roles]") {
  server_scene it;
  greet_as(it, "c", a_second);
  it.receive("c", request_of(1, method::join), false, a_second);
  it.answer(0, text_payload("for second"));
  it.sent.clear();
  greet_as(it, "x", a_third);
  CATCH_CHECK(last_failure(it).code == ec::permission);
  CATCH_CHECK(it->peers() == 1);
  // Nor does it get what was kept for one that is lost.
  it.advance(3s);
  CATCH_CHECK(it->peers() == 0);
  greet_as(it, "x", a_third);
  it.sent.clear();
  it.receive("x", request_of(1, method::join), false, a_third);
  CATCH_CHECK(it.sent.empty());
  CATCH_CHECK(it.delivered.size() == 2);
  CATCH_CHECK(it.delivered[1].from.holder == a_third);
}

CATCH_TEST_CASE("a connection keeps its key", "[transport][session][roles]") {
  server_scene it;
  greet_as(it, "c", a_second);
  it.receive("c", request_of(1, method::join), false, a_third);
  CATCH_CHECK(it.delivered.empty());
  CATCH_CHECK(it.dropped == std::vector<std::string>{"c"});
}

CATCH_TEST_CASE("who comes by the local socket has the role of its token",
                "[transport][session][roles]") {
  server_session::settings with;
  with.local = true;
  server_scene it{with};
  greet_as(it, "c", a_second);
  CATCH_REQUIRE(it.sent.size() == 1);
  auto hello = hello_by(a_second, channel::data);
  hello.local_token =
    value_of(decode_hello(it.sent[0].content.data.body)).local_token;
  CATCH_SECTION("its name, too") {
    hello.name = "third";
    it.receive("d", hello_request(hello), true);
    CATCH_CHECK(last_failure(it).code == ec::permission);
    return;
  }
  it.receive("d", hello_request(hello), true);
  it.receive("d", request_of(1, method::sample), true);
  CATCH_REQUIRE(it.delivered.size() == 1);
  CATCH_CHECK(it.delivered[0].from.holder == a_second);
  it.receive("d", request_of(2, method::weights), true);
  CATCH_CHECK(last_failure(it).code == ec::permission);
  CATCH_CHECK(it->peers() == 1);
}

CATCH_TEST_CASE("a revoked key ends what its holder has",
                "[transport][session][roles]") {
  server_session::settings with;
  with.local = true;
  server_scene it{with};
  const std::string other(32, 'b');
  greet_as(it, "c", a_client);
  auto hello = hello_by(a_client, channel::data);
  hello.local_token =
    value_of(decode_hello(it.sent[0].content.data.body)).local_token;
  it.receive("d", hello_request(hello), true);
  greet_as(it, "e", a_second, channel::control, other);
  it.receive("c", request_of(1, method::watch), false, a_client);
  it.receive("d", request_of(2, method::fetch_file), true);
  it.receive("e", request_of(1, method::join), false, a_second);
  CATCH_REQUIRE(it.delivered.size() == 3);
  it.sent.clear();
  it->look_at_keys(it.now, [](const key_holder& holder) {
    return holder == a_second || holder == the_leader;
  });
  it.look();
  CATCH_REQUIRE(it.sent.size() == 2);
  for (const auto& out : it.sent) {
    CATCH_CHECK(out.content.head.failure.code == ec::permission);
    CATCH_CHECK(out.content.head.failure.message.find("client \"alice\"")
                != std::string::npos);
  }
  CATCH_CHECK(it.dropped == std::vector<std::string>{"c", "d"});
  CATCH_CHECK(it->peers() == 1);
  CATCH_CHECK(it->running() == 1);
  // Late answers are for nobody; others go on.
  it.sent.clear();
  it.answer(0);
  it.answer(1);
  CATCH_CHECK(it.sent.empty());
  it.answer(2);
  CATCH_REQUIRE(it.sent.size() == 1);
  CATCH_CHECK(it.sent[0].to == "e");
}

CATCH_TEST_CASE("a key that gets another role has to come again",
                "[transport][session][roles]") {
  server_scene it;
  greet_as(it, "c", a_client);
  auto demoted = a_client;
  demoted.role = key_role::reader;
  it->look_at_keys(
    it.now, [&demoted](const key_holder& holder) { return holder == demoted; });
  it.look();
  CATCH_CHECK(it.dropped == std::vector<std::string>{"c"});
  greet_as(it, "c2", demoted);
  it.receive("c2", request_of(1, method::submit), false, demoted);
  CATCH_CHECK(last_failure(it).code == ec::permission);
}
