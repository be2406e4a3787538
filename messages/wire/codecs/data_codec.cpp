#include "messages/wire/codecs/bulk_codec.hpp"
#include "messages/wire/codecs/draw_codec.hpp"
#include "messages/wire/codecs/enum_codec.hpp"
#include "messages/wire/codecs/phase_codec.hpp"

namespace graphmill {

using namespace wire;

namespace {

// The plain enumerations are the wire's, so that casts are enough.
static_assert(static_cast<int>(element::float32)
              == static_cast<int>(schema::Element::FLOAT32));
static_assert(static_cast<int>(gather_kind::edge_features)
              == static_cast<int>(schema::GatherKind::EDGE_FEATURES));
static_assert(static_cast<int>(batch_kind::evaluate)
              == static_cast<int>(schema::BatchKind::EVALUATE));
// An element is cast before it is checked (`bulk_check`).
static_assert(sizeof(element) == sizeof(schema::Element));

/// Lists of neighbours, as answers to `sample` and batches have them. An array
/// that is not there takes no bytes in a message of either.
template <class Lists>
void write_lists(const neighbour_arrays& from, Lists to) {
  write(from.counts, to.initCounts());
  write(from.sources, to.initSources());
  write(from.edge_ids, to.initEdgeIds());
  if (from.weights.count != 0)
    write(from.weights, to.initWeights());
  if (from.places.count != 0)
    write(from.places, to.initPlaces());
  if (from.ages.count != 0)
    write(from.ages, to.initAges());
}

template <class Lists>
result<neighbour_arrays> read_lists(array_reader& arrays, Lists from) {
  neighbour_arrays out;
  GRAPHMILL_TRY(out.counts, arrays.read(from.getCounts(), content::counts));
  GRAPHMILL_TRY(out.sources, arrays.read(from.getSources(), content::ids));
  GRAPHMILL_TRY(out.edge_ids, arrays.read(from.getEdgeIds(), content::ids));
  GRAPHMILL_TRY(out.weights, arrays.read(from.getWeights(), content::floats));
  GRAPHMILL_TRY(out.places, arrays.read(from.getPlaces(), content::ids));
  GRAPHMILL_TRY(out.ages, arrays.read(from.getAges(), content::floats));
  return out;
}

result<excluded_arrays> read_excluded(array_reader& arrays,
                                      schema::BulkArray::Reader at,
                                      schema::BulkArray::Reader counts,
                                      schema::BulkArray::Reader edges) {
  excluded_arrays out;
  GRAPHMILL_TRY(out.at, arrays.read(at, content::ids));
  GRAPHMILL_TRY(out.counts, arrays.read(counts, content::counts));
  GRAPHMILL_TRY(out.edges, arrays.read(edges, content::ids));
  return out;
}

/// Writes edges to exclude of all edge types, if there are some.
template <class Message>
void write_excluded(const std::vector<excluded_arrays>& from, Message to) {
  if (from.empty())
    return;
  auto types = to.initExcluded(length(from.size()));
  for (unsigned e = 0; e < types.size(); ++e) {
    write(from[e].at, types[e].initAt());
    write(from[e].counts, types[e].initCounts());
    write(from[e].edges, types[e].initEdges());
  }
}

result<std::vector<excluded_arrays>>
read_excluded(array_reader& arrays,
              capnp::List<schema::ExcludedEdges>::Reader from) {
  GRAPHMILL_TRYV(check_length(from, max_types));
  std::vector<excluded_arrays> out;
  for (auto edges : from) {
    GRAPHMILL_TRY(const auto excluded,
                  read_excluded(arrays, edges.getAt(), edges.getCounts(),
                                edges.getEdges()));
    out.push_back(excluded);
  }
  return out;
}

/// The rule of a query, which takes all where edges are those among some nodes.
result<draw_rule> read_query_rule(schema::NeighbourQuery::Reader from) {
  if (from.getMethod() != schema::DrawMethod::AMONG)
    return read_rule(from);
  if (from.getFanout() != -1 || from.getReplace())
    return fail(ec::invalid_data,
                "a sample request draws {} in-edges among some nodes, of which "
                "all are taken",
                from.getFanout());
  return draw_rule{-1};
}

} // namespace

// -- sample

result<payload> encode(const sample_request& from, bulk_writer arrays) {
  return encode_with<schema::SampleRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    to.setKey(from.key);
    to.setHop(from.hop);
    auto queries = to.initQueries(length(from.queries.size()));
    for (unsigned i = 0; i < queries.size(); ++i) {
      const auto& query = from.queries[i];
      queries[i].setEdgeType(query.edge_type);
      write_rule(query.rule, queries[i]);
      if (query.among)
        queries[i].setMethod(schema::DrawMethod::AMONG);
      queries[i].setEdgeIds(query.edge_ids);
      write(query.destinations, queries[i].initDestinations());
      queries[i].setMost(query.most);
      queries[i].setSkip(query.skip);
      queries[i].setWeights(query.weights);
      queries[i].setLevel(query.level);
      queries[i].setPlaces(query.places);
      queries[i].setAges(query.ages);
      if (query.until.count != 0)
        write(query.until, queries[i].initUntil());
      queries[i].setInclusive(query.inclusive);
      queries[i].setLatest(query.latest);
      queries[i].setWindow(query.window);
      if (query.rows.count != 0)
        write(query.rows, queries[i].initRows());
      if (query.excluded.at.count == 0)
        continue;
      write(query.excluded.at, queries[i].initExcludedAt());
      write(query.excluded.counts, queries[i].initExcludedCounts());
      write(query.excluded.edges, queries[i].initExcluded());
    }
    if (from.among.empty())
      return;
    auto among = to.initAmong(length(from.among.size()));
    for (unsigned i = 0; i < among.size(); ++i)
      write(from.among[i], among[i]);
  });
}

