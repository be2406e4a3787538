#include "actors/remote/calls/batch_call.hpp"
#include "messages/base/random.hpp"
#include "tests/actors/remote/calls/one_type.hpp"
#include "tests/partition/sampling/support.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <functional>
#include <memory>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A sampled batch, and what the asker of it knows.
struct sampled {
  explicit sampled(std::uint64_t seed, bool wide = false)
    : graph(with_weights(random_graph(seed), seed)),
      parts(cut(graph, 2, random_assignment(graph, 2, seed), {wide, false})),
      scheme(scheme_of(graph, {3, -1, 2}, seed % 2 == 0, seed % 3 == 0)) {
    scheme.weights = seed % 6 == 0;
    for (auto id : random_seeds(graph, seed))
      targets.push_back(parts.to_global[graph.target][id]);
    seeds = target_seeds(info(), targets);
    resample(9 + seed);
  }

  void resample(std::uint64_t key) {
    batch = std::make_shared<const sampled_subgraph>(
      value_of(sample(*parts.graph, parts.shards, scheme, key, seeds)));
  }

  const dataset_info& info() const { return parts.graph->info(); }

  /// Nodes beside the seeds.
  std::size_t found() const {
    std::size_t out = 0;
    for (const auto& list : batch->nodes)
      out += list.ids.size() - static_cast<std::size_t>(list.found.front());
    return out;
  }

  result<sampled_subgraph> read(const payload& from) const {
    GRAPHMILL_TRY(const auto reply, decode_batch_reply(from));
    return read_batch(info(), scheme, seeds, reply, from, nullptr);
  }

  memory_graph graph;
  cut_graph parts;
  sampling_scheme scheme;
  std::vector<node_id> targets;
  batch_seeds seeds;
  std::shared_ptr<const sampled_subgraph> batch;
};

/// What a layer does with a batch: must never leave its arrays.
void walk(const sampled_subgraph& batch, const dataset_info& info) {
  std::int64_t sum = 0;
  for (std::size_t e = 0; e < batch.edges.size(); ++e) {
    const auto& type = info.edge_types[e];
    const auto& edges = batch.edges[e];
    for (int hop = 1; hop <= batch.hops; ++hop) {
      const auto& known = batch.nodes[type.source];
      const auto rows = batch.rows(type.destination, hop);
      for (std::int64_t r = 0; r < rows; ++r)
        for (auto i = edges.indptr[r]; i < edges.indptr[r + 1]; ++i) {
          CATCH_REQUIRE(edges.sources[i] < known.found[hop]);
          sum += known.ids[edges.sources[i]];
        }
    }
  }
  CATCH_CHECK(sum >= 0);
}

/// Of a batch with edge ids and many nodes.
std::uint64_t large_seed() {
  for (std::uint64_t seed = 0; seed < 300; seed += 3)
    if (sampled{seed}.found() > 20)
      return seed;
  return 0;
}

/// A small batch by hand: seeds 4 and 7, which found 1, 2 and 3.
struct small_batch {
  small_batch() {
    scheme.fanouts = {{2}, {2}};
    scheme.edge_ids = true;
    scheme.weights = true;
    scheme.places = true;
    info.edge_types[0].weighted = true;
    info.edge_types[0].feature_width = 3;
  }

  result<sampled_subgraph> read() const {
    bulk_writer arrays;
    batch_reply reply;
    for (int t = 0; t < node_types; ++t)
      reply.nodes.push_back({found, arrays.add_integers(ids)});
    for (int e = 0; e < edge_types; ++e)
      reply.edges.push_back(
        {arrays.add_counts(counts), arrays.add_integers(sources),
         arrays.add_integers(edge_ids),
         arrays.add(element::float32, std::as_bytes(std::span{weights})),
         arrays.add_integers(places)});
    const auto from = value_of(encode(reply, std::move(arrays)));
    GRAPHMILL_TRY(const auto back, decode_batch_reply(from));
    return read_batch(info, scheme, target_seeds(info, seeds), back, from,
                      nullptr);
  }

