#include "actors/remote/cached_rows.hpp"
#include "actors/remote/failover.hpp"
#include "messages/wire/data.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "tests/actors/remote/daemons.hpp"
#include "tests/support/result.hpp"

#include "partition/files/half.hpp"

#include <array>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A batch to compare, without its memory.
struct plain_fetched {
  plain_batch graph;
  std::vector<std::vector<float>> features;
  std::vector<std::vector<node_id>> embedding_rows;
  std::vector<std::vector<std::int32_t>> degrees;
  std::vector<std::vector<float>> in_weights;
  std::vector<std::int64_t> labels;
  std::vector<node_id> seeds;
  friend bool operator==(const plain_fetched&, const plain_fetched&) = default;
};

plain_fetched plain(const fetched_batch& batch, const cut_graph& graph) {
  plain_fetched out{
    to_plain(batch.graph, graph), {}, {}, {}, {}, list(batch.labels),
    list(batch.original_seeds)};
  for (const auto& rows : batch.features)
    out.features.push_back(list(rows));
  for (const auto& rows : batch.embedding_rows)
    out.embedding_rows.push_back(list(rows));
  for (const auto& values : batch.degrees)
    out.degrees.push_back(list(values));
  for (const auto& sums : batch.in_weights)
    out.in_weights.push_back(list(sums));
  return out;
}

struct stages {
  sampler_actor sampler;
  fetcher_actor fetcher;
};

/// Samples and fetches the batches of several steps, all at once.
std::vector<plain_fetched>
batches(daemons& d, const stages& with, const memory_graph& graph,
        bool edge_ids, const std::vector<excluded_edges>& without = {},
        edge_level level = all_levels,
        subgraph_kind subgraph = subgraph_kind::directional) {
  constexpr std::size_t steps = 3;
  auto wanted = scheme_of(graph, {4, 3, -1}, false, edge_ids);
  wanted.weights = graph.edges.front().weights.size() != 0;
  wanted.level = level;
  wanted.subgraph = subgraph;
  const auto scheme =
    std::make_shared<const sampling_scheme>(std::move(wanted));
  std::vector<std::shared_ptr<outcome<sample_answer>>> sampled;
  std::vector<std::shared_ptr<const batch_seeds>> asked;
  for (std::size_t s = 0; s < steps; ++s) {
    sample_job job;
    job.stream = 100 + s;
    std::vector<node_id> seeds;
    for (auto id : random_seeds(graph, s))
      seeds.push_back(d.graph.to_global[graph.target][id]);
    auto around = target_seeds(d.graph.graph->info(), seeds);
    around.excluded = without;
    job.seeds = asked.emplace_back(
      std::make_shared<const batch_seeds>(std::move(around)));
    job.scheme = scheme;
    sampled.push_back(d.start<sample_answer>(with.sampler, job));
  }
  d.settle();
  std::vector<std::shared_ptr<outcome<fetch_answer>>> fetched;
  for (std::size_t s = 0; s < steps; ++s) {
    fetch_job job;
    job.graph = daemons::answer_of(sampled[s]).graph;
    job.seeds = asked[s];
    job.level = level;
    fetched.push_back(d.start<fetch_answer>(with.fetcher, job));
  }
  d.settle();
  std::vector<plain_fetched> out;
  for (auto& answered : fetched)
    out.push_back(plain(*daemons::answer_of(answered).batch, d.graph));
  return out;
}

/// A way to a daemon that dies of request number `left` + 1, with all that it
/// was being asked.
remote_call dying(remote_call to, std::shared_ptr<int> left) {
  return [to = std::move(to), left = std::move(left)](
           method method_id, payload data,
           std::function<void(result<payload>)> on_reply) {
    const auto gone = fail(ec::unavailable, "it is gone");
    if (--*left < 0)
      on_reply(gone);
    else
      to(method_id, std::move(data), [left, gone, on_reply](auto got) {
        on_reply(*left < 0 ? result<payload>{gone} : std::move(got));
      });
  };
}

} // namespace

