#include "messages/base/random.hpp"
#include "partition/sampling/id_table.hpp"
#include "partition/sampling/reply_merge.hpp"
#include "partition/sampling/slices.hpp"
#include "tests/partition/sampling/support.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using ids = std::vector<node_id>;

neighbour_reply answer(const cut_graph& graph,
                       const batch_sampler::part_request& asked) {
  neighbour_reply reply;
  value_of(sample_neighbours(*graph.shards[asked.part], asked.request, reply));
  return reply;
}

cut_graph some_parts() {
  const auto graph = random_graph(11);
  return cut(graph, 3, random_assignment(graph, 3, 5));
}

} // namespace

CATCH_TEST_CASE("answers may come in any order and twice",
                "[partition][sampling]") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CATCH_INFO("seed " << seed);
    const auto graph = random_graph(seed);
    const auto cut_up = cut(graph, 4, random_assignment(graph, 4, seed));
    const auto scheme = scheme_of(graph, {3, 2, 2});
    const auto original = random_seeds(graph, seed);
    ids seeds;
    for (auto id : original)
      seeds.push_back(cut_up.to_global[graph.target][id]);
    random_stream draws{seed, 3};
    batch_sampler sampler{*cut_up.graph, scheme, 7, nullptr};
    value_of(sampler.start(target_seeds(cut_up.graph->info(), seeds)));
    while (!sampler.done()) {
      std::vector<batch_sampler::part_request> order{sampler.requests().begin(),
                                                     sampler.requests().end()};
      for (auto i = order.size(); i > 1; --i)
        std::swap(order[i - 1],
                  order[draws.below(static_cast<std::uint32_t>(i))]);
      for (const auto& asked : order) {
        value_of(sampler.accept(asked.slot, answer(cut_up, asked)));
        // A second answer is ignored, even a broken one.
        value_of(sampler.accept(asked.slot, neighbour_reply{}));
      }
      value_of(sampler.finish_hop());
    }
    CATCH_CHECK(to_plain(sampler.take(), cut_up)
                == sample_plain(whole(graph), scheme, 7, original));
  }
}

CATCH_TEST_CASE("bad answers are refused, a good one helps",
                "[partition][sampling]") {
  const auto graph = whole(cycle(6));
  batch_sampler sampler{*graph.graph, scheme_of(cycle(6), {2}), 7, nullptr};
  value_of(sampler.start(target_seeds(graph.graph->info(), ids{2, 3})));
  const auto asked = sampler.requests()[0];
  const auto refused = [&](auto spoil) {
    auto reply = answer(graph, asked);
    spoil(reply);
    return error_of(sampler.accept(asked.slot, std::move(reply))).code;
  };
  const auto set_source = [](std::int32_t id) {
    return [id](neighbour_reply& reply) {
      std::memcpy(reply.sources.data(), &id, sizeof id);
    };
  };
  CATCH_CHECK(refused([](auto& reply) { reply.counts.resize(1); })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.counts[0] = -1; })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.counts[0] = 3; })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.counts[0] = 1; })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.sources.resize(15); })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.wide = true; })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.edge_ids.resize(3); })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.edge_ids[1] = 12; })
              == ec::invalid_data);
  CATCH_CHECK(refused([](auto& reply) { reply.edge_ids[1] = -1; })
              == ec::invalid_data);
  CATCH_CHECK(refused(set_source(6)) == ec::invalid_data);
  CATCH_CHECK(refused(set_source(-1)) == ec::invalid_data);
  CATCH_CHECK(error_of(sampler.accept(1, {})).code == ec::invalid_argument);
  CATCH_CHECK(error_of(sampler.finish_hop()).code == ec::internal);
  value_of(sampler.accept(asked.slot, answer(graph, asked)));
  value_of(sampler.finish_hop());
  CATCH_CHECK(sampler.done());
  CATCH_CHECK(error_of(sampler.finish_hop()).code == ec::internal);
  CATCH_CHECK(sampler.take().nodes[0].ids.size() == 4);
}