  dataset_info info = one_type_info(10, 50, 9);
  sampling_scheme scheme;
  std::vector<node_id> seeds{4, 7};
  int node_types = 1;
  int edge_types = 1;
  std::vector<std::int64_t> found{2, 4, 5};
  std::vector<std::int64_t> ids{1, 2, 3};
  std::vector<std::int32_t> counts{2, 0, 1, 1};
  std::vector<std::int64_t> sources{2, 3, 4, 0};
  std::vector<std::int64_t> edge_ids{0, 9, 49, 3};
  std::vector<float> weights{0, 1, 0.5f, 3e38f};
  std::vector<std::int64_t> places{49, 0, 17, 17};
};

} // namespace

CATCH_TEST_CASE("batches of all edges among nodes, and of visits, survive the "
                "wire",
                "[remote][batch][subgraphs]") {
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    CATCH_INFO("seed " << seed);
    sampled example{seed};
    auto& scheme = example.scheme;
    scheme.edge_ids = false;
    scheme.weights = seed % 2 == 0;
    scheme.least_blocks = static_cast<int>(seed % 5);
    for (const auto& type : example.info().edge_types)
      scheme.opposites.push_back(
        type.source == type.destination
          ? static_cast<edge_type_id>(&type - example.info().edge_types.data())
          : -1);
    if (seed % 3 == 0) {
      scheme.subgraph = subgraph_kind::induced;
    } else if (seed % 3 == 1) {
      scheme.subgraph = subgraph_kind::bidirectional;
    } else {
      scheme.method = sampling_method::pinsage;
      scheme.walk = {5, 2, 0};
      for (auto& hop : scheme.fanouts)
        for (std::size_t e = 0; e < hop.size(); ++e)
          if (scheme.opposites[e] < 0)
            hop[e] = 0;
    }
    example.resample(seed);
    const auto answer = value_of(batch_answer(example.info(), example.batch));
    CATCH_CHECK(to_plain(value_of(example.read(answer)), example.parts)
                == to_plain(*example.batch, example.parts));
  }
}

CATCH_TEST_CASE("a batch survives the wire", "[remote][batch]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    const sampled example{seed, seed % 5 == 0};
    const auto answer = value_of(batch_answer(example.info(), example.batch));
    const auto back = value_of(example.read(answer));
    CATCH_CHECK(to_plain(back, example.parts)
                == to_plain(*example.batch, example.parts));
    walk(back, example.info());
    std::uint64_t bytes = 0;
    const auto question = value_of(batch_question(
      "run", 5, batch_kind::evaluate, example.info(), example.seeds, bytes));
    const auto asked = value_of(decode_batch_request(question));
    CATCH_CHECK(asked.run == "run");
    CATCH_CHECK(asked.key == 5);
    CATCH_CHECK(asked.kind == batch_kind::evaluate);
    CATCH_CHECK(asked.seeds.count == example.targets.size());
    CATCH_CHECK(asked.seeds_by_type.empty()); // Older versions know it, too.
    CATCH_CHECK(bytes == 4 * example.targets.size());
    CATCH_CHECK(
      value_of(read_batch_seeds(example.info(), asked, question, 1000))
      == example.seeds);
  }
}

CATCH_TEST_CASE("a batch around nodes of several types survives the wire",
                "[remote][batch]") {
  std::size_t others = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    sampled example{seed, seed % 5 == 0};
    example.seeds = random_typed_seeds(example.graph, example.parts, seed);
    const auto thinned = thin_out(example.graph, seed);
    example.seeds.excluded = thinned.excluded(example.graph, example.parts);
    others += example.seeds.count();
    example.batch = std::make_shared<const sampled_subgraph>(
      value_of(sample(*example.parts.graph, example.parts.shards,
                      example.scheme, seed, example.seeds)));
    std::uint64_t bytes = 0;
    const auto question = value_of(batch_question(
      "run", 5, batch_kind::train, example.info(), example.seeds, bytes));
    // In four bytes each; how many are excluded of a destination, in one.
    auto expected = 4 * example.seeds.count() + 4 * thinned.count();
    for (const auto& edges : example.seeds.excluded)
      expected += 5 * edges.destinations.size();
    CATCH_CHECK(bytes == expected);
    const auto asked = value_of(decode_batch_request(question));
    const auto seeds = read_batch_seeds(example.info(), asked, question, 1000);
    CATCH_CHECK(value_of(seeds) == example.seeds);
    const auto answer = value_of(batch_answer(example.info(), example.batch));
    CATCH_CHECK(to_plain(value_of(example.read(answer)), example.parts)
                == to_plain(*example.batch, example.parts));
  }
  CATCH_CHECK(others > 500);
}

