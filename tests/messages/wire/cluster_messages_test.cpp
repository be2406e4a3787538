#include "messages/base/random.hpp"
#include "messages/definition/definition.capnp.h"
#include "messages/definition/definition_codec.hpp"
#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"
#include "messages/wire/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <capnp/message.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A definition with the schema's defaults.
definition some_definition() {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Definition>();
  root.setDataset("wordnet");
  return value_of(decode_definition(root.asReader()));
}

deployment full_deployment() {
  deployment out;
  out.run = "wordnet-1";
  out.def = some_definition();
  out.def.trainer.replicas = 3;
  out.dataset_digest = "abc";
  out.generation = 4;
  out.daemons = {{"a", "tcp://a:1"}, {"b", "tcp://b:2"}};
  out.owner_of_part = {0, 1, 0};
  out.daemon_of_rank = {1, 1, 0};
  out.you = 1;
  out.coordinator = "tcp://a:1";
  out.samplers = {1, 0};
  out.daemon_keys = {"ka", "kb"};
  out.replicas_of_part.resize(3);
  out.replicas_of_part[0].daemons = {1};
  out.replicas_of_part[2].daemons = {1};
  out.def.placement = {{"b"}, {"b", "a"}};
  out.beside = {"wordnet-2", "wordnet-3"};
  out.runs_at_once = 3;
  return out;
}

join_request full_join() {
  return {"wordnet", "abc", {"x", "y", "z"}, {0, 2}, 2, "host", 3};
}

member_reply full_reply() {
  member_reply out;
  out.trainers = {{0, "d0", 7}, {2, "d2", 8}};
  out.tensors = {{"w", {3, 4}}, {"b", {}}};
  auto& work = out.work;
  work.stages = {{"trainer", 1, 2, 3, 4.5, 5.5, 6.5, 7.5, 8}};
  work.disk =
    disk_use{{"row reader", 2, 3, 4, 5.5, 6.5, 0, 0, 0}, 10, 11, 12, {13, 14}};
  work.wire = wire_use{{20, 21}, {22, 23}, {24, 25}, 26,
                       {27, 28}, {29, 30}, {31, 32}, {33, 34}};
  work.cache = cache_use{{40, 41}, {42, 43}, {44, 45}};
  work.peak_memory_bytes = 9;
  work.peak_credit_bytes = 10;
  work.oversize_batches = 11;
  work.retried_batches = 12;
  work.cpu_seconds = 1.25;
  out.failure = "why";
  return out;
}

/// All fields of a report, one behind the other, by name.
struct field_text {
  std::string* out;

  template <class T>
  void operator()(const char* name, const T& from) const {
    if constexpr (std::is_arithmetic_v<T>)
      *out += fmt::format("{}={} ", name, from);
    else
      T::fields(from, *this);
  }
  void operator()(const char* name, const std::string& from) const {
    *out += fmt::format("{}={} ", name, from);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& from) const {
    for (const auto& one : from)
      (*this)(name, one);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& from) const {
    *out += from ? "some " : "none ";
    if (from)
      (*this)(name, *from);
  }
};

template <class T>
std::string text_of(const T& message) {
  std::string out;
  T::fields(message, field_text{&out});
  return out;
}

run_events full_events() {
  run_events out;
  out.run = "r";
  out.sequence = 7;
  out.steps = {{{phase::validation, 2, 3, 1}, 0.5, 4, 5, {9, 1, 4}}};
  out.stopped = {1};
  out.failure = fail(ec::unavailable, "gone");
  out.attempt = 3;
  return out;
}

/// Every decoder, to be fed with whatever bytes.
const std::vector<std::function<bool(const payload&)>> decoders{
  [](const payload& p) { return bool(decode_deployment(p)); },
  [](const payload& p) { return bool(decode_member_request(p)); },
  [](const payload& p) { return bool(decode_member_reply(p)); },
  [](const payload& p) { return bool(decode_weights_request(p)); },
  [](const payload& p) { return bool(decode_run_events(p)); },
  [](const payload& p) { return bool(decode_rendezvous_request(p)); },
  [](const payload& p) { return bool(decode_rendezvous_value(p)); },
  [](const payload& p) { return bool(decode_join_request(p)); },
  [](const payload& p) { return bool(decode_join_reply(p)); },
  [](const payload& p) { return bool(decode_members_update(p)); },
  [](const payload& p) { return bool(decode_status_reply(p)); },
  [](const payload& p) { return bool(decode_daemon_health(p)); },
  [](const payload& p) { return bool(decode_health_request(p)); },
  [](const payload& p) { return bool(decode_run_health(p)); },
  [](const payload& p) { return bool(decode_log_request(p)); },
  [](const payload& p) { return bool(decode_log_reply(p)); },
  [](const payload& p) { return bool(decode_events_request(p)); },
  [](const payload& p) { return bool(decode_events_reply(p)); },
  [](const payload& p) { return bool(decode_definition_body(p)); },
  [](const payload& p) { return bool(decode_run_id(p)); },
  [](const payload& p) { return bool(decode_plan_reply(p)); },
  [](const payload& p) { return bool(decode_feed_state_request(p)); },
  [](const payload& p) { return bool(decode_feed_state_reply(p)); },
  [](const payload& p) { return bool(decode_runs_request(p)); },
  [](const payload& p) { return bool(decode_runs_reply(p)); },
  [](const payload& p) { return bool(decode_watch_request(p)); },
  [](const payload& p) { return bool(decode_watch_reply(p)); },
  [](const payload& p) { return bool(decode_cancel_request(p)); },
  [](const payload& p) { return bool(decode_daemon_request(p)); },
  [](const payload& p) { return bool(decode_chaos_request(p)); },
  [](const payload& p) { return bool(decode_file_request(p)); },
  [](const payload& p) { return bool(decode_file_reply(p, {})); },
  [](const payload& p) { return bool(decode_upload_request(p)); },
  [](const payload& p) { return bool(decode_resumption(p)); },
};

} // namespace

