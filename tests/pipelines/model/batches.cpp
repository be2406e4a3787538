#include "tests/pipelines/model/batches.hpp"

#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace graphmill::test {

namespace {

template <class T>
void assign(pod_vector<T>& into, const std::vector<T>& from) {
  into.append({from.data(), from.size()});
}

/// The batch so far, with growable lists.
struct sampler {
  const toy_graph& graph;
  int fanout;
  std::vector<std::vector<node_id>> nodes;
  std::vector<std::map<node_id, local_id>> known;
  std::vector<std::vector<std::int64_t>> found;
  std::vector<std::vector<std::vector<local_id>>> rows;    ///< Per edge type.
  std::vector<std::vector<std::vector<float>>> weights;    ///< Likewise.
  std::vector<std::vector<std::vector<float>>> features{}; ///< Likewise.
  std::vector<std::vector<std::vector<float>>> ages{};     ///< Likewise.

  local_id local(node_type_id type, node_id node) {
    const auto [at, fresh] =
      known[type].try_emplace(node, static_cast<local_id>(nodes[type].size()));
    if (fresh)
      nodes[type].push_back(node);
    return at->second;
  }

  void hop(int number) {
    const auto& types = graph.info.edge_types;
    for (std::size_t e = 0; e < types.size(); ++e) {
      const auto& counts = found[types[e].destination];
      const auto begin = number == 1 ? 0 : counts[number - 2];
      for (auto i = begin; i < counts[number - 1]; ++i) {
        const auto& list = graph.in_lists[e][nodes[types[e].destination][i]];
        const auto taken =
          fanout < 0 ? list.size() : std::min<std::size_t>(fanout, list.size());
        auto& row = rows[e].emplace_back();
        for (std::size_t k = 0; k < taken; ++k)
          row.push_back(local(types[e].source, list[k]));
        auto& weights_of_row = weights[e].emplace_back(taken, 1.0f);
        if (types[e].weighted)
          std::copy_n(
            graph.in_weights[e][nodes[types[e].destination][i]].begin(), taken,
            weights_of_row.begin());
        auto& ages_of_row = ages[e].emplace_back();
        if (types[e].timed)
          ages_of_row.assign(
            graph.edge_ages[e][nodes[types[e].destination][i]].begin(),
            graph.edge_ages[e][nodes[types[e].destination][i]].begin()
              + static_cast<std::ptrdiff_t>(taken));
        auto& of_row = features[e].emplace_back();
        const auto width = static_cast<std::size_t>(types[e].feature_width);
        if (width != 0)
          of_row.assign(
            graph.edge_features[e][nodes[types[e].destination][i]].begin(),
            graph.edge_features[e][nodes[types[e].destination][i]].begin()
              + static_cast<std::ptrdiff_t>(taken * width));
      }
    }
    for (std::size_t t = 0; t < nodes.size(); ++t)
      found[t].push_back(static_cast<std::int64_t>(nodes[t].size()));
  }
};

using id_rows = std::vector<std::vector<local_id>>;
using weight_rows = std::vector<std::vector<float>>;

csr to_csr(const id_rows& rows, const weight_rows& weights, bool weighted) {
  csr out;
  out.indptr.push_back(0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    assign(out.columns, rows[i]);
    if (weighted)
      assign(out.weights, weights[i]);
    out.indptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

csr transpose(const id_rows& rows, const weight_rows& weights, bool weighted,
              std::int64_t destinations, std::int64_t sources) {
  id_rows lists(sources);
  weight_rows turned(sources);
  for (std::int64_t i = 0; i < destinations; ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) {
      lists[rows[i][k]].push_back(static_cast<local_id>(i));
      turned[rows[i][k]].push_back(weights[i][k]);
    }
  return to_csr(lists, turned, weighted);
}

/// A row of features as a batch holds it.
void append_row(std::span<const float> row, const row_form& form,
                pod_vector<float>& to) {
  if (!form.packed())
    return to.append(row);
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (std::size_t c = 0; c < row.size(); ++c)
    if (row[c] != 0) {
      columns.push_back(static_cast<std::int32_t>(c));
      values.push_back(row[c]);
    }
  std::vector<float> packed(form.floats());
  pack({columns, values}, form, packed.data());
  to.append({packed.data(), packed.size()});
}

} // namespace

std::int32_t toy_graph::in_degree(node_type_id type, node_id node) const {
  std::size_t degree = 0;
  for (std::size_t e = 0; e < in_lists.size(); ++e)
    if (info.edge_types[e].destination == type)
      degree += in_lists[e][node].size();
  return static_cast<std::int32_t>(degree);
}

float toy_graph::in_weight(node_type_id type, node_id node) const {
  double sum = 0;
  for (std::size_t e = 0; e < in_lists.size(); ++e) {
    if (info.edge_types[e].destination != type)
      continue;
    if (!info.edge_types[e].weighted) {
      sum += double(in_lists[e][node].size());
      continue;
    }
    double of_type = 0; // On record as a float.
    for (const auto weight : in_weights[e][node])
      of_type += weight;
    sum += static_cast<float>(of_type);
  }
  return static_cast<float>(sum);
}

void add_weights(toy_graph& graph, std::mt19937_64& random) {
  std::uniform_real_distribution<float> value{0, 2};
  const auto types = graph.in_lists.size();
  graph.in_weights.assign(types, {});
  for (std::size_t e = 0; e < types; ++e) {
    if (types > 1 && e == 1)
      continue;
    graph.info.edge_types[e].weighted = true;
    for (std::size_t i = 0; i < graph.in_lists[e].size(); ++i)
      for (auto& weights = graph.in_weights[e].emplace_back();
           weights.size() < graph.in_lists[e][i].size();)
        weights.push_back(i == 2 || random() % 6 == 0 ? 0 : value(random));
  }
}

void add_edge_features(toy_graph& graph, std::mt19937_64& random,
                       std::int64_t width, bool differ) {
  std::uniform_real_distribution<float> value{-1, 1};
  graph.edge_features.clear();
  for (std::size_t e = 0; e < graph.in_lists.size(); ++e) {
    auto& own = graph.info.edge_types[e].feature_width;
    own = !differ || e == 0 ? width : e == 1 ? 0 : width + 2;
    auto& lists = graph.edge_features.emplace_back();
    for (const auto& list : graph.in_lists[e])
      for (auto& row = lists.emplace_back();
           row.size() < list.size() * static_cast<std::size_t>(own);)
        row.push_back(value(random));
  }
}

void add_ages(toy_graph& graph, std::mt19937_64& random, bool differ) {
  std::uniform_real_distribution<float> value{0, 3};
  graph.info.ticks_per_second = 1;
  graph.edge_ages.clear();
  for (std::size_t e = 0; e < graph.in_lists.size(); ++e) {
    auto& lists = graph.edge_ages.emplace_back();
    graph.info.edge_types[e].timed = !differ || e != 1;
    if (!graph.info.edge_types[e].timed)
      continue;
    for (const auto& list : graph.in_lists[e])
      for (auto& ages = lists.emplace_back(); ages.size() < list.size();)
        ages.push_back(value(random));
  }
}

std::vector<model_kind> edge_reading_kinds() {
  std::vector<model_kind> out;
  for (const auto& traits : model_kinds)
    if (traits.reads_edge_features())
      out.push_back(traits.kind);
  return out;
}

void add_ones(toy_graph& graph) {
  graph.in_weights.clear();
  for (std::size_t e = 0; e < graph.in_lists.size(); ++e) {
    graph.info.edge_types[e].weighted = true;
    auto& lists = graph.in_weights.emplace_back();
    for (const auto& list : graph.in_lists[e])
      lists.emplace_back(list.size(), 1.0f);
  }
}

toy_graph random_graph(std::mt19937_64& random, const toy_options& options) {
  toy_graph graph;
  std::uniform_real_distribution<float> value{-1, 1};
  graph.info.name = "toy";
  for (std::size_t t = 0; t < options.nodes.size(); ++t) {
    graph.info.node_types.push_back(
      {.name = std::string(1, static_cast<char>('a' + t)),
       .count = options.nodes[t],
       .feature_width = options.widths[t],
       .class_count = t == 0 ? options.classes : 0});
    auto& rows =
      graph.features.emplace_back(options.nodes[t] * options.widths[t]);
    for (auto& x : rows)
      x = value(random);
  }
  for (std::size_t e = 0; e < options.edges.size(); ++e) {
    const auto [source, destination] = options.edges[e];
    graph.info.edge_types.push_back({.source = source,
                                     .name = "r" + std::to_string(e),
                                     .destination = destination,
                                     .max_in_degree = options.in_edges});
    auto& lists = graph.in_lists.emplace_back(options.nodes[destination]);
    for (auto& list : lists)
      for (auto k = random() % (options.in_edges + 1); k > 0; --k)
        list.push_back(static_cast<node_id>(random() % options.nodes[source]));
  }
  for (std::int64_t i = 0; i < options.nodes[0]; ++i)
    graph.labels.push_back(
      static_cast<std::int64_t>(random() % options.classes));
  return graph;
}

toy_graph graph_with_edge_features(model_kind kind, std::mt19937_64& random) {
  const auto typed = traits_of(kind).typed;
  auto graph =
    typed ? random_graph(random, {.nodes = {9, 7, 6},
                                  .widths = {3, 0, 4},
                                  .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}}})
          : random_graph(
            random, {.nodes = {9}, .widths = {3}, .edges = {{0, 0}, {0, 0}}});
  add_edge_features(graph, random, 3, typed);
  return graph;
}

