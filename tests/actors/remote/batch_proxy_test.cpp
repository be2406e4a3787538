#include "actors/remote/proxies/batch_proxy.hpp"
#include "messages/wire/data.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Two hops, with the weights of edges.
sampling_scheme weighing(const memory_graph& graph) {
  auto out = scheme_of(graph, {4, 2});
  out.weights = true;
  return out;
}

/// Daemons d0 and d1, of which one samples for others or both do.
struct samplers {
  explicit samplers(std::uint64_t seed, std::uint32_t most_seeds = 1000)
    : graph(with_weights(random_graph(seed), seed)),
      d(cut(graph, 2, random_assignment(graph, 2, seed)), seed),
      scheme(std::make_shared<const sampling_scheme>(weighing(graph))),
      here(d.sampler(d.local_sampling)) {
    for (auto& server : d.servers)
      post(server, serve_batches{"run",
                                 d.graph.graph,
                                 here,
                                 {scheme, most_seeds},
                                 {scheme, most_seeds}});
    d.sim.run();
  }

  sampler_actor proxy(std::vector<batch_source> sources) {
    batch_proxy_config config;
    config.run = "run";
    config.graph = d.graph.graph;
    config.here = here;
    config.sources = std::move(sources);
    config.world = 2;
    config.pool = d.pool;
    config.counters = d.counters;
    config.wire = d.remote;
    return d.sim.own(spawn_batch_proxy(d.sim.system(), std::move(config)));
  }

  batch_source source(std::size_t daemon) {
    return {fmt::format("d{}", daemon), d.net.to(d.servers[daemon])};
  }

  sample_job job(std::int64_t step, rank_id rank) {
    sample_job out;
    out.key.step = step;
    out.key.rank = rank;
    out.stream = 50 + static_cast<std::uint64_t>(step);
    std::vector<node_id> seeds;
    for (auto id : random_seeds(graph, static_cast<std::uint64_t>(step)))
      seeds.push_back(d.graph.to_global[graph.target][id]);
    out.seeds = std::make_shared<const batch_seeds>(
      target_seeds(d.graph.graph->info(), seeds));
    out.scheme = scheme;
    return out;
  }

  plain_batch sampled(const sampler_actor& by, const sample_job& job) {
    const auto got = d.start<sample_answer>(by, job);
    d.settle();
    return to_plain(*daemons::answer_of(got).graph, d.graph);
  }

  error refused(const sampler_actor& by, const sample_job& job) {
    const auto got = d.start<sample_answer>(by, job);
    d.settle();
    CATCH_REQUIRE(got->failure);
    return *got->failure;
  }

  memory_graph graph;
  daemons d;
  std::shared_ptr<const sampling_scheme> scheme;
  sampler_actor here;
};

} // namespace

CATCH_TEST_CASE("batches of other daemons are those of this one",
                "[actors][remote][batch]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    samplers s{seed};
    const auto proxy = s.proxy({s.source(1), s.source(0)});
    std::vector<std::shared_ptr<outcome<sample_answer>>> outcomes;
    for (std::int64_t step = 0; step < 4; ++step)
      for (rank_id rank = 0; rank < 2; ++rank)
        outcomes.push_back(s.d.start<sample_answer>(proxy, s.job(step, rank)));
    s.d.settle();
    for (std::int64_t step = 0; step < 4; ++step) {
      const auto local = s.sampled(s.here, s.job(step, 0));
      for (std::size_t rank = 0; rank < 2; ++rank)
        CATCH_CHECK(
          to_plain(*daemons::answer_of(
                      outcomes[static_cast<std::size_t>(step) * 2 + rank])
                      .graph,
                   s.d.graph)
          == local);
    }
    CATCH_CHECK(s.d.net.requests[method::sample_batch] == 8);
    CATCH_CHECK(s.d.remote->read().batches == 8);
  }
}

CATCH_TEST_CASE("batches are dealt in turn, own ones stay here",
                "[actors][remote][batch]") {
  samplers s{3};
  const auto proxy = s.proxy({s.source(0), {"here", {}}, s.source(1)});
  for (std::int64_t step = 0; step < 3; ++step)
    for (rank_id rank = 0; rank < 2; ++rank)
      s.sampled(proxy, s.job(step, rank));
  // Numbers 0 to 5: two each.
  CATCH_CHECK(s.d.net.requests[method::sample_batch] == 4);
}

CATCH_TEST_CASE("what is too large is sampled here",
                "[actors][remote][batch]") {
  samplers s{4};
  s.d.net.tamper = [](payload& answer) {
    batch_reply large;
    large.too_large = true;
    answer = value_of(encode(large, bulk_writer{}));
  };
  const auto proxy = s.proxy({s.source(0)});
  CATCH_CHECK(s.sampled(proxy, s.job(1, 0)) == s.sampled(s.here, s.job(1, 0)));
  // A second one like it is not even asked for.
  CATCH_CHECK(s.sampled(proxy, s.job(1, 1)) == s.sampled(s.here, s.job(1, 1)));
  CATCH_CHECK(s.d.net.requests[method::sample_batch] == 1);
  CATCH_CHECK(s.d.remote->read().large_batches == 2);
  CATCH_CHECK(s.d.remote->read().batches == 0);
}

CATCH_TEST_CASE("a sampler that fails is named", "[actors][remote][batch]") {
  samplers s{5};
  const auto proxy = s.proxy({s.source(1)});
  s.d.net.tamper = [](payload& answer) { answer.bulk.clear(); };
  const auto hostile = s.refused(proxy, s.job(0, 0));
  CATCH_CHECK(hostile.code == ec::invalid_data);
  CATCH_CHECK(hostile.message.find("sampling at daemon \"d1\"") == 0);
  s.d.net.tamper = {};
  post(s.d.servers[1], withdraw_run{"run"});
  s.d.sim.run();
  const auto gone = s.refused(proxy, s.job(0, 0));
  CATCH_CHECK(gone.code == ec::unavailable);
  CATCH_CHECK(gone.message.find("samples no batches of run \"run\"")
              != std::string::npos);
  CATCH_CHECK(s.d.remote->read().failures == 2);
}

CATCH_TEST_CASE("no more seeds than the definition allows",
                "[actors][remote][batch]") {
  samplers s{6, 2};
  auto job = s.job(0, 0);
  const auto around = [&s](const std::vector<node_id>& ids) {
    return std::make_shared<const batch_seeds>(
      target_seeds(s.d.graph.graph->info(), ids));
  };
  job.seeds = around({0, 1, 2});
  const auto proxy = s.proxy({s.source(0)});
  CATCH_CHECK(s.refused(proxy, job).message.find("3 seeds")
              != std::string::npos);
  job.seeds = around({0, 0});
  CATCH_CHECK(s.refused(proxy, job).code == ec::invalid_argument);
  job.seeds = around({-1});
  CATCH_CHECK(s.refused(proxy, job).code == ec::invalid_argument);
}

CATCH_TEST_CASE("a proxy that ends leaves nobody waiting",
                "[actors][remote][batch]") {
  samplers s{7};
  const auto proxy = s.proxy({{"d1", s.d.net.to(std::nullopt)}});
  const auto got = s.d.start<sample_answer>(proxy, s.job(0, 0));
  s.d.settle();
  CATCH_CHECK(!got->there());
  stop_actor(proxy);
  s.d.settle();
  CATCH_REQUIRE(got->failure);
  // Not an answer, but the end of a worker.
  CATCH_CHECK(got->failure->code == ec::crashed);
}