CATCH_TEST_CASE("batches are the same over the wire", "[actors][remote]") {
  std::uint64_t requests = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_values(random_graph(seed), seed);
    const cut_options layout{seed % 3 == 1, seed % 4 == 2};
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed), layout), seed};
    const auto here =
      batches(d, {d.sampler(d.local_sampling), d.fetcher(d.local_features)},
              graph, seed % 2 == 0);
    remote_feature_config small;
    small.reply_bytes = 64 + 100 * (seed % 5);
    small.window = 2;
    const auto there =
      batches(d, {d.sampler_over_wire(), d.fetcher_over_wire(small)}, graph,
              seed % 2 == 0);
    CATCH_CHECK(here == there);
    const auto report = d.remote->read();
    CATCH_CHECK(report.failures == 0);
    requests += report.requests;
    CATCH_CHECK((report.edge_ids_in != 0)
                == (seed % 2 == 0 && report.sampled_sources != 0));
  }
  CATCH_CHECK(requests > 300);
}

CATCH_TEST_CASE("batches with weights of edges are the same over the wire",
                "[actors][remote][weights]") {
  std::uint64_t with = 0, without = 0;
  std::size_t weighed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto plain_graph = with_values(random_graph(seed), seed);
    for (const auto& graph : {plain_graph, with_weights(plain_graph, seed)}) {
      daemons d{cut(graph, 3, random_assignment(graph, 3, seed),
                    {seed % 3 == 1, false}),
                seed};
      const auto here =
        batches(d, {d.sampler(d.local_sampling), d.fetcher(d.local_features)},
                graph, false);
      remote_feature_config small;
      small.reply_bytes = 64 + 100 * (seed % 5);
      small.window = 2;
      const auto there = batches(
        d, {d.sampler_over_wire(), d.fetcher_over_wire(small)}, graph, false);
      CATCH_CHECK(here == there);
      for (const auto& batch : here)
        for (const auto& edges : batch.graph.edge_types)
          weighed += edges.weights.size();
      const auto report = d.remote->read();
      CATCH_CHECK(report.failures == 0);
      (graph.edges[0].weights.empty() ? without : with) += report.edge_ids_in;
    }
  }
  CATCH_CHECK(without == 0);
  CATCH_CHECK(with > 0);
  CATCH_CHECK(weighed > 1000);
}

CATCH_TEST_CASE("batches without some edges are those of a graph without them",
                "[actors][remote][exclusion]") {
  std::size_t gone = 0;
  std::uint64_t sums = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    auto graph = with_values(random_graph(seed), seed);
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    const auto thinned = thin_out(graph, seed);
    gone += thinned.count();
    daemons left{whole(thinned.left), seed};
    const auto expected = batches(
      left,
      {left.sampler(left.local_sampling), left.fetcher(left.local_features)},
      thinned.left, false);
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
    const auto without = thinned.excluded(graph, d.graph);
    const auto here =
      batches(d, {d.sampler(d.local_sampling), d.fetcher(d.local_features)},
              graph, false, without);
    CATCH_CHECK(here == expected);
    remote_feature_config small;
    small.reply_bytes = 64 + 100 * (seed % 5);
    small.window = 2;
    const auto there =
      batches(d, {d.sampler_over_wire(), d.fetcher_over_wire(small)}, graph,
              false, without);
    CATCH_CHECK(there == expected);
    CATCH_CHECK(d.remote->read().failures == 0);
    for (const auto& batch : expected)
      for (const auto& weights : batch.in_weights)
        sums += weights.size();
  }
  CATCH_CHECK(gone > 500);
  CATCH_CHECK(sums > 500);
}

CATCH_TEST_CASE("batches up to a level are those of the graph without the rest",
                "[actors][remote][levels]") {
  std::size_t hidden = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    auto graph = with_values(random_graph(seed), seed);
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    graph = with_levels(std::move(graph), seed);
    const auto level = static_cast<edge_level>(seed % 3);
    const auto reduced = reduce(graph, level, seed % 5 == 0 ? 0 : 6, seed);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      for (std::size_t to = 0; to < graph.edges[e].in.size(); ++to)
        hidden += graph.edges[e].in[to].size()
                  - reduced.seen.left.edges[e].in[to].size();
    daemons left{whole(reduced.seen.left), seed};
    const auto expected = batches(
      left,
      {left.sampler(left.local_sampling), left.fetcher(left.local_features)},
      reduced.seen.left, false);
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
    const auto without = reduced.excluded.excluded(graph, d.graph);
    const auto here =
      batches(d, {d.sampler(d.local_sampling), d.fetcher(d.local_features)},
              graph, false, without, level);
    CATCH_CHECK(here == expected);
    remote_feature_config small;
    small.reply_bytes = 64 + 100 * (seed % 5);
    small.window = 2;
    const auto there =
      batches(d, {d.sampler_over_wire(), d.fetcher_over_wire(small)}, graph,
              false, without, level);
    CATCH_CHECK(there == expected);
    CATCH_CHECK(d.remote->read().failures == 0);
  }
  CATCH_CHECK(hidden > 1000);
}

