#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codecs/capnp_frame.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <kj/string.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

// Messages whose fields are listed beside their structs: what the schema finds
// in them, field by field. There and back alone would not notice two names that
// have changed places.

namespace {

template <class Root>
std::string sent(const payload& message) {
  return value_of(decode_frame<Root>(
    message.body, "a message",
    [](typename Root::Reader in) -> result<std::string> {
      return std::string{kj::str(capnp::DynamicStruct::Reader{in}).cStr()};
    }));
}

/// A list of one run in a state that may not exist.
payload runs_in_state(std::uint16_t raw) {
  capnp::MallocMessageBuilder message;
  auto runs = message.initRoot<schema::RunsReply>().initRuns(1);
  runs[0].setState(static_cast<schema::RunState>(raw));
  return {encode_frame(message), {}};
}

payload daemon_in_state(std::uint16_t raw) {
  capnp::MallocMessageBuilder message;
  auto daemons = message.initRoot<schema::StatusReply>().initDaemons(1);
  daemons[0].setState(static_cast<schema::DaemonState>(raw));
  return {encode_frame(message), {}};
}

payload step_of_phase(std::uint16_t raw) {
  capnp::MallocMessageBuilder message;
  auto steps = message.initRoot<schema::RunEvents>().initSteps(1);
  steps[0].setPhase(static_cast<schema::RunPhase>(raw));
  return {encode_frame(message), {}};
}

} // namespace

CATCH_TEST_CASE("what daemons and clients say has its fields in their places",
                "[messages][fields]") {
  CATCH_CHECK(
    sent<schema::JoinRequest>(encode(join_request{"wordnet",
                                                  "abc",
                                                  {"x", "y", "z"},
                                                  {0, 2},
                                                  2,
                                                  "host",
                                                  3,
                                                  "torn",
                                                  "blas",
                                                  "d",
                                                  true,
                                                  "/parts"}))
    == R"((dataset = "wordnet", datasetDigest = "abc", )"
       R"(partDigests = ["x", "y", "z"], parts = [0, 2], slots = 2, )"
       R"(host = "host", cudaDevices = 3, fault = "torn", )"
       R"(arithmetic = "blas", arithmeticDigest = "d", chaos = true, )"
       R"(data = "/parts"))");
  const key_holder holder{key_role::daemon, "b", "k"};
  CATCH_CHECK(sent<schema::JoinReply>(encode(join_reply{"a", {holder}}))
              == R"((coordinator = "a", members = [(role = daemon, )"
                 R"(name = "b", key = "k")]))");
  CATCH_CHECK(sent<schema::MembersUpdate>(encode(members_update{{holder}}))
              == R"((members = [(role = daemon, name = "b", key = "k")]))");
  status_reply state{"a",        "wordnet", 3,     {},        "r",
                     {"q", "p"}, "full",    {"s"}, {"t", "u"}};
  state.daemons.push_back(
    {"b",
     "tcp://b:1",
     daemon_state::damaged,
     {1, 2},
     4,
     "h",
     "why",
     5,
     true,
     daemon_load{0.5, 1, 2, 3, 4, 5, 6, 7.5, 8.5, 9.5, 10.5, {{"x", 11.5}}},
     "/parts"});
  CATCH_CHECK(
    sent<schema::StatusReply>(encode(state))
    == R"((coordinator = "a", dataset = "wordnet", parts = 3, )"
       R"(daemons = [(name = "b", address = "tcp://b:1", )"
       R"(state = damaged, parts = [1, 2], slots = 4, host = "h", )"
       R"(note = "why", cudaDevices = 5, chaos = true, )"
       R"(load = (cores = 0.5, memoryBytes = 1, )"
       R"(peakMemoryBytes = 2, mappedBytes = 3, threads = 4, )"
       R"(descriptors = 5, mostDescriptors = 6, )"
       R"(diskReadPerSecond = 7.5, diskWrittenPerSecond = 8.5, )"
       R"(sentPerSecond = 9.5, receivedPerSecond = 10.5, )"
       R"(further = [(key = "x", values = 11.5)]), data = "/parts")], )"
       R"(running = "r", )"
       R"(queued = ["q", "p"], note = "full", standIns = ["s"], )"
       R"(alsoRunning = ["t", "u"]))");
  CATCH_CHECK(sent<schema::PlanReply>(encode(
                plan_reply{{"a"}, {"b"}, {"c"}, {daemon_names{{"d", "e"}}}}))
              == R"((daemonOfPart = ["a"], daemonOfRank = ["b"], )"
                 R"(samplers = ["c"], )"
                 R"(replicasOfPart = [(names = ["d", "e"])]))");
  CATCH_CHECK(sent<schema::DaemonRequest>(encode(daemon_request{"a", true}))
              == R"((name = "a", back = true))");
  chaos_request chaos{"a", chaos_kind::delay, moment::checkpoint};
  chaos.wait = std::chrono::milliseconds{1};
  chaos.lasts = std::chrono::milliseconds{2};
  chaos.each = std::chrono::milliseconds{3};
  chaos.messages = 4;
  chaos.peer = "b";
  CATCH_CHECK(sent<schema::ChaosRequest>(encode(chaos))
              == R"((daemon = "a", kind = delay, at = checkpoint, wait = 1, )"
                 R"(lasts = 2, each = 3, messages = 4, peer = "b"))");
  CATCH_CHECK(value_of(decode_chaos_request(encode(chaos))) == chaos);
}