std::vector<model_kind> all_kinds() {
  std::vector<model_kind> out;
  for (const auto& traits : model_kinds)
    if (!traits.looks_up)
      out.push_back(traits.kind);
  return out;
}

std::vector<model_kind> weighing_kinds() {
  std::vector<model_kind> out;
  for (const auto& traits : model_kinds)
    if (traits.weighs_edges() && !traits.looks_up)
      out.push_back(traits.kind);
  return out;
}

void add_attention_options(definition& def) {
  const auto& traits = traits_of(def.model.kind);
  if (!traits.attends())
    return;
  def.model.attention_dropout = 0.4;
  if (traits.gated)
    return;
  def.model.output_heads = 3;
  def.model.attention_residual = !traits.self_weight;
  def.model.message_dropout = traits.drops_messages() ? 0.3 : 0;
}

definition small_definition(model_kind kind, int hops) {
  definition def;
  def.seed = 7;
  def.sampler.fanouts.assign(hops, -1);
  def.model = {.kind = kind,
               .hidden = 4,
               .heads = 2,
               .dropout = 0,
               .embedding = 5,
               .layer_norm = false};
  def.trainer = {.replicas = 1, .threads = 1, .device = "cpu"};
  if (kind == model_kind::hetero_sage) // `rgcn` adds up.
    def.model.relations = relation_use::mean;
  def.optimizer.kind = optimizer_kind::sgd;
  return def;
}