result<sample_request> decode_sample_request(const payload& from) {
  using root = schema::SampleRequest;
  return decode_frame<root>(
    from.body, "a sample request",
    [&from](root::Reader in) -> result<sample_request> {
      array_reader arrays{from};
      sample_request out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      out.key = in.getKey();
      out.hop = in.getHop();
      GRAPHMILL_TRYV(check_length(in.getQueries(), max_queries));
      for (auto query : in.getQueries()) {
        GRAPHMILL_TRY(auto ids,
                      arrays.read(query.getDestinations(), content::ids));
        GRAPHMILL_TRY(const auto excluded,
                      read_excluded(arrays, query.getExcludedAt(),
                                    query.getExcludedCounts(),
                                    query.getExcluded()));
        GRAPHMILL_TRY(const auto rule, read_query_rule(query));
        out.queries.push_back({query.getEdgeType(), rule, query.getEdgeIds(),
                               ids, query.getMost(), query.getSkip(),
                               query.getWeights(), excluded, query.getLevel(),
                               query.getPlaces()});
        auto& plain = out.queries.back();
        GRAPHMILL_TRY(plain.until, arrays.read(query.getUntil(), content::ids));
        GRAPHMILL_TRY(plain.rows, arrays.read(query.getRows(), content::ids));
        plain.inclusive = query.getInclusive();
        plain.latest = query.getLatest();
        plain.window = query.getWindow();
        plain.among = query.getMethod() == schema::DrawMethod::AMONG;
        plain.ages = query.getAges();
      }
      GRAPHMILL_TRYV(check_length(in.getAmong(), max_types));
      for (auto nodes : in.getAmong()) {
        GRAPHMILL_TRY(const auto ids, arrays.read(nodes, content::ids));
        out.among.push_back(ids);
      }
      return out;
    });
}

result<payload> encode(const sample_reply& from, bulk_writer arrays) {
  return encode_with<schema::SampleReply>(arrays, [&from](auto to) {
    to.setTooLarge(from.too_large);
    auto answers = to.initAnswers(length(from.answers.size()));
    for (unsigned i = 0; i < answers.size(); ++i) {
      write_lists(from.answers[i], answers[i]);
    }
  });
}

result<sample_reply> decode_sample_reply(const payload& from) {
  using root = schema::SampleReply;
  return decode_frame<root>(
    from.body, "a sample reply",
    [&from](root::Reader in) -> result<sample_reply> {
      array_reader arrays{from};
      sample_reply out;
      out.too_large = in.getTooLarge();
      GRAPHMILL_TRYV(check_length(in.getAnswers(), max_queries));
      for (auto answer : in.getAnswers()) {
        GRAPHMILL_TRY(const auto lists, read_lists(arrays, answer));
        out.answers.push_back(lists);
      }
      return out;
    });
}