CATCH_TEST_CASE("why a feed is over comes over whole", "[messages][cluster]") {
  feed_state_reply reply{run_state::failed, "d1 is lost",
                         static_cast<std::uint16_t>(ec::unavailable)};
  const auto reason = value_of(decode_feed_state_reply(encode(reply))).reason();
  CATCH_CHECK(reason.code == ec::unavailable);
  CATCH_CHECK(reason.message == "d1 is lost");
  reply.code = 999;
  CATCH_CHECK(value_of(decode_feed_state_reply(encode(reply))).reason().code
              == ec::internal);
}

CATCH_TEST_CASE("what a coordinator and a daemon say comes over whole",
                "[messages][cluster]") {
  const auto deployment = full_deployment();
  const auto got = value_of(decode_deployment(encode(deployment)));
  CATCH_CHECK(got.run == deployment.run);
  CATCH_CHECK(got.def.trainer.replicas == 3);
  CATCH_CHECK(got.generation == 4);
  CATCH_CHECK(got.daemons == deployment.daemons);
  CATCH_CHECK(got.owner_of_part == deployment.owner_of_part);
  CATCH_CHECK(got.daemon_of_rank == deployment.daemon_of_rank);
  CATCH_CHECK(got.you == 1);
  CATCH_CHECK(got.samplers == deployment.samplers);
  CATCH_CHECK(got.daemon_keys == deployment.daemon_keys);
  CATCH_CHECK(got.replicas_of_part == deployment.replicas_of_part);
  CATCH_CHECK(got.beside == deployment.beside);
  CATCH_CHECK(got.runs_at_once == deployment.runs_at_once);
  CATCH_CHECK(got.owners_of(0) == std::vector<std::uint16_t>{0, 1});
  CATCH_CHECK(got.owners_of(1) == std::vector<std::uint16_t>{1});
  CATCH_CHECK(got.parts_of(0) == std::vector<part_id>{0, 2});
  CATCH_CHECK(got.parts_of(1) == std::vector<part_id>{0, 1, 2});
  CATCH_CHECK(got.def.placement == deployment.def.placement);
  const auto reply = value_of(decode_member_reply(encode(full_reply())));
  CATCH_CHECK(reply.trainers[1].digest == "d2");
  CATCH_CHECK(reply.trainers[1].steps == 8);
  CATCH_CHECK(reply.tensors[0].size() == 12);
  CATCH_CHECK(reply.tensors[1].size() == 1);
  CATCH_CHECK(reply.work.stages[0].credit_wait_seconds == 7.5);
  CATCH_CHECK(reply.work.wire->other_bytes == 26);
  CATCH_CHECK(reply.work.cpu_seconds == 1.25);
  CATCH_CHECK(text_of(reply) == text_of(full_reply()));
  const auto nothing = value_of(decode_member_reply(encode(member_reply{})));
  CATCH_CHECK(text_of(nothing) == text_of(member_reply{}));
  const auto events = value_of(decode_run_events(encode(full_events())));
  CATCH_CHECK(events.sequence == 7);
  CATCH_CHECK(events.steps[0].key == full_events().steps[0].key);
  CATCH_CHECK(events.steps[0].loss_sum == 0.5);
  CATCH_CHECK(events.steps[0].original_seeds == std::vector<node_id>{9, 1, 4});
  CATCH_CHECK(events.stopped == std::vector<rank_id>{1});
  CATCH_CHECK(events.failure->code == ec::unavailable);
  CATCH_CHECK(events.attempt == 3);
  for (auto action :
       {member_action::begin, member_action::stop, member_action::end,
        member_action::check, member_action::finish, member_action::keep,
        member_action::kept}) {
    member_request request{
      "r", action, trainer_action::snapshot, phase::test, 3, 4, 0.5};
    request.attempt = 5;
    request.from = {3, 1, 13, true, 0.5, 2, 1.5, 6, 7};
    const auto there = value_of(decode_member_request(encode(request)));
    CATCH_CHECK(there.action == action);
    CATCH_CHECK(there.attempt == 5);
    if (action == member_action::begin) {
      CATCH_CHECK(there.phase == phase::test);
      CATCH_CHECK(there.epoch == 3);
      CATCH_CHECK(there.steps == 4);
      CATCH_CHECK(there.learning_rate == 0.5);
      CATCH_CHECK(there.from == request.from);
    }
  }
}