definition link_definition(model_kind kind, int hops, decoder_kind decoder) {
  auto def = small_definition(kind, hops);
  def.task = "edges";
  def.decoder.kind = decoder;
  def.model.width = 6;
  return def;
}

std::vector<decoder_kind> all_decoders() {
  return {decoder_kind::dot,      decoder_kind::cosine, decoder_kind::distmult,
          decoder_kind::complex,  decoder_kind::transe, decoder_kind::rotate,
          decoder_kind::bilinear, decoder_kind::mlp};
}

namespace {

/// All but labels.
/// @param seeds Per node type.
minibatch make_blocks(const toy_graph& graph, const definition& def,
                      const std::vector<std::vector<node_id>>& seeds,
                      int fanout) {
  const auto& info = graph.info;
  const auto layers = hops(def);
  const auto needs = needs_of(def, info);
  sampler work{.graph = graph, .fanout = fanout};
  work.nodes.resize(info.node_types.size());
  work.known.resize(info.node_types.size());
  work.found.resize(info.node_types.size());
  work.rows.resize(info.edge_types.size());
  work.weights.resize(info.edge_types.size());
  work.features.resize(info.edge_types.size());
  work.ages.resize(info.edge_types.size());
  for (std::size_t t = 0; t < seeds.size(); ++t)
    for (auto seed : seeds[t])
      work.local(static_cast<node_type_id>(t), seed);
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    work.found[t].push_back(static_cast<std::int64_t>(work.nodes[t].size()));
  for (int h = 1; h <= layers; ++h)
    work.hop(h);

  minibatch out;
  auto& data = out.data;
  data.graph.hops = layers;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    auto& list = data.graph.nodes.emplace_back();
    assign(list.ids, work.nodes[t]);
    list.found = work.found[t];
    auto& features = data.features.emplace_back();
    auto& table_rows = data.embedding_rows.emplace_back();
    auto& degrees = data.degrees.emplace_back();
    auto& in_weights = data.in_weights.emplace_back();
    const auto width = info.node_types[t].feature_width;
    for (auto node : work.nodes[t]) {
      if (width != 0)
        append_row({graph.features[t].data() + node * width,
                    static_cast<std::size_t>(width)},
                   row_form::of(info.node_types[t]), features);
      else
        table_rows.push_back(node);
      if (needs.degrees)
        degrees.push_back(graph.in_degree(static_cast<node_type_id>(t), node));
      if (needs.in_weights)
        in_weights.push_back(
          graph.in_weight(static_cast<node_type_id>(t), node));
    }
  }
  auto lists = work.rows;
  auto weights = work.weights;
  auto edge_rows = work.features;
  auto ages = work.ages;
  if (needs.merged_relations)
    for (std::size_t e = 1; e < lists.size(); ++e)
      for (std::size_t i = 0; i < lists[0].size(); ++i) {
        lists[0][i].insert(lists[0][i].end(), lists[e][i].begin(),
                           lists[e][i].end());
        weights[0][i].insert(weights[0][i].end(), weights[e][i].begin(),
                             weights[e][i].end());
        edge_rows[0][i].insert(edge_rows[0][i].end(), edge_rows[e][i].begin(),
                               edge_rows[e][i].end());
        ages[0][i].insert(ages[0][i].end(), ages[e][i].begin(),
                          ages[e][i].end());
      }
  const auto count = needs.merged_relations ? 1 : lists.size();
  for (std::size_t r = 0; r < count; ++r) {
    auto& relation = out.relations.emplace_back();
    relation.source = info.edge_types[r].source;
    relation.destination = info.edge_types[r].destination;
    const auto weighted =
      needs.weights && (needs.merged_relations || info.edge_types[r].weighted);
    relation.forward = to_csr(lists[r], weights[r], weighted);
    if (needs.edge_features)
      for (const auto& row : edge_rows[r])
        assign(relation.edge_features, row);
    if (needs.ages)
      for (const auto& row : ages[r])
        assign(relation.ages, row);
    for (int l = 0; l < layers; ++l) {
      auto& back = relation.transposed.emplace_back();
      if (l == 0 && !needs.input_gradient)
        continue;
      const auto& found = work.found;
      back = transpose(lists[r], weights[r], weighted,
                       found[relation.destination][layers - l - 1],
                       found[relation.source][layers - l]);
    }
  }
  return out;
}

} // namespace