CATCH_TEST_CASE("induced batches are the same over the wire",
                "[actors][remote][subgraphs]") {
  std::uint64_t split = 0;
  std::size_t more = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    auto graph = with_values(random_graph(seed), seed);
    if (seed % 2 == 0)
      graph = with_weights(std::move(graph), seed);
    const auto thinned = thin_out(graph, seed);
    data_server_config small;
    small.message_bytes = seed % 3 == 0 ? 200 : small.message_bytes;
    daemons d{
      cut(graph, 3, random_assignment(graph, 3, seed), {seed % 5 == 1, false}),
      seed, small};
    const auto without = thinned.excluded(graph, d.graph);
    const stages local{d.sampler(d.local_sampling),
                       d.fetcher(d.local_features)};
    const auto here = batches(d, local, graph, seed % 4 == 0, without,
                              all_levels, subgraph_kind::induced);
    const auto sampled = batches(d, local, graph, seed % 4 == 0, without);
    const auto over_wire = [&](const remote_sampling_config& like) {
      return batches(d, {d.sampler_over_wire(like), d.fetcher_over_wire({})},
                     graph, seed % 4 == 0, without, all_levels,
                     subgraph_kind::induced);
    };
    CATCH_CHECK(over_wire({}) == here);
    // Too many nodes to be named; and slices that fit into the messages.
    remote_sampling_config few;
    few.named_nodes = 3;
    few.reply_bytes = 100;
    CATCH_CHECK(over_wire(few) == here);
    for (std::size_t b = 0; b < here.size(); ++b)
      for (std::size_t e = 0; e < graph.edges.size(); ++e)
        more += here[b].graph.edge_types[e].sources.size()
                    > sampled[b].graph.edge_types[e].sources.size()
                  ? 1
                  : 0;
    CATCH_CHECK(d.remote->read().failures == 0);
    split += d.remote->read().split;
  }
  CATCH_CHECK(more > 100);
  CATCH_CHECK(split > 10);
}

CATCH_TEST_CASE("batches by walks and budgets are the same over the wire",
                "[actors][remote][walks]") {
  std::size_t nodes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
    const auto& info = d.graph.graph->info();
    auto wanted = scheme_of(graph, {-1, -1}, false, seed % 2 == 0);
    wanted.subgraph = subgraph_kind::induced;
    wanted.walk = {6, 3, 0};
    if (seed % 3 == 0) {
      wanted.method = sampling_method::saint;
    } else if (seed % 3 == 1) {
      wanted.method = sampling_method::hgt;
      wanted.budgets.assign(2,
                            std::vector<std::int32_t>(graph.nodes.size(), 4));
    } else {
      wanted.method = sampling_method::pinsage;
      wanted.subgraph = subgraph_kind::directional;
      wanted.edge_ids = false;
      wanted.weights = true;
      for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const auto own = graph.edges[e].source == graph.edges[e].destination;
        wanted.opposites.push_back(own ? static_cast<edge_type_id>(e) : -1);
        for (auto& hop : wanted.fanouts)
          hop[e] = own ? 4 : 0;
      }
    }
    sample_job job;
    job.stream = 7 + seed;
    std::vector<node_id> seeds;
    for (auto id : random_seeds(graph, seed))
      seeds.push_back(d.graph.to_global[graph.target][id]);
    job.seeds = std::make_shared<const batch_seeds>(target_seeds(info, seeds));
    job.scheme = std::make_shared<const sampling_scheme>(std::move(wanted));
    const auto made = [&](const sampler_actor& sampler) {
      const auto asked = d.start<sample_answer>(sampler, job);
      d.settle();
      return to_plain(*daemons::answer_of(asked).graph, d.graph);
    };
    const auto here = made(d.sampler(d.local_sampling));
    CATCH_CHECK(made(d.sampler_over_wire()) == here);
    CATCH_CHECK(d.remote->read().failures == 0);
    nodes += here.nodes[graph.target].size() - seeds.size();
  }
  CATCH_CHECK(nodes > 100);
}