CATCH_TEST_CASE("texts come over whole, NULs included", "[messages][cluster]") {
  const std::string text{"\0a\0", 3};
  auto events = full_events();
  events.failure = error{ec::no_space, text};
  const auto got = value_of(decode_run_events(encode(events)));
  CATCH_REQUIRE(got.failure.has_value());
  CATCH_CHECK(got.failure->code == ec::no_space);
  CATCH_CHECK(got.failure->message == text);
  CATCH_CHECK(value_of(decode_run_id(encode_run_id(text))) == text);
  member_request request;
  request.run = text;
  CATCH_CHECK(value_of(decode_member_request(encode(request))).run == text);
  const rendezvous_request set{text, text, {}, {}};
  const auto asked = value_of(decode_rendezvous_request(encode(set)));
  CATCH_CHECK(asked.run == text);
  CATCH_CHECK(asked.key == text);
  const watch_reply news{1, {{text, {}, 0, 0}, {{}, text, 1, 2}}, {}};
  const auto seen = value_of(decode_watch_reply(encode(news)));
  CATCH_CHECK(seen.events.at(0).metrics == text);
  CATCH_CHECK(seen.events.at(1).label == text);
}

CATCH_TEST_CASE("what clients and the coordinator say comes over whole",
                "[messages][cluster]") {
  const auto join = value_of(decode_join_request(encode(full_join())));
  CATCH_CHECK(join.part_digests == full_join().part_digests);
  CATCH_CHECK(join.parts == full_join().parts);
  CATCH_CHECK(join.cuda_devices == 3);
  const auto plan = value_of(decode_plan_reply(
    encode(plan_reply{{"a", "b"}, {"b"}, {"c"}, {daemon_names{{"b"}}, {}}})));
  CATCH_CHECK(plan.daemon_of_part == std::vector<std::string>{"a", "b"});
  CATCH_CHECK(plan.replicas_of_part
              == std::vector{daemon_names{{"b"}}, daemon_names{}});
  CATCH_CHECK(plan.samplers == std::vector<std::string>{"c"});
  status_reply state;
  state.daemons.push_back(
    {"a", "tcp://a:1", daemon_state::ready, {1}, 2, "h", "", 4});
  CATCH_CHECK(
    value_of(decode_status_reply(encode(state))).daemons[0].cuda_devices == 4);
  watch_reply news;
  news.next = 5;
  news.events = {{"{}", {}, 0, 0}, {{}, "train", 3, 9}};
  news.record = {"id",         "name",       run_state::failed,
                 unix_time{1}, unix_time{2}, unix_time{3},
                 "why",        "{}"};
  const auto got = value_of(decode_watch_reply(encode(news)));
  CATCH_CHECK(got.next == 5);
  CATCH_REQUIRE(got.events.size() == 2);
  CATCH_CHECK(got.events[0].metrics == "{}");
  CATCH_CHECK(got.events[1].done == 3);
  CATCH_CHECK(got.record.state == run_state::failed);
  CATCH_CHECK(got.record.ended == unix_time{3});
  rendezvous_request set{"r", "k", std::string{"\0x", 2}, {}};
  CATCH_CHECK(*value_of(decode_rendezvous_request(encode(set))).value
              == *set.value);
  file_reply file{{}, 10, std::vector<std::byte>(3'000'000, std::byte{7})};
  CATCH_CHECK(value_of(decode_file_reply(encode(file), {})).bytes
              == file.bytes);
}