minibatch make_batch(const toy_graph& graph, const definition& def,
                     const std::vector<node_id>& seeds, int fanout) {
  const auto& info = graph.info;
  std::vector<std::vector<node_id>> by_type(info.node_types.size());
  by_type[info.target] = seeds;
  auto out = make_blocks(graph, def, by_type, fanout);
  auto& data = out.data;
  const auto& target = info.node_types[info.target];
  const auto bytes = static_cast<std::size_t>(target.label_bytes());
  for (auto seed : seeds)
    if (target.has_label_rows())
      data.label_rows.append(
        {graph.label_rows.data() + static_cast<std::size_t>(seed) * bytes,
         bytes});
    else
      data.labels.push_back(graph.labels[seed]);
  assign(data.original_seeds, seeds);
  out.global_seeds = static_cast<std::int64_t>(seeds.size());
  return out;
}

void add_task(toy_graph& graph, edge_task_kind kind,
              std::vector<edge_type_id> edge_types, std::int64_t classes) {
  edge_task_info task;
  task.name = "edges";
  task.kind = kind;
  task.reverse_types.resize(edge_types.size());
  task.edge_types = std::move(edge_types);
  task.class_count = classes;
  graph.info.tasks = {task};
}

minibatch make_edge_batch(const toy_graph& graph, const definition& def,
                          const seed_batch& rows, int fanout) {
  auto out = make_blocks(graph, def, rows.nodes, fanout);
  out.rows = std::make_shared<const seed_batch>(rows);
  assign(out.data.labels, rows.classes);
  assign(out.data.label_rows, rows.label_rows);
  out.global_seeds = static_cast<std::int64_t>(rows.rows());
  return out;
}