// -- gather

result<payload> encode(const gather_request& from, bulk_writer arrays) {
  return encode_with<schema::GatherRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setPart(from.part);
    auto queries = to.initQueries(length(from.queries.size()));
    for (unsigned i = 0; i < queries.size(); ++i) {
      const auto& query = from.queries[i];
      queries[i].setNodeType(query.node_type);
      queries[i].setHalf(query.half);
      queries[i].setLevel(query.level);
      queries[i].setEdgeType(query.edge_type);
      if (query.edges.count != 0)
        write(query.edges, queries[i].initEdges());
      write(query.ids, queries[i].initIds());
      auto kinds = queries[i].initKinds(length(query.kinds.size()));
      for (unsigned k = 0; k < kinds.size(); ++k)
        kinds.set(k, static_cast<schema::GatherKind>(query.kinds[k]));
      write_excluded(query.excluded, queries[i]);
    }
  });
}

result<gather_request> decode_gather_request(const payload& from) {
  using root = schema::GatherRequest;
  return decode_frame<root>(
    from.body, "a gather request",
    [&from](root::Reader in) -> result<gather_request> {
      array_reader arrays{from};
      gather_request out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.part = in.getPart();
      GRAPHMILL_TRYV(check_length(in.getQueries(), max_queries));
      for (auto query : in.getQueries()) {
        value_query plain{query.getNodeType(), {}, {},
                          query.getHalf(),     {}, query.getLevel(),
                          query.getEdgeType()};
        GRAPHMILL_TRY(plain.edges, arrays.read(query.getEdges(), content::ids));
        GRAPHMILL_TRY(plain.ids, arrays.read(query.getIds(), content::ids));
        GRAPHMILL_TRYV(check_length(query.getKinds(), max_kinds));
        for (auto kind : query.getKinds()) {
          const auto ours = known_value(kind, gather_kind::features,
                                        gather_kind::edge_features);
          if (!ours)
            return fail(ec::invalid_data,
                        "a gather request asks for data of kind {}, which "
                        "this version does not know",
                        static_cast<int>(kind));
          plain.kinds.push_back(*ours);
        }
        GRAPHMILL_TRY(plain.excluded,
                      read_excluded(arrays, query.getExcluded()));
        out.queries.push_back(std::move(plain));
      }
      return out;
    });
}

result<payload> encode(const gather_reply& from, bulk_writer arrays) {
  return encode_with<schema::GatherReply>(arrays, [&from](auto to) {
    auto values = to.initValues(length(from.values.size()));
    for (unsigned i = 0; i < values.size(); ++i)
      write(from.values[i], values[i]);
  });
}

result<gather_reply> decode_gather_reply(const payload& from) {
  using root = schema::GatherReply;
  return decode_frame<root>(
    from.body, "a gather reply",
    [&from](root::Reader in) -> result<gather_reply> {
      array_reader arrays{from};
      gather_reply out;
      GRAPHMILL_TRYV(check_length(in.getValues(), max_queries * max_kinds));
      for (auto array : in.getValues()) {
        GRAPHMILL_TRY(auto values, arrays.read(array, content::values));
        out.values.push_back(values);
      }
      return out;
    });
}

// -- sample_batch

result<payload> encode(const batch_request& from, bulk_writer arrays) {
  return encode_with<schema::BatchRequest>(arrays, [&from](auto to) {
    to.setRun(from.run);
    to.setKey(from.key);
    to.setKind(static_cast<schema::BatchKind>(from.kind));
    write(from.seeds, to.initSeeds());
    if (from.batch) {
      auto batch = to.initBatch();
      batch.setPhase(to_wire(from.batch->phase));
      batch.setEpoch(from.batch->epoch);
      batch.setStep(from.batch->step);
      batch.setRank(from.batch->rank);
    }
    if (!from.seeds_by_type.empty()) {
      auto seeds = to.initSeedsByType(length(from.seeds_by_type.size()));
      for (unsigned t = 0; t < seeds.size(); ++t)
        write(from.seeds_by_type[t], seeds[t]);
    }
    write_excluded(from.excluded, to);
    if (from.until.count != 0)
      write(from.until, to.initUntil());
    if (from.rows.count != 0)
      write(from.rows, to.initRows());
    if (from.trees.count != 0)
      write(from.trees, to.initTrees());
  });
}