CATCH_TEST_CASE("answers are joined, and what is kept of them is in order",
                "[partition][sampling][subgraphs]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{stream_key(seed, purpose::split, 0, 0), 31};
    const auto wide = draws.below(2) == 1;
    const std::array has{draws.below(2), draws.below(2), draws.below(2),
                         draws.below(2)};
    ids all;
    for (node_id id = 0; id < 20; ++id)
      if (draws.below(3) == 0)
        all.push_back(id);
    pod_vector<node_id> known;
    id_table numbers{20, nullptr};
    std::vector<local_id> locals(all.size());
    numbers.number(std::span<const node_id>{all}, locals.data(), known);
    std::vector<neighbour_reply> pieces(1 + draws.below(4));
    std::vector<std::int32_t> counts;
    std::vector<node_id> sources;
    std::vector<edge_id> edges;
    edge_id edge = 0;
    for (auto& piece : pieces) {
      piece.wide = wide;
      for (auto lists = draws.below(4); lists > 0; --lists) {
        const auto degree = static_cast<std::int32_t>(draws.below(6));
        piece.counts.push_back(degree);
        counts.push_back(0);
        for (std::int32_t i = 0; i < degree; ++i, ++edge) {
          const node_id id = draws.below(24) - std::int64_t{2};
          const auto bytes = wide ? 8U : 4U;
          piece.sources.append(
            {reinterpret_cast<const std::byte*>(&id), bytes});
          if (has[0] != 0)
            piece.edge_ids.push_back(edge);
          if (has[1] != 0)
            piece.weights.push_back(static_cast<float>(edge));
          if (has[2] != 0)
            piece.places.push_back(edge);
          if (has[3] != 0)
            piece.ages.push_back(static_cast<float>(edge));
          const auto no_node = id < 0 || id >= 20;
          if (!no_node && std::find(all.begin(), all.end(), id) == all.end())
            continue;
          ++counts.back();
          sources.push_back(id);
          edges.push_back(edge);
        }
      }
    }
    auto whole = join(std::move(pieces));
    whole.keep_among({0, &known, &numbers}, 20);
    CATCH_REQUIRE(list(whole.counts) == counts);
    CATCH_REQUIRE(whole.sources.size() == sources.size() * (wide ? 8 : 4));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto* at = whole.sources.data() + i * (wide ? 8 : 4);
      CATCH_CHECK((wide ? *reinterpret_cast<const std::int64_t*>(at)
                        : *reinterpret_cast<const std::int32_t*>(at))
                  == sources[i]);
    }
    const std::vector<float> values(edges.begin(), edges.end());
    using floats = std::vector<float>;
    CATCH_CHECK(list(whole.edge_ids) == (has[0] != 0 ? edges : ids{}));
    CATCH_CHECK(list(whole.weights) == (has[1] != 0 ? values : floats{}));
    CATCH_CHECK(list(whole.places) == (has[2] != 0 ? edges : ids{}));
    CATCH_CHECK(list(whole.ages) == (has[3] != 0 ? values : floats{}));
  }
}

CATCH_TEST_CASE("weights are finite and none below 0, or they are refused",
                "[partition][sampling][weights]") {
  const auto none = std::numeric_limits<float>::quiet_NaN();
  const auto endless = std::numeric_limits<float>::infinity();
  CATCH_CHECK(are_weights({}));
  for (const auto good : {0.0f, -0.0f, 1e-45f, 1.0f, 3e38f})
    CATCH_CHECK(are_weights(std::vector{1.0f, good, 2.0f}));
  for (const auto bad : {none, -none, endless, -endless, -1.0f, -1e-45f})
    CATCH_CHECK_FALSE(are_weights(std::vector{1.0f, bad, 2.0f}));
  auto weighted = cycle(6);
  weighted.edges[0].weights.assign(6, {0.5f, 2});
  const auto graph = whole(weighted);
  auto scheme = scheme_of(weighted, {2});
  scheme.weights = true;
  batch_sampler sampler{*graph.graph, scheme, 7, nullptr};
  value_of(sampler.start(target_seeds(graph.graph->info(), ids{2, 3})));
  const auto asked = sampler.requests()[0];
  CATCH_REQUIRE(asked.request.weights);
  const auto refused = [&](auto spoil) {
    auto reply = answer(graph, asked);
    spoil(reply.weights);
    return error_of(sampler.accept(asked.slot, std::move(reply))).code
           == ec::invalid_data;
  };
  CATCH_CHECK(refused([](auto& weights) { weights.resize(3); }));
  CATCH_CHECK(refused([](auto& weights) { weights.resize(0); }));
  CATCH_CHECK(refused([](auto& weights) { weights.push_back(1); }));
  CATCH_CHECK(refused([](auto& weights) { weights[2] = -1; }));
  CATCH_CHECK(refused([none](auto& weights) { weights[3] = none; }));
  value_of(sampler.accept(asked.slot, answer(graph, asked)));
  value_of(sampler.finish_hop());
  const auto batch = sampler.take();
  CATCH_CHECK(list(batch.edges[0].weights)
              == std::vector<float>{0.5f, 2, 0.5f, 2});
  CATCH_CHECK(batch.byte_size() == 4 * 8 + 3 * 8 + 4 * (4 + 8 + 4));
}

CATCH_TEST_CASE("weights of edges that have none are refused",
                "[partition][sampling][weights]") {
  const auto graph = whole(cycle(6));
  const ids wanted{2};
  neighbour_reply reply;
  const auto refusal = error_of(sample_neighbours(
    *graph.shards[0], {7, 1, 0, {2}, false, wanted, true}, reply));
  CATCH_CHECK(refusal.code == ec::invalid_argument);
  CATCH_CHECK_THAT(refusal.message, contains("which have none"));
}

