#include "actors/remote/proxies/cache_filler.hpp"
#include "partition/files/half.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "pipelines/flow/epoch_plan.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace graphmill;
using namespace graphmill::test;

namespace {

constexpr std::array here{part_id{0}};

/// A graph of which every node of the target type is a training seed.
memory_graph graph_of(std::uint64_t seed) {
  auto graph = with_values(random_graph(seed), seed);
  auto& target = graph.nodes[static_cast<std::size_t>(graph.target)];
  for (node_id id = 0; id < target.count; ++id)
    target.train.push_back(id);
  return graph;
}

/// A run of two trainers, of which the second is at the daemon of part 0.
cache_filler_config config_of(daemons& d, const memory_graph& graph,
                              cache_order order, std::uint64_t bytes) {
  cache_filler_config out;
  out.def.fetch.cache = bytes;
  out.def.fetch.cache_order = order;
  out.def.train.batch_size = 7;
  out.def.train.epochs = 2;
  out.graph = d.graph.graph;
  out.shards.resize(d.graph.shards.size());
  out.shards[0] = d.graph.shards[0];
  out.scheme = std::make_shared<const sampling_scheme>(
    scheme_of(graph, {3, 2}, false, false));
  out.world = 2;
  out.ranks = {1};
  const auto counters = std::make_shared<remote_counters>();
  out.remote = [&d, counters](part_id p) {
    auto to = d.part(static_cast<std::size_t>(p), d.servers[p]);
    to.counters = counters;
    return to;
  };
  out.cache = std::make_shared<row_cache>();
  out.job_bytes = 60;
  return out;
}

/// The same with a gauge, and room for all that is remote.
cache_filler_config watched_config_of(daemons& d, const memory_graph& graph,
                                      cache_order order) {
  auto out = config_of(d, graph, order, 1 << 20);
  out.gauge =
    std::make_shared<actor_gauge>(actor_label{actor_kind::cache_filler});
  return out;
}

std::shared_ptr<outcome<cache_filled>> fill(daemons& d,
                                            const cache_filler_config& config) {
  const auto filler = d.sim.own(spawn_cache_filler(d.sim.system(), config));
  auto out = d.start<cache_filled>(filler, fill_cache{});
  d.settle();
  return out;
}

node_scores scores_of(const daemons& d, const cache_filler_config& config) {
  auto out = no_scores(d.graph.graph->info());
  if (config.def.fetch.cache_order == cache_order::vip)
    value_of(add_inclusion(
      *d.graph.graph, d.graph.shards, *config.scheme,
      seed_chances(config.def, config.graph, config.world, config.ranks[0]),
      out));
  else
    for (const auto& part : d.graph.shards)
      add_degrees(*part, out);
  return out;
}

/// Whether no node that is not there is wanted more than one that is, by more
/// than what rounding explains.
bool is_best(const daemons& d, const row_cache& cache,
             const node_scores& scores) {
  auto least_kept = 1e30F;
  auto most_left = 0.0F;
  std::vector<float> row(cache.width(0));
  const auto offsets = d.graph.graph->offsets(0);
  for (node_id id = offsets[1]; id < offsets.back(); ++id) {
    const auto score = scores[0][static_cast<std::size_t>(id)];
    if (cache.find(0, id, row.data()))
      least_kept = std::min(least_kept, score);
    else
      most_left = std::max(most_left, score);
  }
  return least_kept >= most_left * (1 - 1e-5F);
}

bool has_rows(const daemons& d, const memory_graph& graph,
              const row_cache& cache, bool half) {
  const auto width = cache.width(0);
  std::vector<float> row(width);
  for (auto id : cache.ids(0)) {
    if (!cache.find(0, id, row.data()))
      return false;
    for (std::size_t f = 0; f < width; ++f) {
      const auto original = d.graph.original[0][static_cast<std::size_t>(id)];
      const auto exact =
        graph.nodes[0].features[static_cast<std::size_t>(original) * width + f];
      if (row[f] != (half ? from_half(to_half(exact)) : exact))
        return false;
    }
  }
  return true;
}

} // namespace

CATCH_TEST_CASE("a filled cache has the best rows of other daemons",
                "[actors][cache]") {
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    for (auto order : {cache_order::vip, cache_order::degree}) {
      CATCH_INFO("seed " << seed);
      const auto graph = graph_of(seed);
      daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
      auto config = config_of(d, graph, order, 20 * (4 * seed));
      const auto half = seed % 2 == 0;
      if (half)
        config.def.fetch.precision = feature_precision::float16;
      const auto filled = daemons::answer_of(fill(d, config));
      const auto& cache = *config.cache;
      CATCH_CHECK(cache.is_open());
      CATCH_CHECK(filled.bytes == cache.byte_size());
      CATCH_CHECK(filled.rows == cache.ids(0).size());
      const auto scores = scores_of(d, config);
      const auto expected = choose_hot_nodes(*d.graph.graph, here, scores,
                                             config.def.fetch.cache, half);
      CATCH_CHECK(filled.rows == expected.ids[0].size());
      CATCH_CHECK(is_best(d, cache, scores));
      CATCH_CHECK(has_rows(d, graph, cache, half));
      for (auto id : cache.ids(0))
        CATCH_CHECK(id >= d.graph.graph->offsets(0)[1]);
      // Through every part at once, if there is anything to ask.
      CATCH_CHECK(
        (d.net.requests[method::spread] == 0 || order == cache_order::vip));
    }
}