CATCH_TEST_CASE("what a daemon takes is an amount, or is not known",
                "[messages][fields]") {
  status_reply state;
  state.daemons.emplace_back();
  CATCH_CHECK_FALSE(
    value_of(decode_status_reply(encode(state))).daemons[0].load);
  auto& load = state.daemons[0].load.emplace();
  load.memory_bytes = 7;
  CATCH_CHECK(
    value_of(decode_status_reply(encode(state))).daemons[0].load->memory_bytes
    == 7);
  const auto refused = [&state](const daemon_load& told) {
    state.daemons[0].load = told;
    return error_of(decode_status_reply(encode(state))).code
           == ec::invalid_data;
  };
  CATCH_CHECK(refused({.cores = -1}));
  CATCH_CHECK(refused({.further = {{"x", -1}}}));
  CATCH_CHECK(refused({.further = {{"x", std::nan("")}}}));
  CATCH_CHECK(refused({.further = {{std::string(257, 'x'), 1}}}));
  daemon_load many;
  for (std::size_t i = 0; i <= daemon_load::most_further; ++i)
    many.further[std::to_string(i)] = 1;
  CATCH_CHECK(refused(many));
}

CATCH_TEST_CASE("chaos that lacks what it needs is refused",
                "[messages][fields]") {
  const auto refused = [](chaos_request asked) {
    return error_of(decode_chaos_request(encode(asked))).code
           == ec::invalid_argument;
  };
  CATCH_CHECK(decode_chaos_request(encode(chaos_request{"a"})));
  chaos_request asked{"a", chaos_kind::kill, moment::exchange};
  CATCH_CHECK(refused(asked)); // For how long is the moment waited for?
  asked.wait = chaos_request::longest_wait;
  CATCH_CHECK(decode_chaos_request(encode(asked)));
  asked.wait += std::chrono::milliseconds{1};
  CATCH_CHECK(refused(asked));
  CATCH_CHECK(refused({"a", chaos_kind::stop}));
  CATCH_CHECK(refused({"a", chaos_kind::disk}));
  CATCH_CHECK(refused({"a", chaos_kind::corrupt}));
  chaos_request delay{"a", chaos_kind::delay};
  delay.lasts = chaos_request::longest;
  CATCH_CHECK(refused(delay));
  delay.each = chaos_request::longest_each;
  CATCH_CHECK(decode_chaos_request(encode(delay)));
  delay.lasts += std::chrono::milliseconds{1};
  CATCH_CHECK(refused(delay));
}

