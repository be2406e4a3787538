#include "pipelines/model/layerwise/link_search.hpp"

#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/model/layerwise/layerwise_model.hpp"
#include "pipelines/model/layerwise/pair_scores.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace graphmill::test {

namespace {

/// The graph as a dataset opens, with levels of the edges of the first type.
memory_graph with_levels(const toy_graph& toy, std::mt19937_64& random) {
  memory_graph out;
  for (std::size_t t = 0; t < toy.info.node_types.size(); ++t) {
    const auto& type = toy.info.node_types[t];
    out.nodes.push_back({type.name,
                         type.count,
                         type.feature_width,
                         toy.features[t],
                         t == 0 ? toy.labels : std::vector<std::int64_t>{},
                         {}});
  }
  for (std::size_t e = 0; e < toy.info.edge_types.size(); ++e) {
    const auto& type = toy.info.edge_types[e];
    out.edges.push_back(
      {type.source, type.name, type.destination, toy.in_lists[e]});
    if (type.weighted)
      out.edges.back().weights = toy.in_weights[e];
  }
  for (const auto& list : out.edges.front().in) {
    auto& levels = out.edges.front().levels.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i)
      levels.push_back(static_cast<edge_level>(random() % 3));
    std::sort(levels.begin(), levels.end());
  }
  return out;
}

/// The graph that training sees.
toy_graph without_held_out(toy_graph toy, const memory_graph& graph) {
  const auto& levels = graph.edges.front().levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto seen = static_cast<std::size_t>(
      std::count(levels[i].begin(), levels[i].end(), edge_level{0}));
    toy.in_lists[0][i].resize(seen);
    if (toy.info.edge_types[0].weighted)
      toy.in_weights[0][i].resize(seen);
  }
  return toy;
}

/// A model over a graph, and what it gives.
struct opened {
  std::unique_ptr<layerwise_model> model;
  layerwise_model::outcome made;

  opened(const cut_graph& graph, const definition& def,
         const std::vector<named_tensor>& weights, unsigned threads) {
    auto order = value_of(original_graph::create(graph.graph, graph.shards));
    model = value_of(layerwise_model::create(
      def, weights, std::move(order),
      {.threads = threads,
       .memory_bytes = std::numeric_limits<std::uint64_t>::max()}));
    made = value_of(model->run({}));
  }

  const_matrix outputs_of(node_type_id type) const {
    const auto& all = model->layout().outputs;
    const auto at = std::find(all.begin(), all.end(), type) - all.begin();
    return made.outputs[static_cast<std::size_t>(at)].view;
  }

  link_search::setting asks(edge_type_id type, std::int32_t relation,
                            query_side given, std::int64_t most, bool known) {
    const auto& ends =
      model->graph().info().edge_types[static_cast<std::size_t>(type)];
    const auto source = given == query_side::source;
    return {.layout = &model->layout(),
            .parameters = &model->parameters(),
            .graph = &model->graph(),
            .relation = relation,
            .edge_type = type,
            .given = given,
            .queries = outputs_of(source ? ends.source : ends.destination),
            .candidates = outputs_of(source ? ends.destination : ends.source),
            .most = most,
            .keeps_known = known,
            .team = &model->team(),
            .pool = model->pool()};
  }
};

