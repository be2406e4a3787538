#include "pipelines/model/memory_estimate.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/negatives.hpp"
#include "pipelines/kernels/attention/joint_attention.hpp"
#include "pipelines/kernels/edge_product.hpp"
#include "pipelines/kernels/edge_relu.hpp"
#include "pipelines/kernels/links/link_panels.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "pipelines/kernels/optimizer.hpp"
#include "pipelines/model/passes/node_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace graphmill {

namespace {

/// The most nodes of `type` known after hop `hop`.
double known(const definition& def, const dataset_info& info,
             const subgraph_bound& bound, node_type_id type, int hop) {
  const auto last = hops(def);
  if (hop == 0 && !def.task.empty() && !bound.seeds.empty())
    return static_cast<double>(bound.seeds[type]);
  const auto most =
    static_cast<double>(hop == last ? bound.nodes[type] : bound.expanded[type]);
  // For earlier hops the definition may tell more than the bound of all.
  if (hop + 1 >= last || !def.sampler.edge_fanouts.empty()
      || def.sampler.subgraph != subgraph_kind::directional
      || !draws_lists(def.sampler.method)
      || def.evaluate.neighbours == neighbour_use::all)
    return most;
  double frontier = std::max(def.train.batch_size, def.evaluate.batch_size);
  auto total = frontier;
  for (int h = 0; h < hop; ++h) {
    const auto fanout = def.sampler.fanouts[static_cast<std::size_t>(h)];
    if (fanout < 0)
      return most;
    frontier *= double(fanout) * double(info.edge_types.size());
    total += frontier;
  }
  return std::min(most, total);
}

/// Floats that a layer keeps from forward to backward, and that its backward
/// needs besides.
struct layer_floats {
  double kept = 0;
  double transient = 0;
};

class estimator {
public:
  estimator(const definition& def, const dataset_info& info,
            const subgraph_bound& bound, const model_layout& layout)
    : def_(def), info_(info), bound_(bound), layout_(layout) {}

  layer_floats of_layer(int l) const {
    const auto& layer = layout_.layers[l];
    layer_floats sum;
    for (std::size_t t = 0; t < layer.types.size(); ++t) {
      const auto& type = layer.types[t];
      const auto id = static_cast<node_type_id>(t);
      const auto inputs = nodes(id, layout_.hops - l);
      const auto rows = nodes(id, layout_.hops - l - 1);
      const auto copies = type.norm_gain == absent ? 1.0 : 2.0;
      sum.kept += rows * double(type.out) * copies;
      sum.transient += rows * double(type.out);
      if (type.inner != absent) {
        sum.kept += rows * double(type.sum);
        sum.transient += (rows + std::min(16.0, rows / 2048) * double(type.out))
                         * double(type.sum);
      }
      if (layout_.needs_gradient(l, id))
        sum.transient += inputs * double(type.in);
      if (l == 0 && layout_.table_of[t] != absent) // And the sparse gradient.
        sum.transient += inputs * double(type.in + 2);
      if (l == 0
          && (layout_.traits.drop_input || layout_.table_of[t] != absent
              || layout_.feature_rows[t].packed())
          && !multiplies_packed(id))
        sum.kept += inputs * double(type.in);
      // The sparse matrix, by rows and for a while by columns.
      if (l == 0 && multiplies_packed(id))
        sum.kept += 2 * inputs * double(layout_.feature_rows[t].floats() + 2);
      // Products over pieces of rows, before they are added up.
      sum.transient +=
        std::min(16.0, rows / 2048) * double(type.in) * double(type.sum);
    }
    for (std::size_t t = 0; t < layer.types.size(); ++t)
      if (layout_.traits.attends_across())
        add_projections(l, t, sum);
    for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
      if (l == 0)
        add_shared_edges(r, sum);
      if (layout_.carries(l, r))
        add_relation(l, r, sum);
    }
    return sum;
  }

  /// What makes logits of the outputs: jumping knowledge and the decoder.
  layer_floats of_head() const {
    layer_floats sum;
    if (layout_.jumps())
      for (const auto type : layout_.outputs)
        add_jumping(nodes(type, 0), sum);
    if (layout_.traits.averages_layers())
      for (const auto type : layout_.outputs)
        sum.kept += nodes(type, 0) * double(layout_.output_width);
    if (layout_.decoder)
      add_decoder(sum);
    return sum;
  }

private:
  double nodes(node_type_id type, int hop) const {
    return known(def_, info_, bound_, type, hop);
  }