CATCH_TEST_CASE("what is said of runs has its fields in their places",
                "[messages][fields]") {
  CATCH_CHECK(sent<schema::RunsRequest>(encode(runs_request{"r", 5, "q"}))
              == R"((run = "r", limit = 5, before = "q"))");
  const run_record record{"i",          "n",          run_state::failed,
                          unix_time{1}, unix_time{2}, unix_time{3},
                          "why",        "{}"};
  const std::string inner =
    R"((id = "i", name = "n", state = failed, submitted = 1, started = 2, )"
    R"(ended = 3, message = "why", summary = "{}"))";
  CATCH_CHECK(sent<schema::RunsReply>(encode(runs_reply{{record}, true}))
              == "(runs = [" + inner + "], more = true)");
  CATCH_CHECK(sent<schema::WatchReply>(encode(watch_reply{5, {}, record}))
              == "(next = 5, events = [], record = " + inner + ")");
  CATCH_CHECK(sent<schema::WatchRequest>(
                encode(watch_request{"r", 5, std::chrono::milliseconds{100}}))
              == R"((run = "r", cursor = 5, wait = 100))");
  CATCH_CHECK(sent<schema::CancelRequest>(encode(cancel_request{"r", true}))
              == R"((run = "r", now = true))");
  CATCH_CHECK(sent<schema::FeedStateRequest>(encode(feed_state_request{"r"}))
              == R"((run = "r"))");
  CATCH_CHECK(sent<schema::FeedStateReply>(
                encode(feed_state_reply{run_state::failed, "why", 7}))
              == R"((state = failed, message = "why", code = 7))");
  CATCH_CHECK(sent<schema::FileRequest>(encode(file_request{"r", "log", 7, 9}))
              == R"((run = "r", file = "log", offset = 7, most = 9))");
  CATCH_CHECK(sent<schema::FileReply>(encode(file_reply{{"log"}, 7, {}}))
              == R"((files = ["log"], size = 7))");
  CATCH_CHECK(
    sent<schema::UploadRequest>(encode(upload_request{"state.json", 7, 0, {}}))
    == R"((file = "state.json", size = 7, offset = 0))");
}

CATCH_TEST_CASE("what a run's daemons say has its fields in their places",
                "[messages][fields]") {
  CATCH_CHECK(
    sent<schema::WeightsRequest>(
      encode(weights_request{"r", 1, 2, 3, true, true}))
    == R"((run = "r", tensor = 1, offset = 2, count = 3, checkpoint = true, )"
       R"(kept = true))");
  run_events events;
  events.run = "r";
  events.sequence = 7;
  events.steps = {{{phase::validation, 2, 3, 1}, 0.5, 4, 5, {9, 1, 4}}};
  events.steps[0].logits =
    std::make_shared<const std::vector<float>>(std::size_t{6});
  events.stopped = {1};
  events.failure = error{ec::unavailable, "gone"};
  events.sound = true;
  events.attempt = 3;
  CATCH_CHECK(sent<schema::RunEvents>(encode(events))
              == R"((run = "r", sequence = 7, steps = [(phase = validation, )"
                 R"(epoch = 2, step = 3, rank = 1, lossSum = 0.5, )"
                 R"(correct = 4, seeds = 5, originalSeeds = [9, 1, 4], )"
                 R"(logits = 2)], )"
                 R"(stopped = [1], failure = "gone", failureCode = 11, )"
                 R"(sound = true, attempt = 3))");
}