CATCH_TEST_CASE("impossible requests are refused", "[partition][sampling]") {
  const auto graph = some_parts();
  const auto& part = *graph.shards[1];
  const auto type = part.info().edge_types[0].destination;
  neighbour_reply reply;
  const auto code = [&](neighbour_request request) {
    return error_of(sample_neighbours(part, request, reply)).code;
  };
  const ids below{part.nodes(type).begin - 1};
  const ids beyond{part.nodes(type).end};
  CATCH_CHECK(code({7, 1, 0, {2}, false, below}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 1, 0, {2}, false, beyond}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 1, -1, {2}}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 1, 100, {2}}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 1, 0, {-2}}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 0, 0, {2}}) == ec::invalid_argument);
  CATCH_CHECK(code({7, 256, 0, {2}}) == ec::invalid_argument);
}

CATCH_TEST_CASE("a damaged original_begin is an error",
                "[partition][sampling]") {
  // The list of node 5 is edges 10 and 11 of 12.
  for (const auto first :
       std::vector<edge_id>{INT64_MIN, -1, 11, 12, INT64_MAX}) {
    CATCH_INFO(first);
    const auto graph = cut(cycle(6), 1, {{0, 0, 0, 0, 0, 0}});
    const auto& part = *graph.shards[0];
    damage(part.edges(0).original_begin, 5, first);
    const ids last{5};
    neighbour_request request{7, 1, 0, {2}, true, last};
    neighbour_reply reply;
    const auto refused = error_of(sample_neighbours(part, request, reply));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message.find("original_begin.npy")
                != std::string::npos);
    CATCH_CHECK(error_of(sample_slice(part, request, {2, 0}, reply)).code
                == ec::invalid_data);
    request.edge_ids = false;
    value_of(sample_neighbours(part, request, reply));
  }
}

CATCH_TEST_CASE("impossible batches are refused", "[partition][sampling]") {
  const auto graph = whole(cycle(6));
  const auto code = [&graph](const sampling_scheme& scheme, ids seeds) {
    return error_of(sample(*graph.graph, graph.shards, scheme, 7, seeds)).code;
  };
  const auto scheme = scheme_of(cycle(6), {2, 2});
  CATCH_CHECK(code(scheme, {1, 2, 1}) == ec::invalid_argument);
  CATCH_CHECK(code(scheme, {6}) == ec::invalid_argument);
  CATCH_CHECK(code(scheme, {-1}) == ec::invalid_argument);
  CATCH_CHECK(code({{{2, 2}}}, {1}) == ec::invalid_argument);
  CATCH_CHECK(code(scheme_of(cycle(6), std::vector<std::int32_t>(256, 1)), {1})
              == ec::invalid_argument);
}

CATCH_TEST_CASE("batches with little in them", "[partition][sampling]") {
  const auto cut_up = cut(cycle(6), 2, {{0, 1, 0, 1, 0, 1}});
  const auto none = sample_plain(cut_up, scheme_of(cycle(6), {2, 2}), 7, ids{});
  CATCH_CHECK(none.nodes[0].empty());
  CATCH_CHECK(none.found[0] == std::vector<std::int64_t>{0, 0, 0});
  CATCH_CHECK(none.edge_types[0].indptr == std::vector<std::int64_t>{0});
  const auto still =
    sample_plain(cut_up, scheme_of(cycle(6), {0, 0}), 7, ids{4});
  CATCH_CHECK(still.nodes[0] == ids{4});
  CATCH_CHECK(still.edge_types[0].indptr == std::vector<std::int64_t>{0, 0});
  const auto no_hop = sample_plain(cut_up, {}, 7, ids{4, 1});
  CATCH_CHECK(no_hop.nodes[0] == ids{4, 1});
  CATCH_CHECK(no_hop.found[0] == std::vector<std::int64_t>{2});
}

CATCH_TEST_CASE("a table numbers in discovery order", "[partition][sampling]") {
  for (std::int64_t universe : {10, 3000, 100000, 1 << 30})
    for (std::uint32_t span : {5u, 3000u, 90000u}) {
      CATCH_INFO("universe " << universe << " span " << span);
      if (span > universe)
        continue;
      random_stream draws{static_cast<std::uint64_t>(universe), span};
      id_table table{universe, nullptr};
      pod_vector<node_id> found;
      std::unordered_map<node_id, local_id> expected;
      for (int round = 0; round < 4; ++round) {
        std::vector<std::int32_t> some(20000);
        for (auto& id : some)
          id = static_cast<std::int32_t>(universe - 1 - draws.below(span));
        std::vector<local_id> locals(some.size());
        if (round % 2 == 0) {
          table.number(std::span<const std::int32_t>{some}, locals.data(),
                       found);
        } else {
          const ids wide{some.begin(), some.end()};
          table.number(std::span<const node_id>{wide}, locals.data(), found);
        }
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto next = static_cast<local_id>(expected.size());
          const auto [at, fresh] = expected.try_emplace(some[i], next);
          CATCH_REQUIRE(locals[i] == at->second);
        }
        CATCH_REQUIRE(found.size() == expected.size());
      }
      for (std::size_t i = 0; i < found.size(); ++i)
        CATCH_REQUIRE(expected.at(found[i]) == static_cast<local_id>(i));
    }
}
