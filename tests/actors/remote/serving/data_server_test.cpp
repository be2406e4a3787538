#include "actors/remote/calls/batch_call.hpp"
#include "actors/remote/transport_calls.hpp"
#include "messages/wire/data.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/actors/stages/stages.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

/// Asks a daemon directly.
error refusal(daemons& d, method method_id, const payload& data,
              clock_type::time_point deadline = clock_type::now() + 1h) {
  auto answers = std::make_shared<std::vector<result<payload>>>();
  post(d.servers[0], data_request{method_id, data, deadline, "caller",
                                  [answers](result<payload> got) {
                                    answers->push_back(std::move(got));
                                  }});
  d.sim.run();
  CATCH_REQUIRE(answers->size() == 1);
  return error_of(std::move(answers->front()));
}

payload sample_of(const std::string& run, part_id part, edge_type_id type,
                  const std::vector<node_id>& ids, std::int32_t hop = 1) {
  bulk_writer arrays;
  sample_request request{run, part, 1, hop, {}};
  request.queries.push_back({type, {2}, false, arrays.add_integers(ids)});
  return value_of(encode(request, std::move(arrays)));
}

payload gather_of(node_type_id type, const std::vector<node_id>& ids,
                  std::vector<gather_kind> kinds) {
  bulk_writer arrays;
  gather_request request{"run", 0, {}};
  request.queries.push_back(
    {type, arrays.add_integers(ids), std::move(kinds), false});
  return value_of(encode(request, std::move(arrays)));
}

/// Asks for edges among some nodes.
payload sample_among(const std::vector<std::vector<node_id>>& nodes,
                     std::int32_t fanout = -1) {
  bulk_writer arrays;
  sample_request request{"run", 0, 1, 1, {}};
  request.queries.push_back(
    {0, {fanout}, true, arrays.add_integers(std::vector<node_id>{0, 3})});
  request.queries.back().among = true;
  for (const auto& ids : nodes)
    request.among.push_back(arrays.add_integers(ids));
  return value_of(encode(request, std::move(arrays)));
}

/// Edges that are to be excluded, whatever they are.
struct unwanted_edges {
  std::vector<std::int64_t> at;
  std::vector<std::int32_t> counts;
  std::vector<edge_id> edges;

  excluded_arrays add_to(bulk_writer& arrays) const {
    return {arrays.add_integers(at), arrays.add_counts(counts),
            arrays.add_integers(edges)};
  }
};

payload sample_without(const unwanted_edges& edges) {
  bulk_writer arrays;
  sample_request request{"run", 0, 1, 1, {}};
  request.queries.push_back(
    {0, {1}, true, arrays.add_integers(std::vector<node_id>{0, 3})});
  request.queries.back().excluded = edges.add_to(arrays);
  return value_of(encode(request, std::move(arrays)));
}

payload weights_without(const unwanted_edges& edges, gather_kind kind) {
  bulk_writer arrays;
  gather_request request{"run", 0, {}};
  request.queries.push_back(
    {0, arrays.add_integers(std::vector<node_id>{0, 3}), {kind}, false});
  request.queries.back().excluded = {edges.add_to(arrays)};
  return value_of(encode(request, std::move(arrays)));
}

payload spread_of(edge_type_id type, node_id first,
                  const std::vector<float>& chances, std::int32_t fanout = 2) {
  bulk_writer arrays;
  spread_request query{"run", 0, type, {fanout}, first, 0, {}};
  query.chances =
    arrays.add(element::float32, std::as_bytes(std::span{chances}));
  return value_of(encode(query, std::move(arrays)));
}

cut_graph two_parts() {
  const auto graph = with_values(cycle(10), 1, 4000);
  assignment owner(1);
  for (int i = 0; i < 10; ++i)
    owner[0].push_back(i < 5 ? 0 : 1);
  return cut(graph, 2, owner);
}

} // namespace

CATCH_TEST_CASE("what a daemon does not serve is unavailable",
                "[actors][remote]") {
  daemons d{two_parts()};
  const auto of_run = refusal(d, method::sample, sample_of("old", 0, 0, {1}));
  CATCH_CHECK(of_run.code == ec::unavailable);
  CATCH_CHECK(of_run.message
              == "daemon \"d0\" does not serve part 0 of run \"old\"");
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 1, 0, {7})).code
              == ec::unavailable);
  post(d.servers[0], withdraw_run{"run"});
  CATCH_CHECK(
    refusal(d, method::gather, gather_of(0, {1}, {gather_kind::labels})).code
    == ec::unavailable);
}