  /// Rows of the seeds side by side, with outputs and gradients.
  void add_jumping(double seeds, layer_floats& sum) const {
    const auto width = double(layout_.hops) * double(def_.model.hidden);
    const auto out = double(layout_.output_width);
    sum.kept += seeds * (2 * width + out);
    sum.transient += std::min(16.0, seeds / 2048) * width * out;
  }

  /// Rows of a batch, and slots of each: `link_slots`.
  struct row_slots {
    double rows = 0;
    double own = 1;
    double joint = 0;
  };
  /// @param batch Which may stand for all rows there are. @param seeds These.
  row_slots slots_of(const dataset_info& chosen, phase which,
                     std::uint32_t batch, std::uint64_t seeds) const {
    const auto wrong = numbers_of(def_, chosen, *chosen_task(chosen), which);
    const auto replicas = std::max(1.0, double(def_.trainer.replicas));
    const auto rows =
      std::ceil(double(std::min<std::uint64_t>(batch, seeds)) / replicas);
    return {rows * double(1 + wrong.pairs), // Pairs are rows.
            double(1 + wrong.destinations + wrong.sources),
            double(wrong.joint_destinations + wrong.joint_sources)};
  }

  /// Lists of nodes that are no candidates, where all nodes are ranked.
  double of_ranking(const dataset_info& chosen, phase which,
                    double rows) const {
    const auto& task = *chosen_task(chosen);
    const auto all = numbers_of(def_, chosen, task, which).all;
    std::int64_t candidates = 0;
    for (const auto type : task.edge_types) {
      const auto& ends = chosen.edge_types[static_cast<std::size_t>(type)];
      if (all[0])
        candidates = std::max(candidates, count_of(ends.destination));
      if (all[1])
        candidates = std::max(candidates, count_of(ends.source));
    }
    if (candidates == 0)
      return 0;
    return double(ranked_list_bytes(std::int64_t(rows), candidates, threads()))
           / sizeof(float);
  }

  std::int64_t count_of(node_type_id type) const {
    return info_.node_types[static_cast<std::size_t>(type)].count;
  }

  /// The stack of outputs with its gradient; queries and logits, with theirs;
  /// and lists of candidates, by row and by node. Of an evaluation only logits
  /// and candidates.
  void add_decoder(layer_floats& sum) const {
    const auto width = double(layout_.output_width);
    const auto task = choose_task(info_, def_.task); // The layout has it.
    const auto& chosen = task.value();
    const auto& target =
      chosen.node_types[static_cast<std::size_t>(chosen.target)];
    const auto training =
      slots_of(chosen, phase::train, def_.train.batch_size,
               static_cast<std::uint64_t>(target.split_counts[0]));
    const auto classes = double(layout_.classes);
    const auto of_slots = [classes](const row_slots& slots, double each) {
      return slots.rows * (slots.own + slots.joint) * classes * each;
    };
    auto evaluation = 0.0;
    auto measured_rows = 0.0;
    for (const auto which : {phase::validation, phase::test}) {
      const auto slots = slots_of(chosen, which, def_.evaluate.batch_size,
                                  most_measured_seeds(def_, target));
      measured_rows = std::max(measured_rows, slots.rows);
      evaluation =
        std::max(evaluation, 2 * slots.rows * width + of_slots(slots, 3)
                               + of_ranking(chosen, which, slots.rows));
    }
    double stack = 0;
    for (const auto type : layout_.outputs)
      stack += nodes(type, 0) * width;
    sum.kept += 2 * stack; // Ranking has panels in place of gradients.
    sum.kept +=
      std::max(4 * training.rows * width + of_slots(training, 4), evaluation);
    switch (layout_.decoder->kind) {
    case decoder_kind::cosine:
      sum.kept += 2 * stack;
      break;
    case decoder_kind::bilinear:
      // Gathered rows and products, and those of pieces.
      sum.transient += 4 * training.rows * width + 16 * width * width;
      break;
    case decoder_kind::mlp: {
      const auto columns =
        layout_
          .parameters[static_cast<std::size_t>(layout_.decoder->hidden_bias)]
          .shape.back();
      // Scores are summed in panels.
      const auto inside = double(
        layout_.classes > 1 ? columns : panels_of(columns) * panel_nodes);
      const auto at_once =
        std::min(of_slots(training, 1), 16.0 * 1024) * (width + 3 * inside);
      sum.kept += 4 * stack / width * inside + of_slots(training, 4);
      sum.transient += at_once + 48 * width * inside;
      if (layout_.decoder->edge_weight == absent)
        break;
      // Of the rows' own edges: their part of the layer, and its gradient.
      sum.kept += std::max(2 * training.rows, measured_rows) * inside;
      sum.transient += 16 * edge_width() * inside;
      break;
    }
    default:
      break;
    }
    // Products with joint negatives, and their gradients.
    if (training.joint != 0)
      sum.transient += training.rows * training.joint
                       + 2 * (training.rows + training.joint) * width;
  }