CATCH_TEST_CASE("a cache filler tells how it is", "[actors][cache]") {
  const auto graph = graph_of(3);
  for (auto order : {cache_order::vip, cache_order::degree}) {
    daemons d{cut(graph, 3, random_assignment(graph, 3, 3)), 3};
    const auto config = watched_config_of(d, graph, order);
    const auto state = [&config] {
      return config.gauge->lanes().front().state;
    };
    const auto filler = d.sim.own(spawn_cache_filler(d.sim.system(), config));
    d.sim.run();
    CATCH_CHECK((state() == actor_state::starved)); // It is not asked yet.
    const auto got = d.start<cache_filled>(filler, fill_cache{});
    d.sim.run();
    CATCH_CHECK((state() == actor_state::waiting)); // No answer has come yet.
    d.settle();
    daemons::answer_of(got);
    CATCH_CHECK((state() == actor_state::stopped));
    const auto seen = config.gauge->read();
    CATCH_CHECK(seen.queue == 0);
    CATCH_CHECK(seen.items > 0);
    // What has come for its rows is in it.
    std::uint64_t bytes = 0;
    for (std::size_t type = 0; type < graph.nodes.size(); ++type) {
      const auto id = static_cast<node_type_id>(type);
      bytes +=
        config.cache->ids(id).size() * config.cache->width(id) * sizeof(float);
    }
    CATCH_CHECK(seen.bytes >= bytes);
  }
}

CATCH_TEST_CASE("chances of seeds add up over the ranks", "[actors][cache]") {
  auto graph = cycle(10);
  for (node_id id = 0; id < 10; ++id)
    graph.nodes[0].train.push_back(id);
  const auto parts = cut(graph, 2, random_assignment(graph, 2, 1));
  for (auto order : {seed_order::local, seed_order::global})
    for (rank_id world : {1, 2, 3}) {
      CATCH_INFO("world " << world);
      definition def;
      def.train.batch_size = 4; // 3 steps.
      def.train.epochs = 5;
      def.train.seed_order = order;
      std::vector<double> sums(10, 0.0);
      for (rank_id rank = 0; rank < world; ++rank)
        for (const auto& seed : seed_chances(def, parts.graph, world, rank)) {
          CATCH_CHECK(seed.chance > 0);
          sums[static_cast<std::size_t>(seed.id)] += seed.chance;
        }
      for (auto sum : sums)
        CATCH_CHECK(std::abs(sum - 1.0 / 3) < 1e-6);
    }
}

CATCH_TEST_CASE("a cache that cannot be filled says why", "[actors][cache]") {
  const auto graph = graph_of(3);
  for (auto order : {cache_order::vip, cache_order::degree}) {
    daemons d{cut(graph, 3, random_assignment(graph, 3, 3)), 3};
    const auto config = watched_config_of(d, graph, order);
    post(d.servers[2], withdraw_run{"run"});
    const auto got = fill(d, config);
    CATCH_REQUIRE(got->failure);
    CATCH_CHECK(got->failure->code == ec::unavailable);
    CATCH_CHECK(got->failure->message
                == "the cache of remote rows cannot be filled: part 2 at "
                   "daemon \"d2\": daemon \"d2\" does not serve part 2 of run "
                   "\"run\"");
    CATCH_CHECK(!config.cache->is_open());
    CATCH_CHECK(config.gauge->last_error().find("does not serve part 2")
                != std::string::npos);
  }
}

CATCH_TEST_CASE("a cache filler that ends answers why", "[actors][cache]") {
  const auto graph = graph_of(3);
  daemons d{cut(graph, 3, random_assignment(graph, 3, 3)), 3};
  const auto filler = spawn_cache_filler(
    d.sim.system(), config_of(d, graph, cache_order::vip, 1 << 20));
  const auto got = d.start<cache_filled>(filler, fill_cache{});
  d.sim.run();
  CATCH_CHECK(!got->there());
  auto code = ec::cancelled;
  std::string reason;
  CATCH_SECTION("it is stopped") {
    stop_actor(filler);
  }
  CATCH_SECTION("its link has crashed, which is not to be cancelled") {
    caf::anon_send_exit(filler, caf::exit_reason::unhandled_exception);
    code = ec::unavailable;
    reason = "a link to another daemon ended";
  }
  d.sim.run();
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == code);
  CATCH_CHECK(got->failure->message.find(reason) != std::string::npos);
  d.settle();
}

CATCH_TEST_CASE("answers that make no sense end the filling",
                "[actors][cache]") {
  const auto graph = graph_of(3);
  daemons d{cut(graph, 3, random_assignment(graph, 3, 3)), 3};
  d.net.tamper = [](payload& reply) {
    std::vector<std::byte> body(reply.body.size(), std::byte{1});
    reply.body = frame::copy(body);
  };
  const auto got = fill(d, config_of(d, graph, cache_order::vip, 1 << 20));
  CATCH_REQUIRE(got->failure);
  CATCH_CHECK(got->failure->code == ec::invalid_data);
}