CATCH_TEST_CASE("edges among nodes that make no sense are refused",
                "[actors][remote]") {
  daemons d{two_parts()};
  const auto said = [&d](const payload& data) {
    const auto got = refusal(d, method::sample, data);
    return got.message;
  };
  CATCH_CHECK_THAT(said(sample_among({})), contains("that it does not name"));
  CATCH_CHECK_THAT(said(sample_among({{1}, {1}})),
                   contains("names nodes of 2 types"));
  for (const node_id id : {-1, 10})
    CATCH_CHECK_THAT(said(sample_among({{1, id}})), contains("names node"));
  CATCH_CHECK_THAT(said(sample_among({{1}}, 2)), contains("are taken"));
}

CATCH_TEST_CASE("what a data server leaves behind may be asked elsewhere",
                "[actors][remote]") {
  // Who is told may have no memory to hear it, which must end no process.
  const auto heard = GENERATE(true, false);
  simulation sim;
  const auto server = spawn_data_server(sim.system(), {"d0"});
  auto told = 0;
  std::optional<error> reason;
  incoming_request request;
  request.method = method::sample;
  request.data = sample_of("run", 0, 0, {1});
  request.reply = responder{[&told, &reason, heard](result<payload> got) {
    ++told;
    if (!heard)
      throw std::bad_alloc{};
    reason = std::move(got).error();
  }};
  caf::anon_send_exit(server, caf::exit_reason::kill);
  CATCH_CHECK(serve_data(server, request));
  request.reply = {};
  sim.run();
  if (!heard) {
    CATCH_CHECK(told == 2); // The responder itself has tried, too.
    return;
  }
  CATCH_CHECK(told == 1);
  CATCH_REQUIRE(reason);
  CATCH_CHECK(reason->code == ec::unavailable);
}

CATCH_TEST_CASE("what a request has a data server throw ends no daemon",
                "[actors][remote]") {
  daemons d{two_parts()};
  auto told = 0;
  for (const auto* run : {"old", "run"}) // One is refused, one is served.
    post(d.servers[0], data_request{method::sample, sample_of(run, 0, 0, {1}),
                                    clock_type::now() + 1h, "caller",
                                    [&told](const result<payload>&) {
                                      ++told;
                                      throw std::bad_alloc{};
                                    }});
  d.sim.run();
  CATCH_CHECK(told == 2);
  CATCH_CHECK(refusal(d, method::sample, sample_of("old", 0, 0, {1})).code
              == ec::unavailable);
}

CATCH_TEST_CASE("requests that make no sense are refused", "[actors][remote]") {
  daemons d{two_parts()};
  const auto bad = ec::invalid_argument;
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, 0, {5})).code
              == bad);
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, 0, {-1})).code
              == bad);
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, 1, {1})).code
              == bad);
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, -1, {1})).code
              == bad);
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, 0, {1}, 0)).code
              == bad);
  CATCH_CHECK(
    refusal(d, method::gather, gather_of(1, {1}, {gather_kind::labels})).code
    == bad);
  CATCH_CHECK(
    refusal(d, method::gather, gather_of(0, {9}, {gather_kind::labels})).code
    == bad);
  CATCH_CHECK(refusal(d, method::status, gather_of(0, {1}, {})).code == bad);
  for (const auto& message :
       {spread_of(1, 0, {1}), spread_of(-1, 0, {1}), spread_of(0, 3, {1, 1, 1}),
        spread_of(0, -1, {1}), spread_of(0, 5, {1}), spread_of(0, 0, {2}),
        spread_of(0, 0, {-1}), spread_of(0, 0, {NAN}),
        spread_of(0, 0, {1}, -2)})
    CATCH_CHECK(refusal(d, method::spread, message).code == bad);
  // 2000 rows of 16,000 bytes.
  const std::vector<node_id> many(2000, 1);
  CATCH_CHECK(
    refusal(d, method::gather, gather_of(0, many, {gather_kind::features})).code
    == bad);
  CATCH_CHECK(refusal(d, method::sample, sample_of("run", 0, 0, {1}),
                      clock_type::now() - 1s)
                .code
              == ec::timeout);
}