  /// Of features that the decoder reads.
  double edge_width() const {
    return double(
      layout_.parameters[static_cast<std::size_t>(layout_.decoder->edge_weight)]
        .shape.front());
  }

  double edges(std::size_t relation) const {
    if (layout_.relations.size() != 1)
      return double(bound_.edges[relation]);
    return std::accumulate(bound_.edges.begin(), bound_.edges.end(), 0.0);
  }

  /// On GPUs rows of all kinds are unpacked.
  bool multiplies_packed(node_type_id type) const {
    return def_.trainer.device == "cpu" && layout_.multiplies_packed(type);
  }

  /// Keys, values and queries of a type, with their gradients, and rows ahead
  /// of and behind its gate.
  void add_projections(int l, std::size_t t, layer_floats& sum) const {
    const auto& layer = layout_.layers[l];
    const auto& type = layer.types[t];
    const auto id = static_cast<node_type_id>(t);
    const auto inputs = nodes(id, layout_.hops - l);
    const auto rows = nodes(id, layout_.hops - l - 1);
    const auto width = double(layer.inside);
    // Products over pieces of rows, before they are added up.
    const auto pieces = std::min(16.0, inputs / 2048);
    auto projected = 0.0;
    if (type.key != absent)
      projected += 2 * inputs * width;
    if (type.query != absent)
      projected += rows * width;
    sum.kept += projected;
    sum.transient += projected + pieces * double(type.in) * width;
    if (type.out == 0)
      return;
    sum.kept += rows * width; // Sums ahead of GELU.
    if (type.skip != absent)
      sum.transient += rows * double(std::max(type.in, type.out));
  }

  void add_mapped_relation(const layer_layout& layer, double rows,
                           double relation_edges, layer_floats& sum) const {
    const auto width = double(layer.inside);
    const auto scores = relation_edges * double(layer.heads);
    sum.kept += 2 * rows * width + 2 * width * width + scores;
    sum.transient += 2 * rows * width + scores + 2 * relation_edges
                     + (2 + std::min(16.0, rows / 2048)) * width * width;
    if (layout_.attention_threshold != 0) // The weights after dropout.
      sum.kept += scores;
  }

  /// Whether no relation before it has the same node types.
  bool is_first(std::size_t r) const {
    const auto& ends = layout_.relations[r];
    return std::none_of(
      layout_.relations.begin(), layout_.relations.begin() + std::ptrdiff_t(r),
      [&ends](const relation_info& one) {
        return one.source == ends.source && one.destination == ends.destination;
      });
  }

  int threads() const {
    return def_.trainer.threads == 0 ? 16 : def_.trainer.threads;
  }

  /// The most edges of a relation that a destination has.
  double row_edges(std::size_t r) const {
    const auto& sampler = def_.sampler;
    if (!sampler.edge_fanouts.empty()
        || sampler.subgraph != subgraph_kind::directional
        || !draws_lists(sampler.method))
      return edges(r);
    const auto takes_all = std::ranges::min(sampler.fanouts) < 0
                           || def_.evaluate.neighbours == neighbour_use::all;
    double most = 0; // A relation may merge all types of edges.
    for (const auto& type : info_.edge_types)
      most += double(std::max<std::int64_t>(
        std::ranges::max(sampler.fanouts), takes_all ? type.max_in_degree : 0));
    return std::min(most, edges(r));
  }