CATCH_TEST_CASE("batches with one key ask for edges among their own nodes",
                "[actors][remote][subgraphs]") {
  const auto graph = random_graph(4);
  daemons d{cut(graph, 3, random_assignment(graph, 3, 4))};
  auto wanted = scheme_of(graph, {2, 2});
  wanted.subgraph = subgraph_kind::induced;
  const auto scheme =
    std::make_shared<const sampling_scheme>(std::move(wanted));
  const auto jobs = [&](const sampler_actor& sampler) {
    std::vector<std::shared_ptr<outcome<sample_answer>>> asked;
    for (node_id id = 0; id < 6; ++id) {
      sample_job job;
      job.stream = 7;
      job.seeds = std::make_shared<const batch_seeds>(target_seeds(
        d.graph.graph->info(),
        std::array{
          d.graph.to_global[graph.target][static_cast<std::size_t>(id)]}));
      job.scheme = scheme;
      asked.push_back(d.start<sample_answer>(sampler, job));
    }
    d.settle();
    std::vector<plain_batch> out;
    for (const auto& one : asked)
      out.push_back(to_plain(*daemons::answer_of(one).graph, d.graph));
    return out;
  };
  CATCH_CHECK(jobs(d.sampler(d.local_sampling)) == jobs(d.sampler_over_wire()));
}

CATCH_TEST_CASE("features may be rounded on the wire", "[actors][remote]") {
  const auto graph = with_values(random_graph(3), 3);
  daemons d{cut(graph, 2, random_assignment(graph, 2, 3))};
  const stages local{d.sampler(d.local_sampling), d.fetcher(d.local_features)};
  auto here = batches(d, local, graph, false);
  remote_feature_config rounded;
  rounded.half = true;
  const auto there =
    batches(d, {d.sampler(d.local_sampling), d.fetcher_over_wire(rounded)},
            graph, false);
  CATCH_REQUIRE(here.size() == there.size());
  std::size_t differ = 0;
  for (std::size_t b = 0; b < here.size(); ++b)
    for (std::size_t t = 0; t < here[b].features.size(); ++t)
      for (std::size_t i = 0; i < here[b].features[t].size(); ++i) {
        const auto exact = here[b].features[t][i];
        const auto got = there[b].features[t][i];
        CATCH_CHECK((got == exact || got == from_half(to_half(exact))));
        differ += got != exact;
      }
  CATCH_CHECK(differ != 0);
  const auto report = d.remote->read();
  CATCH_CHECK(report.rows_in == report.rows * 5 * 2);
}

CATCH_TEST_CASE("one request per hop and owner", "[actors][remote]") {
  auto graph = cycle(60);
  graph.edges.push_back(graph.edges.front());
  graph.edges.push_back(graph.edges.front());
  daemons d{cut(graph, 2, random_assignment(graph, 2, 5))};
  const auto sampler = d.sampler_over_wire();
  sample_job job;
  std::vector<node_id> seeds;
  for (node_id id = 0; id < graph.nodes[graph.target].count; ++id)
    seeds.push_back(id);
  job.seeds = std::make_shared<const batch_seeds>(
    target_seeds(d.graph.graph->info(), seeds));
  job.scheme =
    std::make_shared<const sampling_scheme>(scheme_of(graph, {2, 2}));
  const auto first = d.start<sample_answer>(sampler, job);
  const auto second = d.start<sample_answer>(sampler, job);
  d.settle();
  CATCH_CHECK(to_plain(*daemons::answer_of(first).graph, d.graph)
              == to_plain(*daemons::answer_of(second).graph, d.graph));
  // Both batches ask the same: in one message, or merged.
  CATCH_CHECK(d.net.requests[method::sample] <= 2);
  for (const auto& [method_id, data] : d.net.sent)
    CATCH_CHECK(value_of(decode_sample_request(data)).queries.size() % 3 == 0);
}