CATCH_TEST_CASE("edges to exclude that make no sense are refused",
                "[actors][remote][exclusion]") {
  daemons d{two_parts()};
  // Of nodes 0 and 3 on the ring, whose in-edges are 0 and 1, and 6 and 7.
  const std::vector<std::pair<unwanted_edges, const char*>> senseless{
    {{{0}, {1}, {2}}, "edge 2 "},
    {{{1}, {1}, {5}}, "edge 5 "},
    {{{0}, {1}, {-1}}, "edge -1 "},
    {{{0}, {2}, {1, 0}}, "do not ascend"},
    {{{0}, {2}, {1, 1}}, "do not ascend"},
    {{{1, 0}, {1, 1}, {6, 0}}, "list 0 of 2"},
    {{{0, 0}, {1, 1}, {0, 1}}, "list 0 of 2"},
    {{{2}, {1}, {0}}, "list 2 of 2"},
    {{{-1}, {1}, {0}}, "list -1 of 2"},
    {{{0}, {0}, {}}, "1 or more expected"},
    {{{0}, {2}, {0}}, "2 edges are to be excluded, but 1 are given"},
    {{{0, 1}, {1}, {0}}, "1 counts of them"}};
  for (const auto& [edges, part] : senseless) {
    CATCH_INFO(part);
    const auto sampled = refusal(d, method::sample, sample_without(edges));
    CATCH_CHECK(sampled.code == ec::invalid_argument);
    const auto weighed = refusal(
      d, method::gather, weights_without(edges, gather_kind::in_weights));
    CATCH_CHECK(weighed.code == ec::invalid_argument);
    CATCH_INFO(sampled.message);
    CATCH_CHECK(sampled.message.find(part) != std::string::npos);
  }
  const auto alone = refusal(
    d, method::gather, weights_without({{}, {}, {0}}, gather_kind::in_weights));
  CATCH_CHECK(alone.message == "0 edges are to be excluded, but 1 are given");
  const auto features = refusal(
    d, method::gather, weights_without({{0}, {1}, {0}}, gather_kind::degrees));
  CATCH_CHECK(features.message.find("only sums of weights go without edges")
              != std::string::npos);
}

CATCH_TEST_CASE("random requests are answered or refused", "[actors][remote]") {
  daemons d{two_parts()};
  const std::vector<std::pair<method, payload>> examples{
    {method::sample, sample_of("run", 0, 0, {1, 2, 3})},
    {method::gather,
     gather_of(0, {0, 4}, {gather_kind::features, gather_kind::original_ids})},
    {method::spread, spread_of(0, 1, {1, 0.5F})},
    {method::sample, sample_without({{0, 1}, {1, 2}, {1, 6, 7}})},
    {method::gather,
     weights_without({{0, 1}, {1, 2}, {1, 6, 7}}, gather_kind::in_weights)}};
  auto answers = std::make_shared<std::size_t>(0);
  std::size_t asked = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    random_stream draws{seed, 2};
    auto [method_id, data] = examples[seed % examples.size()];
    std::vector<std::byte> body{data.body.bytes().begin(),
                                data.body.bytes().end()};
    for (std::uint32_t i = 0; i < 1 + draws.below(4); ++i)
      body[draws.below(static_cast<std::uint32_t>(body.size()))] =
        static_cast<std::byte>(draws.below(256));
    data.body = frame::copy(body);
    ++asked;
    post(d.servers[0],
         data_request{method_id, data, clock_type::now() + 1h, "caller",
                      [answers](result<payload>) { ++*answers; }});
    d.sim.run();
  }
  CATCH_CHECK(*answers == asked);
  CATCH_CHECK(d.pool->peak_bytes() < 64 << 20);
}