  /// What edges have for all layers: logarithms of weights, and rows with the
  /// columns that are made of ages, with the gradients of what is learnt.
  void add_shared_edges(std::size_t r, layer_floats& sum) const {
    const auto& relation = layout_.relations[r];
    if (layout_.traits.attends() && weighs_edges(def_, info_))
      sum.kept += edges(r); // Logarithms.
    if (relation.age_width == 0)
      return;
    sum.kept += edges(r) * double(relation.edge_width);
    if (layout_.ages->learns())
      sum.kept += (edges(r) + nodes(relation.destination, layout_.hops - 1))
                  * double(relation.age_width);
  }

  /// What features of a relation's edges take besides: their sums, once for all
  /// layers, or for each head of a layer; rows of a few edges, or bits of all.
  void add_edges(int l, std::size_t r, layer_floats& sum) const {
    const auto& relation = layout_.relations[r];
    const auto& layer = layout_.layers[l];
    if (layer.edge_weights[r] == absent)
      return;
    const auto width =
      double(layout_.parameters[static_cast<std::size_t>(layer.edge_weights[r])]
               .shape.back());
    const auto features = double(relation.edge_width);
    const auto rows = nodes(relation.destination, layout_.hops - l - 1);
    if (layout_.traits.attends_across()) { // Queries and sums for each head.
      const auto of_heads = double(layer.heads) * features;
      sum.kept += 2 * rows * of_heads + of_heads * width;
      sum.transient += 2 * rows * of_heads
                       + (1 + std::min(16.0, rows / 2048)) * of_heads * width;
      return;
    }
    if (layer.edge_scores[r] != absent) {
      const auto of_heads = double(layer.heads) * features;
      sum.kept += edges(r) * double(layer.heads) // Scores, and there and back
                  + 2 * rows * of_heads          // sums for each head.
                  + of_heads * width;
      sum.transient += (1 + std::min(16.0, rows / 2048)) * of_heads * width;
      return;
    }
    if (layout_.adds_edges()) {
      sum.kept += edges(r) * double(edge_relu_bytes(std::int64_t(width))) / 4
                  + (features + 1) * (width + 16);
      sum.transient +=
        std::min(16.0, rows / 256 + 1) * (features + 1) * (width + 16);
      return;
    }
    if (layout_.traits.attends()) {
      // A few rows of each thread, or one row that has many edges.
      const auto columns = product_columns(std::int64_t(width));
      const auto of_thread = double(product_edges(columns)) + row_edges(r);
      sum.kept += features * double(columns);
      sum.transient +=
        (std::min(threads() * of_thread, edges(r)) + threads())
          * double(columns)
        + std::min(16.0, rows / 256 + 1) * features * double(columns);
      return;
    }
    if (l == 0)
      sum.kept += nodes(relation.destination, layout_.hops - 1) * features;
    sum.transient += std::min(16.0, rows / 2048) * features * width;
  }