CATCH_TEST_CASE("a batch of trees survives the wire, and only as it is",
                "[remote][batch][times]") {
  std::size_t nodes = 0;
  std::size_t aged = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CATCH_INFO("seed " << seed);
    sampled example{seed, seed % 5 == 0};
    example.graph = with_times(example.graph, seed, true);
    example.parts =
      cut(example.graph, 2, random_assignment(example.graph, 2, seed));
    example.scheme.time = {true};
    example.scheme.time.disjoint = true;
    example.scheme.ages = seed % 2 == 0;
    // Two rows around the same nodes.
    example.seeds = random_typed_seeds(example.graph, example.parts, seed);
    example.seeds.until = {12, 7};
    example.seeds.row_numbers = {41, 3};
    for (auto& ids : example.seeds.nodes) {
      auto& trees = example.seeds.trees.emplace_back(ids.size(), 0);
      const auto first = ids;
      ids.insert(ids.end(), first.begin(), first.end());
      trees.resize(ids.size(), 1);
    }
    example.batch = std::make_shared<const sampled_subgraph>(
      value_of(sample(*example.parts.graph, example.parts.shards,
                      example.scheme, seed, example.seeds)));
    nodes += example.found();
    std::uint64_t bytes = 0;
    const auto question = value_of(batch_question(
      "run", 5, batch_kind::train, example.info(), example.seeds, bytes));
    const auto asked = value_of(decode_batch_request(question));
    const auto seeds = read_batch_seeds(example.info(), asked, question, 1000);
    if (example.seeds.count() != 0)
      CATCH_CHECK(value_of(seeds) == example.seeds);
    const auto answer = value_of(batch_answer(example.info(), example.batch));
    CATCH_CHECK(to_plain(value_of(example.read(answer)), example.parts)
                == to_plain(*example.batch, example.parts));
    // An age that is none, as of a seed that comes before the edge, is refused.
    for (auto& edges : example.batch->edges)
      if (!edges.ages.empty()) {
        auto spoilt = std::make_shared<sampled_subgraph>(
          value_of(sample(*example.parts.graph, example.parts.shards,
                          example.scheme, seed, example.seeds)));
        spoilt
          ->edges[static_cast<std::size_t>(&edges
                                           - example.batch->edges.data())]
          .ages[0] = -1;
        CATCH_CHECK_FALSE(
          example.read(value_of(batch_answer(example.info(), spoilt))));
        ++aged;
      }
    // A node of another tree, or an edge between trees, is refused.
    for (std::size_t t = 0; t < example.batch->nodes.size(); ++t) {
      const auto& list = example.batch->nodes[t];
      const auto at = static_cast<std::size_t>(list.found.front());
      if (at == list.ids.size())
        continue;
      auto spoilt = std::make_shared<sampled_subgraph>(
        value_of(sample(*example.parts.graph, example.parts.shards,
                        example.scheme, seed, example.seeds)));
      spoilt->nodes[t].trees[at] ^= 1;
      CATCH_CHECK_FALSE(
        example.read(value_of(batch_answer(example.info(), spoilt))));
    }
  }
  CATCH_CHECK(nodes > 500);
  CATCH_CHECK(aged > 20);
}