result<batch_request> decode_batch_request(const payload& from) {
  using root = schema::BatchRequest;
  return decode_frame<root>(
    from.body, "a request for a batch",
    [&from](root::Reader in) -> result<batch_request> {
      array_reader arrays{from};
      batch_request out;
      GRAPHMILL_TRY(out.run, read_run(in.getRun()));
      out.key = in.getKey();
      const auto kind =
        known_value(in.getKind(), batch_kind::train, batch_kind::evaluate);
      if (!kind)
        return fail(ec::invalid_data, "a batch of unknown kind {}",
                    static_cast<int>(in.getKind()));
      out.kind = *kind;
      GRAPHMILL_TRY(out.seeds, arrays.read(in.getSeeds(), content::ids));
      if (in.hasBatch()) {
        const auto batch = in.getBatch();
        GRAPHMILL_TRY(const auto of, from_wire(batch.getPhase()));
        out.batch = {of, batch.getEpoch(), batch.getStep(), batch.getRank()};
      }
      GRAPHMILL_TRYV(check_length(in.getSeedsByType(), max_types));
      for (auto seeds : in.getSeedsByType()) {
        GRAPHMILL_TRY(const auto ids, arrays.read(seeds, content::ids));
        out.seeds_by_type.push_back(ids);
      }
      if (out.seeds.count != 0 && !out.seeds_by_type.empty())
        return fail(ec::invalid_data,
                    "a request for a batch names seeds of the target type, and "
                    "of all types besides");
      GRAPHMILL_TRY(out.excluded, read_excluded(arrays, in.getExcluded()));
      GRAPHMILL_TRY(out.until, arrays.read(in.getUntil(), content::ids));
      GRAPHMILL_TRY(out.rows, arrays.read(in.getRows(), content::ids));
      GRAPHMILL_TRY(out.trees, arrays.read(in.getTrees(), content::ids));
      return out;
    });
}

result<payload> encode(const batch_reply& from, bulk_writer arrays) {
  return encode_with<schema::BatchReply>(arrays, [&from](auto to) {
    to.setTooLarge(from.too_large);
    auto nodes = to.initNodes(length(from.nodes.size()));
    for (unsigned t = 0; t < nodes.size(); ++t) {
      const auto& list = from.nodes[t];
      nodes[t].setFound({list.found.data(), list.found.size()});
      write(list.ids, nodes[t].initIds());
      if (list.trees.count != 0)
        write(list.trees, nodes[t].initTrees());
    }
    auto edges = to.initEdges(length(from.edges.size()));
    for (unsigned e = 0; e < edges.size(); ++e) {
      write_lists(from.edges[e], edges[e]);
    }
  });
}

result<batch_reply> decode_batch_reply(const payload& from) {
  using root = schema::BatchReply;
  return decode_frame<root>(
    from.body, "a sampled batch",
    [&from](root::Reader in) -> result<batch_reply> {
      array_reader arrays{from};
      batch_reply out;
      out.too_large = in.getTooLarge();
      GRAPHMILL_TRYV(check_length(in.getNodes(), max_types));
      GRAPHMILL_TRYV(check_length(in.getEdges(), max_types));
      for (auto list : in.getNodes()) {
        node_arrays nodes;
        GRAPHMILL_TRYV(check_length(list.getFound(), max_found));
        for (auto count : list.getFound()) {
          if (count < (nodes.found.empty() ? 0 : nodes.found.back()))
            return fail(ec::invalid_data,
                        "the nodes found by a batch's hops become fewer");
          nodes.found.push_back(count);
        }
        GRAPHMILL_TRY(nodes.ids, arrays.read(list.getIds(), content::ids));
        GRAPHMILL_TRY(nodes.trees, arrays.read(list.getTrees(), content::ids));
        out.nodes.push_back(std::move(nodes));
      }
      for (auto list : in.getEdges()) {
        GRAPHMILL_TRY(const auto lists, read_lists(arrays, list));
        out.edges.push_back(lists);
      }
      return out;
    });
}

} // namespace graphmill