/// Scores of all pairs of an edge type, by batches with all neighbours.
/// @returns [sources][destinations]
std::vector<std::vector<float>> scores_by_batches(replica& model,
                                                  const toy_graph& graph,
                                                  const definition& def,
                                                  std::int32_t relation) {
  const auto& task = graph.info.tasks.front();
  const auto& ends = graph.info.edge_types[static_cast<std::size_t>(
    task.edge_types[static_cast<std::size_t>(relation)])];
  const auto sources = graph.info.node_types[ends.source].count;
  const auto destinations = graph.info.node_types[ends.destination].count;
  seed_batch rows;
  rows.columns = 2;
  rows.nodes.resize(graph.info.node_types.size());
  rows.nodes[ends.source] = first_nodes(sources);
  rows.nodes[ends.destination] = first_nodes(destinations);
  for (std::int64_t s = 0; s < sources; ++s)
    for (std::int64_t d = 0; d < destinations; ++d) {
      rows.locals.push_back(static_cast<local_id>(s));
      rows.locals.push_back(static_cast<local_id>(d));
      rows.relations.push_back(relation);
    }
  batch_output output;
  const auto fanout = traits_of(def.model.kind).hears() ? -1 : 0;
  value_of(model.evaluate(make_edge_batch(graph, def, rows, fanout), &output));
  std::vector<std::vector<float>> out;
  for (std::int64_t s = 0; s < sources; ++s)
    out.emplace_back(output.logits.begin() + s * destinations,
                     output.logits.begin() + (s + 1) * destinations);
  return out;
}

/// The best of a row of scores but for some, in order.
std::vector<found_link> sorted_links(const std::vector<float>& scores,
                                     const std::set<node_id>& without,
                                     std::int64_t most) {
  std::vector<found_link> out;
  for (node_id node = 0; node < std::ssize(scores); ++node)
    if (!without.contains(node))
      out.push_back({node, scores[static_cast<std::size_t>(node)]});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.score > b.score;
  });
  out.resize(std::min(out.size(), static_cast<std::size_t>(most)));
  return out;
}

bool same(const std::vector<found_link>& a, const std::vector<found_link>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) {
                      return x.node == y.node && x.score == y.score;
                    });
}

/// Links that were found have the scores of listed pairs.
void check_pairs(const opened& made, std::int32_t relation, bool from_source,
                 const std::vector<std::vector<found_link>>& found) {
  std::vector<named_edge> pairs;
  std::vector<float> searched;
  for (std::size_t at = 0; at < found.size(); ++at)
    for (const auto& one : found[at]) {
      const auto node = static_cast<node_id>(at);
      pairs.push_back({from_source ? node : one.node,
                       from_source ? one.node : node, relation});
      searched.push_back(one.score);
    }
  std::vector<const_matrix> outputs;
  for (const auto& rows : made.made.outputs)
    outputs.push_back(rows.view);
  const auto scores = value_of(score_pairs(
    made.model->layout(), made.model->parameters(), outputs, pairs, 2, {}));
  CATCH_REQUIRE(scores.size() == pairs.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    CATCH_CHECK(std::abs(scores[i] - searched[i])
                < 1e-4 * (1 + std::abs(searched[i])));
}

} // namespace