CATCH_TEST_CASE("seeds that a batch cannot have are refused",
                "[remote][batch]") {
  const auto info = one_type_info(10, 50, 9);
  const auto refused = [&info](std::vector<std::vector<node_id>> by_type,
                               std::vector<node_id> target,
                               std::uint64_t most) {
    bulk_writer arrays;
    batch_request out{"run", 1, batch_kind::train, arrays.add_integers(target)};
    for (const auto& ids : by_type)
      out.seeds_by_type.push_back(arrays.add_integers(ids));
    const auto from = value_of(encode(out, std::move(arrays)));
    const auto asked = decode_batch_request(from);
    if (!asked)
      return asked.error().message;
    const auto got = read_batch_seeds(info, asked.value(), from, most);
    return got ? std::string{} : got.error().message;
  };
  CATCH_CHECK(refused({}, {4, 7}, 2).empty());
  CATCH_CHECK(refused({{4, 7}}, {}, 2).empty());
  CATCH_CHECK(refused({}, {4, 7}, 1)
              == "the request is for a batch of 2 seeds; the definition allows "
                 "1");
  CATCH_CHECK(refused({{4, 7}}, {}, 1)
              == "the request is for a batch of 2 seeds; the definition allows "
                 "1");
  CATCH_CHECK(refused({{4}, {7}}, {}, 2)
              == "the request has seeds of 2 node types; the dataset has 1");
  CATCH_CHECK(refused({{4}}, {7}, 2).find("besides") != std::string::npos);
}

CATCH_TEST_CASE("a batch is sent in few bytes", "[remote][batch]") {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed < 30; seed += 3) {
    CATCH_INFO("seed " << seed);
    const sampled example{seed};
    CATCH_REQUIRE(!example.scheme.edge_ids);
    const auto answer = value_of(batch_answer(example.info(), example.batch));
    std::size_t rows = 0, edges = 0, bytes = 0;
    for (const auto& list : example.batch->edges) {
      rows += list.indptr.size() - 1;
      edges += list.sources.size();
    }
    for (const auto& part : answer.bulk)
      bytes += part.size();
    // New ids and local ids in 4 bytes, counts in one, each array aligned.
    const auto arrays =
      example.batch->nodes.size() + 2 * example.batch->edges.size();
    CATCH_CHECK(bytes <= 4 * example.found() + rows + 4 * edges + 8 * arrays);
    found += example.found();
  }
  CATCH_CHECK(found > 50);
}

CATCH_TEST_CASE("a batch larger than a message is not sent",
                "[remote][batch]") {
  const sampled example{1};
  auto large = std::make_shared<sampled_subgraph>();
  large->hops = example.batch->hops;
  for (const auto& type : example.info().node_types)
    large->nodes.push_back({{}, std::vector<std::int64_t>(4, type.count * 0)});
  large->edges.resize(example.info().edge_types.size());
  for (auto& edges : large->edges)
    edges.indptr.push_back(0);
  large->edges[0].sources.resize(max_bulk_bytes / 4 + 1);
  const auto answer = value_of(batch_answer(example.info(), large));
  CATCH_CHECK(value_of(decode_batch_reply(answer)).too_large);
  CATCH_CHECK(answer.bulk.empty());
  CATCH_CHECK(!example.read(answer));
}

