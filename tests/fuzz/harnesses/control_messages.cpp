#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"
#include "messages/wire/run.hpp"
#include "messages/wire/trace.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/harnesses/sample_answers.hpp"
#include "tests/fuzz/registry.hpp"
#include "tests/support/sample_trace.hpp"

#include <array>
#include <cstddef>
#include <vector>

// Bodies of the messages of the control channel, and of weights and files: the
// first byte of an input says which.

namespace graphmill::fuzz {

namespace {

constexpr auto encode_plain = [](const auto& value) { return encode(value); };

/// A decoder whose struct `encode` takes.
template <auto Decode>
bool plain(const payload& from) {
  return there_and_back(from, Decode, encode_plain);
}

bool pieces_of_weights(const payload& from) {
  std::vector<float> out(64);
  if (const auto read = decode_weights(from, out); !read)
    return false;
  std::size_t bytes = 0;
  for (const auto& part : from.bulk)
    bytes += part.size();
  require(bytes == out.size() * sizeof(float),
          "weights of another size than was asked");
  return true;
}

bool file_pieces(const payload& from) {
  const auto got = decode_file_reply(from, {});
  if (!got)
    return false;
  const auto again = decode_file_reply(encode(got.value()), {});
  require(again && again.value().bytes == got.value().bytes
            && again.value().files == got.value().files,
          "a piece of a file is not the same after it was sent on");
  return true;
}

bool upload_pieces(const payload& from) {
  const auto got = decode_upload_request(from);
  if (!got)
    return false;
  const auto again = decode_upload_request(encode(got.value()));
  require(again && again.value().bytes == got.value().bytes
            && again.value().file == got.value().file
            && again.value().size == got.value().size
            && again.value().offset == got.value().offset,
          "a piece of an upload is not the same after it was sent on");
  return true;
}

bool definitions(const payload& from) {
  const auto got = decode_definition_body(from);
  if (!got)
    return false;
  const auto again =
    decode_definition_body(encode_definition_body(got.value()));
  require(again.has_value(), "a definition that was sent on does not decode");
  // Not a number is not equal to itself.
  require(again.value() == got.value() || !(got.value() == got.value()),
          "a definition is not the same after it was sent on");
  return true;
}

bool resumptions(const payload& from) {
  static const definition any;
  return there_and_back(from, decode_resumption, [](const resume_request& of) {
    require(!of.uploaded || (of.run.empty() && of.checkpoint.empty()),
            "a run that goes on with two things");
    return encode_resumption(any, of);
  });
}

constexpr std::array<message_reader, 37> body_readers{
  plain<decode_join_request>,
  plain<decode_status_reply>,
  definitions,
  [](const payload& from) {
    return there_and_back(from, decode_run_id, encode_run_id);
  },
  plain<decode_plan_reply>,
  plain<decode_runs_request>,
  plain<decode_runs_reply>,
  plain<decode_watch_request>,
  plain<decode_watch_reply>,
  plain<decode_cancel_request>,
  plain<decode_daemon_request>,
  plain<decode_file_request>,
  file_pieces,
  plain<decode_deployment>,
  plain<decode_member_request>,
  plain<decode_member_reply>,
  plain<decode_weights_request>,
  pieces_of_weights,
  plain<decode_run_events>,
  plain<decode_rendezvous_request>,
  [](const payload& from) {
    return there_and_back(from, decode_rendezvous_value,
                          encode_rendezvous_value);
  },
  plain<decode_join_reply>,
  plain<decode_members_update>,
  plain<decode_daemon_health>,
  plain<decode_health_request>,
  plain<decode_run_health>,
  plain<decode_chaos_request>,
  upload_pieces,
  resumptions,
  plain<decode_log_request>,
  plain<decode_log_reply>,
  plain<decode_events_request>,
  plain<decode_events_reply>,
  plain<decode_trace_request>,
  plain<decode_trace_reply>,
  plain<decode_feed_state_request>,
  plain<decode_feed_state_reply>,
};

void read_control_message(std::string_view input) {
  const auto in = message_in(input);
  body_readers[in.which % body_readers.size()](in.data);
}

definition some_definition() {
  return parse_definition("dataset: d\n"
                          "sampler: {fanouts: {default: [10, 5], "
                          "a__b__c: [1, 0]}}\n"
                          "placement: {trainers: [one]}\n",
                          "fuzz.yaml")
    .value;
}

run_record some_record() {
  return {"20240101-1", "wordnet",    run_state::failed,  unix_time{1},
          unix_time{2}, unix_time{3}, "the disk is full", "{\"steps\": 3}"};
}

std::vector<std::string> cluster_messages() {
  const watch_reply news{
    5,
    {{"{\"phase\": \"train\"}", {}, 0, 0}, {{}, "train", 3, 9}},
    some_record()};
  return {
    input_of(0, encode(join_request{"wordnet",
                                    "abc",
                                    {"x", "y", "z"},
                                    {0, 2},
                                    2,
                                    "host",
                                    3,
                                    "torn",
                                    "blas",
                                    "d"})),
    input_of(1, encode(some_status())),
    input_of(2, encode_definition_body(some_definition())),
    input_of(3, encode_run_id("run-1")),
    input_of(4, encode(plan_reply{{"a", "b"}, {"b"}, {"c"}})),
    input_of(5, encode(runs_request{"r", 5, "q"})),
    input_of(6, encode(runs_reply{{some_record(), some_record()}, true})),
    input_of(7, encode(watch_request{"r", 5, std::chrono::milliseconds{100}})),
    input_of(8, encode(news)),
    input_of(9, encode(cancel_request{"r", true})),
    input_of(10, encode(daemon_request{"a", true})),
    input_of(11, encode(file_request{"r", "log.txt", 7})),
    input_of(12,
             encode(file_reply{
               {"log.txt"}, 3, {std::byte{1}, std::byte{2}, std::byte{3}}})),
    input_of(26, encode(chaos_request{.daemon = "a",
                                      .kind = chaos_kind::delay,
                                      .at = moment::mid_epoch,
                                      .wait = std::chrono::milliseconds{9},
                                      .lasts = std::chrono::milliseconds{8},
                                      .each = std::chrono::milliseconds{7},
                                      .peer = "b"})),
    input_of(27, encode(upload_request{
                   "state.json", 3, 1, {std::byte{2}, std::byte{3}}})),
    input_of(28, encode_resumption(some_definition(),
                                   {.run = "r",
                                    .checkpoint = "0000001-0000000002",
                                    .tensorboard = true})),
  };
}

std::vector<std::string> health_messages() {
  const auto run = some_health();
  return {
    input_of(23, encode(run.daemons[0])),
    input_of(24, encode(health_request{"r", "a"})),
    input_of(25, encode(run)),
  };
}

std::vector<std::string> log_messages() {
  log_reply lines;
  lines.next = 9;
  lines.missing = 2;
  lines.lines = {
    {unix_time{7}, log_level::warn, "a", "r", "batch", "run", "torn"}};
  lines.begun = 2;
  lines.collected = 1;
  lines.anew = true;
  return {
    input_of(29, encode(log_request{7, "r", "a", log_level::info})),
    input_of(30, encode(lines)),
    input_of(31, encode(events_request{7, "r"})),
    input_of(32, encode(events_reply{
                   9, true, {{8, unix_time{7}, "lost", "b", "r", "gone"}}})),
  };
}

std::vector<std::string> trace_messages() {
  return {
    input_of(33, encode(trace_request{"r", "b", 5, 100})),
    input_of(34, encode(test::some_trace())),
    input_of(35, encode(feed_state_request{"r"})),
    input_of(36, encode(feed_state_reply{run_state::failed, "why", 11})),
  };
}

std::vector<std::string> run_messages() {
  const key_holder some_daemon{key_role::daemon, "b", std::string(40, 'k')};
  deployment share;
  share.run = "r";
  share.def = some_definition();
  share.dataset_digest = "abc";
  share.daemons = {{"a", "tcp://a:1"}, {"b", "tcp://b:1"}};
  share.owner_of_part = {0, 1, 0};
  share.daemon_of_rank = {1};
  share.you = 1;
  share.coordinator = "tcp://a:1";
  share.samplers = {0};
  share.replicas_of_part.resize(3);
  share.replicas_of_part[0].daemons = {1};
  member_request begin;
  begin.run = "r";
  begin.epoch = 1;
  begin.steps = 10;
  begin.learning_rate = 0.5;
  auto snapshot = begin;
  snapshot.action = member_action::trainers;
  auto load = snapshot;
  load.action = member_action::load;
  load.tensor = {"w", {3, 4}};
  load.offset = 4;
  load.attempt = 2;
  member_reply reply;
  reply.trainers = {{2, "d", 8}};
  reply.tensors = {{"w", {3, 4}}};
  reply.work.stages = {{"trainer", 1, 2, 3, 4.5, 5.5, 6.5, 7.5, 8}};
  reply.work.disk.emplace();
  reply.work.wire.emplace();
  reply.work.cache.emplace();
  reply.distrusted = {"b"};
  reply.kept = run_position{.epoch = 1, .step = 2, .train_steps = 12};
  run_events events;
  events.run = "r";
  events.sequence = 7;
  events.steps = {{{phase::validation, 2, 3, 1}, 0.5, 4, 5, {9, 1, 4}},
                  {{phase::validation, 2, 3, 0}},
                  {{phase::validation, 2, 4, 0}}};
  seed_outcomes links;
  links.classes = 1;
  links.form = outcome_form::ranks;
  links.labels = {1, 0};
  links.scores = {2, -1};
  links.destination_ranks = {{2, 1}};
  links.source_ranks = {{3, 1}};
  links.tied = 1;
  links.groups = {{2, 1, 3}};
  events.steps[1].outcomes = std::make_shared<const seed_outcomes>(links);
  seed_outcomes classes;
  classes.classes = 2;
  classes.confusion = {{0, 1, 2}};
  events.steps[2].outcomes = std::make_shared<const seed_outcomes>(classes);
  events.stopped = {1};
  events.failure = error{ec::unavailable, "gone"};
  return {
    input_of(13, encode(share)),
    input_of(14, encode(begin)),
    input_of(14, encode(snapshot)),
    input_of(14, encode(load)),
    input_of(15, encode(reply)),
    input_of(16, encode(weights_request{"r", 1, 2, 3})),
    input_of(17, encode_weights(std::vector<float>(64, 0.5f))),
    input_of(18, encode(events)),
    input_of(19, encode(rendezvous_request{"r", "key", "value",
                                           std::chrono::milliseconds{9}})),
    input_of(20, encode_rendezvous_value("value")),
    input_of(21, encode(join_reply{"a", {some_daemon}})),
    input_of(22, encode(members_update{{some_daemon}})),
  };
}

std::vector<std::string> control_messages() {
  auto out = cluster_messages();
  for (const auto& more :
       {run_messages(), health_messages(), log_messages(), trace_messages()})
    out.insert(out.end(), more.begin(), more.end());
  require_sound(out, body_readers);
  return out;
}

} // namespace

const harness control_messages_harness{
  "control_messages", "bodies of messages about daemons and runs",
  read_control_message, control_messages, 20000};

} // namespace graphmill::fuzz