CATCH_TEST_CASE("services and samplers know until when an answer is wanted",
                "[actors][remote]") {
  daemons d{two_parts()};
  led_stage<neighbour_job, neighbour_answer> sampling;
  led_stage<gather_job, gather_answer> features;
  led_stage<sample_job, sample_answer> sampler;
  sampling.script->hold = features.script->hold = sampler.script->hold = true;
  sampling.spawn(d.sim, nullptr);
  features.spawn(d.sim, nullptr);
  sampler.spawn(d.sim, nullptr);
  post(d.servers[0], serve_part{"run", d.graph.shards[0], sampling.handle,
                                features.handle, d.pool});
  const auto scheme = std::make_shared<const sampling_scheme>();
  post(d.servers[0],
       serve_batches{
         "run", d.graph.graph, sampler.handle, {scheme, 10}, {scheme, 10}});
  const auto deadline = clock_type::now() + 1h;
  const auto ask = [&](method method_id, const payload& data) {
    post(d.servers[0],
         data_request{method_id, data, deadline, "caller", [](auto) {}});
  };
  ask(method::sample, sample_of("run", 0, 0, {1}));
  ask(method::gather, gather_of(0, {1}, {gather_kind::labels}));
  const batch_seeds seeds{{{1, 7}}};
  std::uint64_t ids = 0;
  ask(method::sample_batch,
      value_of(batch_question("run", 1, batch_kind::train,
                              d.graph.graph->info(), seeds, ids)));
  d.sim.run();
  CATCH_REQUIRE(sampling.jobs().size() == 1);
  CATCH_CHECK(sampling.jobs()[0].until == deadline);
  CATCH_REQUIRE(features.jobs().size() == 1);
  CATCH_CHECK(features.jobs()[0].until == deadline);
  CATCH_REQUIRE(sampler.jobs().size() == 1);
  CATCH_CHECK(sampler.jobs()[0].until == deadline);
}

CATCH_TEST_CASE("a sampler begins no hop that nobody waits for",
                "[actors][remote]") {
  daemons d{two_parts()};
  sampling_scheme whole;
  whole.fanouts = {{-1}, {-1}};
  sample_job job;
  job.seeds = std::make_shared<const batch_seeds>(batch_seeds{{{1, 7}}});
  job.scheme = std::make_shared<const sampling_scheme>(whole);
  led_stage<neighbour_job, neighbour_answer> sampling;
  sampling.script->hold = true;
  sampling.spawn(d.sim, nullptr);
  const auto sampler = d.sampler({sampling.handle, sampling.handle});
  job.until = clock_type::now() - 1h;
  const auto late = d.start<sample_answer>(sampler, job);
  d.sim.run();
  CATCH_REQUIRE(late->failure);
  CATCH_CHECK(late->failure->code == ec::timeout);
  CATCH_CHECK(sampling.jobs().empty());
  job.until = clock_type::now() + 1h;
  d.start<sample_answer>(sampler, job);
  d.sim.run();
  CATCH_REQUIRE(sampling.jobs().size() == 2); // A hop of either part.
  CATCH_CHECK(sampling.jobs()[0].until == job.until);
}

CATCH_TEST_CASE("batches for others are in nobody's way", "[actors][remote]") {
  data_server_config narrow;
  narrow.reply_bytes = narrow.message_bytes; // For one batch at a time.
  daemons d{two_parts(), 1, narrow};
  led_stage<sample_job, sample_answer> sampler;
  sampler.script->hold = true;
  sampler.spawn(d.sim, [&d](const sample_job& job) {
    return sample_answer{std::make_shared<sampled_subgraph>(value_of(sample(
      *d.graph.graph, d.graph.shards, *job.scheme, job.stream, *job.seeds)))};
  });
  sampling_scheme whole;
  whole.fanouts = {{-1}};
  const auto scheme = std::make_shared<const sampling_scheme>(whole);
  post(d.servers[0],
       serve_batches{
         "run", d.graph.graph, sampler.handle, {scheme, 10}, {scheme, 10}});
  auto batches = std::make_shared<std::size_t>(0);
  const auto ask = [&d](method method_id, const payload& data,
                        std::shared_ptr<std::size_t> answers) {
    post(d.servers[0], data_request{method_id, data, clock_type::now() + 1h,
                                    "caller", [answers](result<payload> got) {
                                      value_of(std::move(got));
                                      ++*answers;
                                    }});
    d.sim.run();
  };
  const batch_seeds seeds{{{1, 7}}};
  std::uint64_t ids = 0;
  for (std::uint64_t key = 0; key < 3; ++key)
    ask(method::sample_batch,
        value_of(batch_question("run", key, batch_kind::train,
                                d.graph.graph->info(), seeds, ids)),
        batches);
  CATCH_CHECK(sampler.jobs().size() == 1); // The others wait for its bytes.
  // What a batch elsewhere may wait for is answered all the same.
  auto samples = std::make_shared<std::size_t>(0);
  ask(method::sample, sample_of("run", 0, 0, {1, 2}), samples);
  ask(method::gather, gather_of(0, {1}, {gather_kind::labels}), samples);
  CATCH_CHECK(*samples == 2);
  CATCH_CHECK(*batches == 0);
  for (std::size_t i = 0; i < 3; ++i) {
    sampler.answer(d.sim, i);
    CATCH_CHECK(*batches == i + 1);
  }
}