CATCH_TEST_CASE("content that does not fit together is refused",
                "[remote][batch]") {
  const auto sound = value_of(small_batch{}.read());
  CATCH_CHECK(
    std::ranges::equal(sound.edges[0].places.span(), small_batch{}.places));
  struct row {
    const char* damage;
    std::function<void(small_batch&)> spoil;
  };
  for (const auto& [damage, spoil] : std::vector<row>{
         {"hops are missing",
          [](auto& b) {
            b.found = {2, 5};
          }},
         {"too many hops",
          [](auto& b) {
            b.found = {2, 4, 5, 5};
          }},
         {"no hops", [](auto& b) { b.found = {}; }},
         {"found falls",
          [](auto& b) {
            b.found = {2, 6, 5};
          }},
         {"found is negative",
          [](auto& b) {
            b.found = {-2, 4, 5};
          }},
         {"other seeds",
          [](auto& b) {
            b.found = {1, 4, 5};
          }},
         {"more ids than found", [](auto& b) { b.ids.push_back(5); }},
         {"fewer ids than found", [](auto& b) { b.ids.pop_back(); }},
         {"more nodes than there are",
          [](auto& b) {
            b.ids.assign(9, 1);
            b.found = {2, 4, 11};
          }},
         {"found is huge",
          [](auto& b) {
            b.found = {2, 4, std::int64_t{1} << 62};
          }},
         {"no such node", [](auto& b) { b.ids[0] = 10; }},
         {"a node twice", [](auto& b) { b.ids[2] = 1; }},
         {"a seed found again", [](auto& b) { b.ids[1] = 7; }},
         {"a negative node", [](auto& b) { b.ids[2] = -1; }},
         {"a row is missing",
          [](auto& b) {
            b.counts = {2, 0, 2};
          }},
         {"a row too many",
          [](auto& b) {
            b.counts = {2, 0, 1, 1, 0};
          }},
         {"more sources than came", [](auto& b) { b.counts[1] = 1; }},
         {"fewer sources than came", [](auto& b) { b.counts[0] = 1; }},
         {"no such local id", [](auto& b) { b.sources[2] = 5; }},
         {"a local id of the next hop", [](auto& b) { b.sources[0] = 4; }},
         {"a negative local id", [](auto& b) { b.sources[3] = -1; }},
         {"a large local id",
          [](auto& b) { b.sources[3] = std::int64_t{1} << 32; }},
         {"too few edge ids", [](auto& b) { b.edge_ids.pop_back(); }},
         {"edge ids unasked", [](auto& b) { b.scheme.edge_ids = false; }},
         {"too few weights", [](auto& b) { b.weights.pop_back(); }},
         {"no weights", [](auto& b) { b.weights.clear(); }},
         {"too many weights", [](auto& b) { b.weights.push_back(1); }},
         {"weights unasked", [](auto& b) { b.scheme.weights = false; }},
         {"weights of edges that have none",
          [](auto& b) { b.info.edge_types[0].weighted = false; }},
         {"a weight below 0", [](auto& b) { b.weights[1] = -1; }},
         {"a weight that is no number",
          [](auto& b) { b.weights[3] = std::nanf(""); }},
         {"too few places", [](auto& b) { b.places.pop_back(); }},
         {"no places", [](auto& b) { b.places.clear(); }},
         {"too many places", [](auto& b) { b.places.push_back(1); }},
         {"places unasked", [](auto& b) { b.scheme.places = false; }},
         {"places of edges that have no features",
          [](auto& b) { b.info.edge_types[0].feature_width = 0; }},
         {"a place below 0", [](auto& b) { b.places[0] = -1; }},
         {"a place beyond all edges", [](auto& b) { b.places[2] = 50; }},
         {"too many node types", [](auto& b) { b.node_types = 2; }},
         {"no edge types", [](auto& b) { b.edge_types = 0; }}}) {
    CATCH_INFO(damage);
    small_batch spoilt;
    spoil(spoilt);
    CATCH_CHECK(error_of(spoilt.read()).code == ec::invalid_data);
  }
}

CATCH_TEST_CASE("cut and random batches are refused or make sense",
                "[remote][batch]") {
  const sampled example{large_seed()};
  CATCH_REQUIRE(example.found() > 20);
  CATCH_REQUIRE(example.scheme.edge_ids);
  const auto good = value_of(batch_answer(example.info(), example.batch));
  const auto look = [&example](const payload& from) {
    if (auto got = example.read(from))
      walk(got.value(), example.info());
    else
      CATCH_CHECK(!got.error().message.empty());
  };
  CATCH_REQUIRE(!good.bulk.empty());
  for (std::size_t size = 0; size < good.body.size(); ++size)
    look({frame::copy(good.body.bytes().first(size)), good.bulk});
  for (std::size_t size = 0; size < good.bulk[0].size(); ++size)
    look({good.body, {frame::copy(good.bulk[0].bytes().first(size))}});
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 4};
    auto spoilt = good;
    auto& part = seed % 2 == 0 ? spoilt.body : spoilt.bulk[0];
    std::vector<std::byte> bytes{part.bytes().begin(), part.bytes().end()};
    for (std::uint32_t i = 0; i < 1 + draws.below(5); ++i)
      bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] =
        static_cast<std::byte>(draws.below(256));
    part = frame::copy(bytes);
    look(spoilt);
  }
}