seed_batch random_rows(std::mt19937_64& random, const toy_graph& graph,
                       const row_options& options) {
  const auto& info = graph.info;
  const auto& task = info.tasks.front();
  seed_batch out;
  out.columns = 2 + options.wrong_destinations + options.wrong_sources;
  out.wrong_destinations = options.wrong_destinations;
  out.wrong_sources = options.wrong_sources;
  if (options.wrong_pairs != 0)
    out.columns += 2 * (out.wrong_pairs = options.wrong_pairs);
  out.nodes.resize(info.node_types.size());
  const auto some = [&](node_type_id type) {
    const auto node =
      static_cast<node_id>(random() % info.node_types[type].count);
    auto& nodes = out.nodes[type];
    const auto found = std::find(nodes.begin(), nodes.end(), node);
    const auto place = static_cast<local_id>(found - nodes.begin());
    if (found == nodes.end())
      nodes.push_back(node);
    return place;
  };
  for (std::size_t i = 0; i < options.rows; ++i) {
    const auto relation =
      static_cast<std::int32_t>(random() % task.edge_types.size());
    const auto& ends = info.edge_types[task.edge_types[relation]];
    out.relations.push_back(relation);
    out.weights.push_back(static_cast<float>(random() % 4) / 2);
    out.locals.push_back(some(ends.source));
    out.locals.push_back(some(ends.destination));
    for (std::size_t c = 2; c < out.columns; ++c) {
      const auto exists = options.wrong_pairs != 0 && c % 2 == 1
                            ? out.locals.back() != seed_batch::none
                            : random() % 7 != 0;
      out.locals.push_back(!exists            ? seed_batch::none
                           : out.at_source(c) ? some(ends.source)
                                              : some(ends.destination));
    }
  }
  const auto joint = [&](std::size_t count, bool at_source) {
    std::vector<std::vector<local_id>> lists(info.node_types.size());
    for (const auto edge_type : task.edge_types) {
      const auto& ends = info.edge_types[edge_type];
      const auto type = at_source ? ends.source : ends.destination;
      while (lists[type].size() < count + static_cast<std::size_t>(type))
        lists[type].push_back(some(type));
    }
    return lists;
  };
  if (options.joint_destinations != 0)
    out.joint_destinations = joint(options.joint_destinations, false);
  if (options.joint_sources != 0)
    out.joint_sources = joint(options.joint_sources, true);
  return out;
}

std::vector<node_id> first_nodes(node_id count) {
  std::vector<node_id> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), node_id{0});
  return out;
}

std::string digest_after(int steps, const toy_graph& graph,
                         const definition& def,
                         const std::vector<node_id>& seeds, int fanout) {
  const auto model = value_of(replica::create(def, graph.info));
  for (int step = 0; step < steps; ++step) {
    gradient_set gradients;
    value_of(model->compute_gradients(make_batch(graph, def, seeds, fanout),
                                      static_cast<std::uint64_t>(step),
                                      gradients));
    value_of(model->apply(gradients, 0.1));
  }
  return model->digest();
}

} // namespace graphmill::test