CATCH_TEST_CASE("the report of a share has its fields in their places",
                "[messages][fields]") {
  member_reply reply;
  reply.trainers = {{2, "d", 8}};
  reply.tensors = {{"w", {3, 4}}};
  auto& work = reply.work;
  work.stages = {{"trainer", 1, 2, 3, 4.5, 5.5, 6.5, 7.5, 8, 9.5}};
  work.disk = disk_use{
    {"row reader", 2, 3, 4, 5.5, 6.5, 7.5, 8.5, 9, 10.5}, 10, 11, 12, {13, 14}};
  work.wire = wire_use{{20, 21}, {22, 23}, {24, 25}, 26,
                       {27, 28}, {29, 30}, {31, 32}, {33, 34}};
  work.cache = cache_use{{40, 41}, {42, 43}, {44, 45}};
  work.peak_memory_bytes = 50;
  work.peak_credit_bytes = 51;
  work.oversize_batches = 52;
  work.retried_batches = 53;
  work.cpu_seconds = 1.25;
  work.checked = item_count{60, 61};
  reply.failure = "why";
  reply.distrusted = {"b", "d"};
  reply.kept = run_position{1, 2, 30, true, 0.5, 4, 1.5, 6, 7, 8.5, 9.5};
  reply.kept_attempt = 8;
  CATCH_CHECK(
    sent<schema::MemberReply>(encode(reply))
    == R"((trainers = [(rank = 2, digest = "d", steps = 8)], )"
       R"(tensors = [(name = "w", shape = [3, 4])], )"
       R"(stages = [(stage = "trainer", replicas = 1, items = 2, bytes = 3, )"
       R"(busySeconds = 4.5, cpuSeconds = 5.5, inputWaitSeconds = 6.5, )"
       R"(creditWaitSeconds = 7.5, restarts = 8, replyWaitSeconds = 9.5)], )"
       R"(peakMemoryBytes = 50, peakCreditBytes = 51, oversizeBatches = 52, )"
       R"(retriedBatches = 53, cpuSeconds = 1.25, failure = "why", )"
       R"(disk = (readers = (stage = "row reader", replicas = 2, items = 3, )"
       R"(bytes = 4, busySeconds = 5.5, cpuSeconds = 6.5, )"
       R"(inputWaitSeconds = 7.5, creditWaitSeconds = 8.5, restarts = 9, )"
       R"(replyWaitSeconds = 10.5), )"
       R"(rowsWanted = 10, rowsFound = 11, rowsShared = 12, )"
       R"(reads = (items = 13, bytes = 14)), )"
       R"(wire = (idsAsked = (items = 20, bytes = 21), )"
       R"(sampledNeighbours = (items = 22, bytes = 23), )"
       R"(featureRows = (items = 24, bytes = 25), otherBytes = 26, )"
       R"(sampledBatches = (items = 27, bytes = 28), )"
       R"(samplingSent = (items = 29, bytes = 30), )"
       R"(featuresSent = (items = 31, bytes = 32), )"
       R"(controlSent = (items = 33, bytes = 34)), )"
       R"(cache = (filling = (items = 40, bytes = 41), )"
       R"(kept = (items = 42, bytes = 43), found = (items = 44, bytes = 45)), )"
       R"(checked = (items = 60, bytes = 61), distrusted = ["b", "d"], )"
       R"(kept = (epoch = 1, step = 2, trainSteps = 30, validated = true, )"
       R"(bestValidation = 0.5, sinceBest = 4, lossSum = 1.5, correct = 6, )"
       R"(seeds = 7, average = 8.5, bestAverage = 9.5), keptAttempt = 8))");
}

CATCH_TEST_CASE("values that an enumeration lacks are refused, however wide",
                "[messages][fields]") {
  // 256 + a known one: ours have 8 bits.
  for (const std::uint16_t raw : {0, 6, 257, 0xffff})
    CATCH_CHECK_FALSE(decode_runs_reply(runs_in_state(raw)));
  CATCH_CHECK(error_of(decode_runs_reply(runs_in_state(257))).message
              == "state of a RunRecord has the value 257, which this version "
                 "does not know");
  CATCH_CHECK(value_of(decode_runs_reply(runs_in_state(5))).runs[0].state
              == run_state::cancelled);
  for (const std::uint16_t raw : {0, 5, 258, 0xffff})
    CATCH_CHECK_FALSE(decode_status_reply(daemon_in_state(raw)));
  CATCH_CHECK(value_of(decode_status_reply(daemon_in_state(1))).daemons[0].state
              == daemon_state::ready);
  for (const std::uint16_t raw : {0, 4, 257, 0xffff})
    CATCH_CHECK_FALSE(decode_run_events(step_of_phase(raw)));
  CATCH_CHECK(value_of(decode_run_events(step_of_phase(3))).steps[0].key.phase
              == phase::test);
}