CATCH_TEST_CASE(
  "the best links are those of batches with all neighbours, which see no "
  "held-out edge",
  "[links][search]") {
  const auto decoder = GENERATE(from_range(all_decoders()));
  const auto kind = GENERATE(model_kind::rgcn, model_kind::gcn,
                             model_kind::lookup, model_kind::lightgcn);
  const auto weighted = GENERATE(false, true);
  const auto jumping = GENERATE(false, true);
  const auto& traits = traits_of(kind);
  if ((weighted && !traits.weighs_edges()) || (jumping && traits.looks_up))
    return;
  CATCH_INFO("decoder " << int(decoder) << ", kind " << int(kind)
                        << ", weighted " << weighted << ", jumping " << jumping
                        << ", seed 131");
  std::mt19937_64 random{131};
  toy_options options{.nodes = {30}, .widths = {5}, .edges = {{0, 0}, {0, 0}}};
  if (traits.typed)
    options = {.nodes = {30, 20, 8},
               .widths = {5, 0, 3},
               .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}}};
  if (traits.looks_up)
    options.widths.assign(options.nodes.size(), 0);
  auto toy = random_graph(random, options);
  if (weighted)
    add_weights(toy, random);
  add_task(toy, edge_task_kind::link,
           traits.typed ? std::vector<edge_type_id>{0, 1, 3}
                        : std::vector<edge_type_id>{0, 1});
  auto def = link_definition(kind, 2, decoder);
  def.model.jumping = jumping;
  def.decoder.norm = 2;
  const auto batches = value_of(replica::create(def, toy.info));
  auto graph = with_levels(toy, random);
  const auto seen = without_held_out(toy, graph);
  // What a dataset says of its tasks, parts do not know.
  const auto cut_up = cut(graph, 3, random_assignment(graph, 3, 5));
  const auto with_task = [&](const cut_graph& of) {
    const_cast<dataset_info&>(of.graph->info()).tasks = toy.info.tasks;
    return opened{of, def, batches->parameters(), 2};
  };
  auto made = with_task(cut_up);
  auto alone = with_task(whole(graph));
  const auto& task = toy.info.tasks.front();
  for (std::size_t r = 0; r < task.edge_types.size(); ++r) {
    const auto type = task.edge_types[r];
    const auto& ends = toy.info.edge_types[type];
    const auto relation = static_cast<std::int32_t>(r);
    const auto all = scores_by_batches(*batches, seen, def, relation);
    for (const auto given : {query_side::source, query_side::destination}) {
      const auto from_source = given == query_side::source;
      const auto nodes = first_nodes(
        toy.info.node_types[from_source ? ends.source : ends.destination]
          .count);
      link_search search{made.asks(type, relation, given, 4, false)};
      const auto found = value_of(search.find(nodes));
      link_search other{alone.asks(type, relation, given, 4, false)};
      const auto again = value_of(other.find(nodes));
      check_pairs(made, relation, from_source, found);
      for (const auto node : nodes) {
        const auto at = static_cast<std::size_t>(node);
        CATCH_CHECK(same(found[at], again[at]));
        std::vector<float> scores;
        std::set<node_id> without;
        if (ends.source == ends.destination)
          without.insert(node);
        for (std::size_t d = 0; d < toy.in_lists[type].size(); ++d)
          for (const auto source : toy.in_lists[type][d])
            if (from_source ? source == node : std::cmp_equal(d, node))
              without.insert(from_source ? static_cast<node_id>(d) : source);
        if (from_source)
          scores = all[at];
        else
          for (const auto& row : all)
            scores.push_back(row[at]);
        const auto want = sorted_links(scores, without, 4);
        CATCH_REQUIRE(found[at].size() == want.size());
        for (std::size_t k = 0; k < want.size(); ++k) {
          const auto& one = found[at][k];
          CATCH_CHECK(!without.contains(one.node));
          // Of nearly the same score, either may come first.
          CATCH_CHECK(std::abs(one.score - want[k].score)
                      < 1e-4 * (1 + std::abs(want[k].score)));
          CATCH_CHECK(
            std::abs(one.score - scores[static_cast<std::size_t>(one.node)])
            < 1e-4 * (1 + std::abs(one.score)));
        }
      }
    }
  }
}