CATCH_TEST_CASE("rows in the cache are not asked for", "[actors][remote]") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_values(random_graph(seed), seed);
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
    auto scores = no_scores(d.graph.graph->info());
    for (const auto& part : d.graph.shards)
      add_degrees(*part, scores);
    const auto budget = std::uint64_t{20} * (seed * 2);
    const auto cache = std::make_shared<row_cache>();
    value_of(
      cache->hold(d.graph.graph->info(),
                  choose_hot_nodes(*d.graph.graph, std::array{part_id{0}},
                                   scores, budget, seed % 2 == 0)));
    remote_feature_config config;
    config.half = seed % 2 == 0;
    const stages without{d.sampler(d.local_sampling),
                         d.fetcher_over_wire(config)};
    config.cache = cache;
    const stages with{d.sampler(d.local_sampling), d.fetcher_over_wire(config)};
    const auto plain_way = batches(d, without, graph, false);
    const auto asked = d.remote->read();
    // Not open yet: not used.
    CATCH_CHECK(batches(d, with, graph, false) == plain_way);
    CATCH_CHECK(d.remote->read().cached_rows == 0);
    for (part_id p = 1; p < 3; ++p) {
      remote_feature_config filling;
      filling.half = config.half;
      filling.to = d.part(p, d.servers[p]);
      filling.to.counters = std::make_shared<remote_counters>();
      const auto proxy = d.feature_proxy(filling);
      for (const auto& [job, put] : fill_jobs(cache, *d.graph.graph, p, 50)) {
        const auto filled = d.start<gather_answer>(proxy, job);
        d.settle();
        daemons::answer_of(filled);
        put();
      }
    }
    cache->open();
    const auto before = d.remote->read();
    CATCH_CHECK(batches(d, with, graph, false) == plain_way);
    const auto after = d.remote->read();
    const auto rows = after.rows - before.rows;
    CATCH_CHECK(rows + after.cached_rows == asked.rows);
    CATCH_CHECK(after.cached_bytes
                == after.cached_rows * (config.half ? 10 : 20));
    if (budget == 0)
      CATCH_CHECK(after.cached_rows == 0);
    if (cache->ids(0).size() > 5 && asked.rows > 20)
      CATCH_CHECK(after.cached_rows != 0);
  }
}

CATCH_TEST_CASE("batches are the same when an owner of their parts dies",
                "[actors][remote]") {
  auto deaths = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = with_values(random_graph(seed), seed);
    daemons d{cut(graph, 3, random_assignment(graph, 3, seed)), seed};
    const auto edge_ids = seed % 2 == 0;
    const auto here =
      batches(d, {d.sampler(d.local_sampling), d.fetcher(d.local_features)},
              graph, edge_ids);
    // Daemons 1 and 2 serve parts 1 and 2, both of them.
    for (const std::size_t server : {1, 2}) {
      const auto part = 3 - server;
      post(d.servers[server],
           serve_part{"run", d.graph.shards[part], d.local_sampling[part],
                      d.local_features[part], d.pool});
    }
    d.sim.run();
    const auto left = std::make_shared<int>(static_cast<int>(seed % 7));
    const auto first = dying(d.net.to(d.servers[1]), left);
    const auto second = d.net.to(d.servers[2]);
    const auto owners =
      failover::over({{"d1", first, first}, {"d2", second, second}}, {});
    auto sampling = d.local_sampling;
    auto features = d.local_features;
    for (const std::size_t p : {1, 2}) {
      remote_feature_config config;
      config.to = d.part(p, std::nullopt);
      config.to.call = owners->among({p - 1, 2 - p});
      config.reply_bytes = 64;
      config.window = 2;
      sampling[p] = d.sampling_proxy({config.to});
      features[p] = d.feature_proxy(config);
    }
    const auto there =
      batches(d, {d.sampler(sampling), d.fetcher(features)}, graph, edge_ids);
    CATCH_CHECK(here == there);
    CATCH_CHECK(d.remote->read().failures == 0);
    deaths += *left < 0 ? 1 : 0;
  }
  CATCH_CHECK(deaths > 5);
}