CATCH_TEST_CASE("messages that contradict themselves are refused",
                "[messages][cluster]") {
  auto deployment = full_deployment();
  deployment.owner_of_part[1] = 2;
  CATCH_CHECK(error_of(decode_deployment(encode(deployment))).code
              == ec::invalid_data);
  deployment = full_deployment();
  deployment.you = 9;
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment = full_deployment();
  deployment.daemon_of_rank.clear();
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment = full_deployment();
  deployment.samplers = {2};
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment = full_deployment();
  deployment.replicas_of_part.pop_back();
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment = full_deployment();
  deployment.replicas_of_part[1].daemons = {2};
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment = full_deployment();
  deployment.daemon_keys.pop_back();
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment.daemon_keys.clear();
  CATCH_CHECK(decode_deployment(encode(deployment)));
  deployment.runs_at_once = 2; // It is beside two others, which may be feeds.
  CATCH_CHECK(decode_deployment(encode(deployment)));
  deployment.beside.resize(2 + graphmill::deployment::most_feeds_at_once, "r");
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment.beside.pop_back();
  CATCH_CHECK(decode_deployment(encode(deployment)));
  deployment.feed = true; // It has three ranks.
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment.daemon_of_rank = {1};
  CATCH_CHECK(value_of(decode_deployment(encode(deployment))).feed);
  deployment.runs_at_once = graphmill::deployment::most_runs_at_once + 1;
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  deployment.runs_at_once = 0;
  CATCH_CHECK_FALSE(decode_deployment(encode(deployment)));
  const key_holder daemon{key_role::daemon, "b", "k"};
  CATCH_CHECK(
    value_of(decode_members_update(encode(members_update{{daemon}}))).members
    == std::vector{daemon});
  for (const auto& wrong :
       {key_holder{key_role::coordinator, "b", "k"},
        key_holder{key_role::client, "b", "k"},
        key_holder{key_role::all, "b", "k"},
        key_holder{key_role::daemon, "", "k"},
        key_holder{key_role::daemon, "b", ""},
        key_holder{key_role::daemon, std::string(longest_member_name + 1, 'b'),
                   "k"}}) {
    CATCH_CHECK_FALSE(decode_members_update(encode(members_update{{wrong}})));
    CATCH_CHECK_FALSE(decode_join_reply(encode(join_reply{"a", {wrong}})));
  }
  CATCH_CHECK_FALSE(decode_members_update(
    encode(members_update{std::vector<key_holder>(most_members + 1, daemon)})));
  auto join = full_join();
  join.parts = {2, 0};
  CATCH_CHECK_FALSE(decode_join_request(encode(join)));
  join.parts = {3};
  CATCH_CHECK_FALSE(decode_join_request(encode(join)));
  auto reply = full_reply();
  reply.tensors[0].shape = {1ll << 40, 1ll << 40};
  CATCH_CHECK_FALSE(decode_member_reply(encode(reply)));
  reply.tensors[0].shape = {-1};
  CATCH_CHECK_FALSE(decode_member_reply(encode(reply)));
}

CATCH_TEST_CASE("a message as large as a frame is read",
                "[messages][cluster]") {
  auto large = full_deployment();
  large.daemon_keys.clear(); // They are of all daemons, or of none.
  while (large.daemons.size() < 4700)
    large.daemons.push_back({std::string(80, 'n'), std::string(80, 'a')});
  large.def.placement.trainers.assign(1000, std::string(40, 't'));
  const auto sent = encode(large);
  CATCH_CHECK(sent.body.size() > max_frame_bytes * 9 / 10);
  CATCH_CHECK(sent.body.size() <= max_frame_bytes);
  CATCH_CHECK(value_of(decode_deployment(sent)).daemons == large.daemons);
}

CATCH_TEST_CASE("elements without bytes are not believed without end",
                "[messages][cluster]") {
  // Four words: of the stream, a struct of one pointer, a list of structs that
  // have no words, and how many there are.
  constexpr std::uint64_t count = (1 << 18) + 1;
  const std::vector<std::uint64_t> words{
    std::uint64_t{3} << 32, std::uint64_t{1} << 48, 1 | std::uint64_t{7} << 32,
    count << 2};
  const payload sent{frame::copy(std::as_bytes(std::span{words})), {}};
  CATCH_CHECK(error_of(decode_runs_reply(sent)).message.find("traversal limit")
              != std::string::npos);
}

CATCH_TEST_CASE("truncated and random messages are errors at worst",
                "[messages][cluster]") {
  CATCH_INFO("seed 41");
  std::mt19937_64 random{41};
  for (const auto& whole : {encode(full_deployment()), encode(full_reply()),
                            encode(full_events()), encode(full_join())}) {
    const auto bytes = whole.body.bytes();
    for (std::size_t size = 0; size < bytes.size(); size += 5)
      for (const auto& decode : decoders)
        decode({frame::copy(bytes.first(size)), {}});
    for (int i = 0; i < 300; ++i) {
      std::vector<std::byte> broken{bytes.begin(), bytes.end()};
      for (int change = 0; change < 3; ++change)
        broken[random() % broken.size()] = static_cast<std::byte>(random());
      for (const auto& decode : decoders)
        decode({frame::copy(broken), {}});
    }
  }
  CATCH_SUCCEED();
}