/// Vectors of small whole numbers, whose sums are exact in any order, so that
/// many scores are the same; or of any numbers.
CATCH_TEST_CASE("the best links of many candidates are exact, and of the same "
                "score in the order of ids",
                "[links][search]") {
  const auto whole_numbers = GENERATE(true, false);
  const auto decoder = GENERATE(decoder_kind::dot, decoder_kind::transe);
  const auto threads = GENERATE(1u, 3u);
  CATCH_INFO("whole numbers " << whole_numbers << ", decoder " << int(decoder)
                              << ", threads " << threads << ", seed 137");
  std::mt19937_64 random{137};
  constexpr std::int64_t sources = 70;
  constexpr std::int64_t destinations = 2500; // Three blocks.
  constexpr std::int64_t width = 6;
  const auto toy = [&] {
    auto out = random_graph(random, {.nodes = {sources, destinations},
                                     .widths = {0, 0},
                                     .edges = {{0, 1}},
                                     .in_edges = 5});
    add_task(out, edge_task_kind::link, {0});
    return out;
  }();
  const auto def = link_definition(model_kind::lookup, 1, decoder);
  auto weights = value_of(replica::create(def, toy.info))->parameters();
  const auto any = [&] {
    if (whole_numbers)
      return static_cast<float>(random() % 3) - 1;
    return std::normal_distribution<float>{}(random);
  };
  for (auto& tensor : weights)
    std::generate(tensor.values.begin(), tensor.values.end(), any);
  auto graph = with_levels(toy, random);
  const auto one = whole(graph);
  const_cast<dataset_info&>(one.graph->info()).tasks = toy.info.tasks;
  opened made{one, def, weights, threads};
  std::vector<std::vector<float>> all;
  const auto& relation = made.model->parameters();
  for (std::int64_t s = 0; s < sources; ++s) {
    std::vector<float> query(made.outputs_of(0).row(s),
                             made.outputs_of(0).row(s) + width);
    if (decoder == decoder_kind::transe)
      for (std::int64_t c = 0; c < width; ++c)
        query[static_cast<std::size_t>(c)] += relation.dense[c];
    auto& scores = all.emplace_back(destinations);
    const std::vector<local_id> list = [] {
      std::vector<local_id> out(destinations);
      std::iota(out.begin(), out.end(), local_id{0});
      return out;
    }();
    score_lists({.how = comparison_of(decoder, 1),
                 .a = {query.data(), 1, width},
                 .b = made.outputs_of(1),
                 .lists = list.data(),
                 .stride = destinations,
                 .first = 0,
                 .last = destinations},
                0, 1, {scores.data(), 1, destinations});
  }
  for (const auto most :
       {std::int64_t{1}, std::int64_t{7}, std::int64_t{1500}, destinations})
    for (const auto known : {false, true}) {
      link_search search{made.asks(0, 0, query_side::source, most, known)};
      CATCH_CHECK(search.most_queries() >= 1);
      const auto found = value_of(search.find(first_nodes(sources)));
      for (std::int64_t s = 0; s < sources; ++s) {
        std::set<node_id> without;
        for (std::size_t d = 0; d < toy.in_lists[0].size() && !known; ++d)
          if (std::count(toy.in_lists[0][d].begin(), toy.in_lists[0][d].end(),
                         s))
            without.insert(static_cast<node_id>(d));
        const auto at = static_cast<std::size_t>(s);
        CATCH_CHECK(same(found[at], sorted_links(all[at], without, most)));
      }
      // Others in the list change nothing, nor does a node that comes twice.
      const std::vector<node_id> few{33, 2, 33};
      const auto again = value_of(search.find(few));
      for (std::size_t i = 0; i < few.size(); ++i)
        CATCH_CHECK(same(again[i], found[static_cast<std::size_t>(few[i])]));
    }
}

CATCH_TEST_CASE(
  "a search ends when it is to stop, and finds nothing that is no "
  "number",
  "[links][search]") {
  std::mt19937_64 random{139};
  auto toy = random_graph(random, {.nodes = {9}, .widths = {0}});
  add_task(toy, edge_task_kind::link, {0});
  const auto def = link_definition(model_kind::lookup, 1, decoder_kind::dot);
  auto weights = value_of(replica::create(def, toy.info))->parameters();
  weights.front().values[2 * 6] = std::numeric_limits<float>::quiet_NaN();
  auto graph = with_levels(toy, random);
  const auto one = whole(graph);
  const_cast<dataset_info&>(one.graph->info()).tasks = toy.info.tasks;
  opened made{one, def, weights, 1};
  link_search search{made.asks(0, 0, query_side::source, 9, true)};
  const auto found = value_of(search.find(first_nodes(9)));
  CATCH_CHECK(found[2].empty());
  CATCH_REQUIRE(found[0].size() == 8);
  for (const auto& link : found[0])
    CATCH_CHECK(link.node != 2);
  auto how = made.asks(0, 0, query_side::source, 9, true);
  how.stopped = [] { return true; };
  CATCH_CHECK(error_of(link_search{how}.find(first_nodes(9))).code
              == ec::cancelled);
}

} // namespace graphmill::test