  void add_relation(int l, std::size_t r, layer_floats& sum) const {
    const auto& relation = layout_.relations[r];
    add_edges(l, r, sum);
    const auto& layer = layout_.layers[l];
    const auto inputs = nodes(relation.source, layout_.hops - l);
    const auto rows = nodes(relation.destination, layout_.hops - l - 1);
    const auto in = double(layer.types[relation.source].in);
    const auto out = double(layer.types[relation.destination].sum);
    if (layout_.traits.averages_layers()) {
      if (l == 0) // All layers have the same scales.
        sum.kept += inputs + rows;
      return;
    }
    if (layout_.traits.attends_across())
      return add_mapped_relation(layer, rows, edges(r), sum);
    if (layout_.bases != 0) {
      // Joined edges, there and back; sums of chunks, and products of pieces.
      const auto bases = double(layout_.bases);
      sum.kept += 6 * edges(r) + 4 * (rows + inputs);
      if (is_first(r))
        sum.transient += 2 * (65536 + 16 * bases * std::max(in, out))
                         + (2 + std::min(16.0, rows / 1024)) * bases * in * out;
      return;
    }
    if (layout_.traits.attends()) {
      const auto heads = double(layer.heads);
      const auto width = layer.last ? heads * out : out;
      const auto scores = (edges(r) + inputs + 2 * rows) * heads;
      sum.kept += inputs * width + scores;
      sum.transient +=
        (inputs + rows) * width + scores + 2 * (edges(r) + inputs);
      if (layout_.attention_threshold != 0) // The weights after dropout.
        sum.kept += (edges(r) + rows) * heads;
      if (layout_.message_threshold != 0) // The messages after dropout.
        sum.kept += inputs * width;
      if (layer.attention_weight != absent) {
        sum.kept += rows * width;                  // Rows of destinations,
        sum.transient += rows * width;             // their gradients,
        sum.transient += (rows / 256 + 1) * width; // sums of pieces,
        sum.transient +=                           // and bits of edges.
          edges(r) * double(joint_sign_bytes(std::int64_t(width), layer.heads))
          / 4;
      }
      return;
    }
    if (layout_.traits.message == message_form::maximum) {
      const auto inside = layout_.traits.pools ? double(def_.model.hidden) : in;
      sum.kept += 2 * rows * inside; // Values, and whose they are.
      sum.transient += rows * inside;
      if (layout_.traits.pools) {
        sum.kept += inputs * inside;
        sum.transient += (inputs + std::min(16.0, inputs / 2048) * in) * inside;
      }
      return;
    }
    // Relations are summed for all rows if half of them have in-edges.
    const auto summed =
      layout_.traits.sums_all_rows() ? rows : std::min(rows, 2 * edges(r));
    const auto transformed = out < in ? inputs * out : 0;
    const auto sparse = l == 0 && multiplies_packed(relation.source);
    const auto most =
      sparse ? inputs * out : std::max(summed * in, transformed);
    sum.kept += most;
    sum.transient += most + std::min(rows, edges(r)) * out + edges(r);
  }

  const definition& def_;
  const dataset_info& info_;
  const subgraph_bound& bound_;
  const model_layout& layout_;
};

} // namespace

memory_estimate estimate_memory(const definition& def, const dataset_info& info,
                                const subgraph_bound& bound) {
  const auto layout = make_layout(def, info);
  if (!layout)
    return {};
  const auto& shape = layout.value();
  // Values, moments, the best so far; dense gradients of all ranks, twice.
  const auto copies = 2 + optimizer::moments(def.optimizer);
  memory_estimate out;
  out.parameters = static_cast<std::uint64_t>(
    (shape.parameter_count() * copies + 2 * shape.dense_size) * 4);
  // How much of the decay each row of a table has had.
  if (def.optimizer.embedding_decay != 0)
    for (const auto& table : shape.tables)
      out.parameters += static_cast<std::uint64_t>(table.rows) * 4;
  const estimator layers{def, info, bound, shape};
  const auto head = layers.of_head();
  auto kept = head.kept;
  auto transient = head.transient;
  for (int l = 0; l < shape.hops; ++l) {
    const auto floats = layers.of_layer(l);
    kept += floats.kept;
    transient = std::max(transient, floats.transient);
  }
  // Blocks of memory are rounded up by a quarter, and stand in for smaller
  // ones.
  out.activations = static_cast<std::uint64_t>((kept + transient) * 4 * 1.5);
  return out;
}

std::uint64_t largest_activations(const definition& def,
                                  const dataset_info& info) {
  const auto training = resolve_fanouts(def, info);
  const auto evaluation = resolve_evaluation_fanouts(def, info);
  if (!training || !evaluation || def.trainer.replicas == 0)
    return 0;
  const auto of = [&def, &info](phase which, const sampling_scheme& scheme,
                                std::int64_t batch) {
    const auto replicas = std::int64_t{def.trainer.replicas};
    const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
    auto seeds = target.count;
    if (chosen_task(info) != nullptr)
      seeds = which == phase::train
                ? target.split_counts[0]
                : static_cast<std::int64_t>(most_measured_seeds(def, target));
    batch = std::min(batch, seeds); // It may stand for all that there are.
    const auto bound =
      bound_of(info, scheme,
               seed_bound(def, info, which, (batch + replicas - 1) / replicas));
    return estimate_memory(def, info, bound).activations;
  };
  return std::max(
    {of(phase::train, training.value(), def.train.batch_size),
     of(phase::validation, evaluation.value(), def.evaluate.batch_size),
     of(phase::test, evaluation.value(), def.evaluate.batch_size)});
}

} // namespace graphmill
