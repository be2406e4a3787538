#include "pipelines/model/layerwise/layerwise_model.hpp"

#include "partition/files/mapped_file.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/kernels/activation.hpp"
#include "pipelines/kernels/attention/attention.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/passes/layer_mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// Blocks that pieces leave for the next ones.
constexpr std::size_t kept_piece_bytes = std::size_t{64} << 20;

/// What went wrong in the first piece of those that have failed.
class first_failure {
public:
  void note(std::int64_t piece, error reason) {
    const std::scoped_lock lock{mutex_};
    if (!reason_ || piece < piece_) {
      piece_ = piece;
      reason_ = std::move(reason);
    }
    failed_ = true;
  }
  bool any() const { return failed_; }
  result<void> get() {
    if (reason_)
      return *std::move(reason_);
    return ok();
  }

private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::int64_t piece_ = 0;
  std::optional<error> reason_;
};

/// Runs `f`, turning what a product or an allocation throws into an error.
template <class F>
auto without_throwing(const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory left to predict layer by layer; say with --memory "
                "what there is, and more goes to disk");
  } catch (const std::exception& e) {
    return fail(ec::internal, "cannot predict layer by layer: {}", e.what());
  }
}

/// The weights of a model with bases as those of one without.
result<std::vector<named_tensor>>
summed_bases(const model_layout& layout,
             const std::vector<named_tensor>& weights) {
  auto store = initial_parameters(layout, 0);
  GRAPHMILL_TRYV(from_tensors(layout, weights, store));
  auto out = weights;
  for (std::size_t l = 0; l < layout.layers.size(); ++l)
    for (std::size_t r = 0; r < layout.relations.size(); ++r) {
      const auto& layer = layout.layers[l];
      if (layer.weights[r] == absent)
        continue;
      const auto& shape =
        layout.parameters[static_cast<std::size_t>(layer.weights[r])].shape;
      const auto bases = store.at(layout, layer.weights[r]);
      const auto factors = store.at(layout, layer.factors[r]);
      auto& sum = out.emplace_back(named_tensor{
        fmt::format("layer{}.{}.weight", l + 1, layout.relations[r].name),
        {shape[1], shape[2]},
        {}});
      const auto size = static_cast<std::size_t>(shape[1] * shape[2]);
      sum.values.resize(size);
      for (std::int64_t b = 0; b < shape[0]; ++b)
        for (std::size_t i = 0; i < size; ++i)
          sum.values[i] += factors.data[b] * bases.data[b * size + i];
    }
  return out;
}

} // namespace

layerwise_model::layerwise_model(model_layout layout, const definition& def,
                                 original_graph graph, sampling_scheme scheme,
                                 options how)
  : layout_(std::move(layout)), parameters_(initial_parameters(layout_, 0)),
    graph_(std::move(graph)), scheme_(std::move(scheme)), how_(std::move(how)),
    rounded_(rounds_features(def)), weights_(weighs_edges(def, graph_.info())),
    room_(how_.memory_bytes, how_.scratch),
    pool_(buffer_pool::make(kept_piece_bytes)), team_(how_.threads) {}

result<std::unique_ptr<layerwise_model>>
layerwise_model::create(const definition& def,
                        const std::vector<named_tensor>& weights,
                        original_graph graph, options how) {
  return without_throwing([&]() -> result<std::unique_ptr<layerwise_model>> {
    if (def.sampler.method == sampling_method::pinsage)
      return fail(ec::invalid_argument,
                  "`sampler.method: pinsage` learns from visited nodes, and "
                  "layer by layer all neighbours would be heard; predict from "
                  "batches, without --all");
    GRAPHMILL_TRY(auto layout, make_layout(def, graph.info()));
    GRAPHMILL_TRY(auto scheme, resolve_fanouts(def, graph.info()));
    GRAPHMILL_TRY(const auto seen,
                  resolve_evaluation_fanouts(def, graph.info()));
    scheme.level = seen.level;
    auto summed = weights;
    if (layout.bases != 0) {
      GRAPHMILL_TRY(summed, summed_bases(layout, weights));
      auto plain = def;
      plain.model.bases = 0;
      GRAPHMILL_TRY(layout, make_layout(plain, graph.info()));
    }
    std::unique_ptr<layerwise_model> out{
      new layerwise_model{std::move(layout), def, std::move(graph),
                          std::move(scheme), std::move(how)}};
    GRAPHMILL_TRYV(from_tensors(out->layout_, summed, out->parameters_));
    return out;
  });
}

bool layerwise_model::far(const rows& of) const {
  // Features in place that are larger than what may be in memory are read from
  // disk, too.
  if (of.owner)
    return of.owner->on_disk();
  return static_cast<std::uint64_t>(of.view.size()) * sizeof(float)
         > how_.memory_bytes;
}

/// All rows of a matrix, made by pieces.
/// @param columns 0: pieces give nothing that is kept.
result<layerwise_model::rows> layerwise_model::make(std::int64_t count,
                                                    std::int64_t columns,
                                                    const piece_rows& piece) {
  GRAPHMILL_TRY(auto store, room_.make(count, columns));
  first_failure failure;
  team_.for_pieces(
    count, chunk_rows,
    [&](std::int64_t number, std::int64_t begin, std::int64_t end) {
      if (failure.any())
        return;
      if (how_.stopped && how_.stopped())
        return failure.note(-1, fail(ec::cancelled, "stopped by the user"));
      auto made = piece(begin, end);
      if (!made)
        return failure.note(number, made.error());
      if (auto done = store->write(begin, made.value().view()); !done)
        failure.note(number, done.error());
    });
  GRAPHMILL_TRYV(failure.get());
  if (auto fault = mapped_file::first_fault())
    return *fault;
  return rows{store->view(), store};
}

result<layerwise_model::rows> layerwise_model::input(node_type_id type) {
  const auto count = graph_.count(type);
  const auto width = layout_.layers.front().types[type].in;
  if (layout_.multiplies_packed(type)) // Read by pieces, where it is needed.
    return rows{{nullptr, count, width}, nullptr};
  if (const auto table = layout_.table_of[type]; table != absent)
    return rows{{parameters_.tables[table].data(), count, width}, nullptr};
  const auto* in_place = rounded_ ? nullptr : graph_.features_in_place(type);
  GRAPHMILL_TRY(
    auto out,
    make(count, in_place != nullptr ? 0 : width,
         [&](std::int64_t begin, std::int64_t end) -> result<owned_matrix> {
           owned_matrix read{end - begin, width, pool_};
           GRAPHMILL_TRYV(
             graph_.features(type, begin, end, rounded_, read.data()));
           // In place they were but checked, and nothing of them is written.
           return in_place != nullptr ? owned_matrix{end - begin, 0, pool_}
                                      : std::move(read);
         }));
  return in_place != nullptr ? rows{{in_place, count, width}, nullptr} : out;
}

/// h of a type times a weight matrix, plus a bias if there is one, activated.
/// @param h No data: the packed features of the type.
result<layerwise_model::rows> layerwise_model::product(node_type_id type,
                                                       const_matrix h,
                                                       int weight, int bias,
                                                       activation then) {
  const auto by = parameters_.at(layout_, weight);
  const auto* added =
    bias == absent ? nullptr : parameters_.at(layout_, bias).data;
  return make(
    h.rows, by.columns,
    [&](std::int64_t begin, std::int64_t end) -> result<owned_matrix> {
      owned_matrix z{end - begin, by.columns, pool_};
      if (h.data == nullptr) {
        GRAPHMILL_TRY(const auto sparse,
                      graph_.sparse_features(type, begin, end, rounded_));
        sparse.multiply(0, end - begin, by, 0, z.view());
      } else {
        multiply(h.slice(begin, end), by, 0, z.view());
      }
      if (added != nullptr || then != activation::none)
        activate(z.view(), added, then, {}, 0, end - begin, z.view());
      return z;
    });
}

result<layerwise_model::projections>
layerwise_model::project(int layer, const std::vector<rows>& in) {
  projections out{std::vector<rows>(in.size()), std::vector<rows>(in.size())};
  for (std::size_t t = 0; t < in.size(); ++t) {
    const auto& type = layout_.layers[layer].types[t];
    if (type.key == absent)
      continue;
    const auto is = static_cast<node_type_id>(t);
    GRAPHMILL_TRY(out.keys[t],
                  product(is, in[t].view, type.key, absent, activation::none));
    GRAPHMILL_TRY(out.values[t], product(is, in[t].view, type.value,
                                         type.value_bias, activation::none));
  }
  return out;
}

/// What a layer gives, by node type.
result<std::vector<layerwise_model::rows>>
layerwise_model::next_layer(int layer, const std::vector<rows>& in) {
  GRAPHMILL_TRY(const auto projected, project(layer, in));
  std::vector<rows> out(in.size());
  for (std::size_t t = 0; t < in.size(); ++t)
    if (layout_.layers[layer].types[t].out != 0) {
      const auto is = static_cast<node_type_id>(t);
      GRAPHMILL_TRY(out[t], propagation_
                              ? propagated(layer, is, in)
                              : layer_rows(layer, is, in, projected));
    }
  return out;
}

/// The edge types of a relation from which training samples for a layer.
std::vector<edge_type_id>
layerwise_model::sampled_types(int layer, std::size_t relation) const {
  const auto& fanouts =
    scheme_.fanouts[static_cast<std::size_t>(layout_.hops - 1 - layer)];
  std::vector<edge_type_id> out;
  for (std::size_t e = 0; e < fanouts.size(); ++e)
    if (fanouts[e] != 0 && (!layout_.traits.typed || e == relation))
      out.push_back(static_cast<edge_type_id>(e));
  return out;
}

result<layerwise_model::rows>
layerwise_model::propagated(int layer, node_type_id type,
                            const std::vector<rows>& in) {
  std::vector<degree_propagation::relation> relations;
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    if (const auto& ends = layout_.relations[r]; ends.destination == type)
      relations.push_back({ends.source, sampled_types(layer, r),
                           in[static_cast<std::size_t>(ends.source)].view});
  return make(graph_.count(type), layout_.output_width,
              [&](std::int64_t begin, std::int64_t end) {
                return propagation_->rows(type, relations, begin, end, pool_);
              });
}

/// What sources go through alone is computed once for each of them here.
result<void> layerwise_model::add_relation(
  int layer, std::size_t number, const std::vector<rows>& in,
  std::vector<layer_piece::relation>& out, std::vector<rows>& owners) {
  const auto& shape = layout_.layers[layer];
  const auto& ends = layout_.relations[number];
  auto& one = out.emplace_back();
  one.number = number;
  one.edge_types = sampled_types(layer, number);
  auto sources = in[ends.source];
  const auto h = sources.view;
  if (layout_.traits.pools) {
    GRAPHMILL_TRY(sources,
                  product(ends.source, h, shape.pool_weights[number],
                          shape.pool_biases[number], activation::relu));
  } else if (layout_.traits.attends()) {
    GRAPHMILL_TRY(sources, product(ends.source, h, shape.weights[number],
                                   absent, activation::none));
    const auto scored = layout_.traits.typed ? shape.source_scores[number]
                                             : shape.attention_source;
    const auto z = sources.view;
    if (layout_.traits.score == attention_score::separate) {
      GRAPHMILL_TRY(
        auto scores,
        make(z.rows, shape.heads, [&](std::int64_t begin, std::int64_t end) {
          owned_matrix own{end - begin, shape.heads, pool_};
          head_products(z.slice(begin, end),
                        parameters_.at(layout_, scored).data, shape.heads, 0,
                        end - begin, own.data());
          return result<owned_matrix>{std::move(own)};
        }));
      one.source_scores = scores.view;
      owners.push_back(std::move(scores));
    }
  } else if (h.data == nullptr) {
    // Sums are linear: rows are transformed before, and not after.
    GRAPHMILL_TRY(sources, product(ends.source, h, shape.weights[number],
                                   absent, activation::none));
    one.transformed = true;
  }
  one.sources = sources.view;
  one.far = far(sources);
  if (!scales_.column.empty())
    one.source_scales = scales_.column.data();
  owners.push_back(std::move(sources));
  return ok();
}

result<layerwise_model::rows>
layerwise_model::layer_rows(int layer, node_type_id type,
                            const std::vector<rows>& in,
                            const projections& projected) {
  layer_piece::setting what{.layout = &layout_,
                            .parameters = &parameters_,
                            .graph = &graph_,
                            .layer = layer,
                            .type = type,
                            .input = in[type].view,
                            .relations = {},
                            .degrees = degrees_.empty() ? nullptr : &degrees_,
                            .in_weights =
                              in_weights_.empty() ? nullptr : &in_weights_,
                            .level = scheme_.level,
                            .weights = weights_,
                            .rounded = rounded_,
                            .pool = pool_};
  std::vector<rows> owners; // Of what relations borrow.
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    if (layout_.layers[layer].weights[r] != absent
        && layout_.relations[r].destination == type) {
      if (!layout_.traits.attends_across()) {
        GRAPHMILL_TRYV(add_relation(layer, r, in, what.relations, owners));
        continue;
      }
      const auto source = layout_.relations[r].source;
      auto& one = what.relations.emplace_back();
      one.number = r;
      one.edge_types = sampled_types(layer, r);
      one.sources = projected.values[source].view;
      one.keys = projected.keys[source].view;
      one.far = far(projected.values[source]) || far(projected.keys[source]);
    }
  const layer_piece piece{std::move(what)};
  return make(graph_.count(type), layout_.layers[layer].types[type].out,
              [&piece](std::int64_t begin, std::int64_t end) {
                return piece.rows(begin, end);
              });
}

/// What all layers give for a type, side by side.
result<layerwise_model::rows>
layerwise_model::joined(const std::vector<rows>& layers) {
  std::int64_t width = 0;
  for (const auto& layer : layers)
    width += layer.view.columns;
  return make(layers.front().view.rows, width,
              [&](std::int64_t begin, std::int64_t end) {
                owned_matrix out{end - begin, width, pool_};
                std::int64_t at = 0;
                for (const auto& layer : layers) {
                  for (auto i = begin; i < end; ++i)
                    std::copy_n(layer.view.row(i), layer.view.columns,
                                out.view().row(i - begin) + at);
                  at += layer.view.columns;
                }
                return result<owned_matrix>{std::move(out)};
              });
}

/// The mean of what enters the first layer and what all layers give.
result<layerwise_model::rows>
layerwise_model::mean_of(const std::vector<rows>& layers) {
  const auto of = layers.front().view;
  return make(of.rows, of.columns, [&](std::int64_t begin, std::int64_t end) {
    layer_mean mean{end - begin, of.columns,
                    static_cast<int>(layers.size()) - 1, pool_};
    for (const auto& layer : layers)
      mean.add(layer.view.slice(begin, end));
    owned_matrix out{end - begin, of.columns, pool_};
    std::copy_n(mean.forward().data, of.columns * (end - begin), out.data());
    return result<owned_matrix>{std::move(out)};
  });
}

/// What the model gives for a type, of what its layers give.
/// @param layers The last one; with jumping knowledge all of them, and of means
/// what enters the first one, too.
/// @param embeddings Receives what enters the head of jumping knowledge.
result<layerwise_model::rows>
layerwise_model::output_of(const std::vector<rows>& layers, rows& embeddings) {
  if (layout_.traits.averages_layers())
    return mean_of(layers);
  if (!layout_.jumps())
    return layers.back();
  GRAPHMILL_TRY(embeddings, joined(layers));
  const auto all = embeddings.view;
  const auto weight = parameters_.at(layout_, layout_.jumping_weight);
  const auto* bias = parameters_.at(layout_, layout_.jumping_bias).data;
  return make(
    all.rows, layout_.output_width, [&](std::int64_t begin, std::int64_t end) {
      owned_matrix y{end - begin, layout_.output_width, pool_};
      multiply(all.slice(begin, end), weight, 0, y.view());
      activate(y.view(), bias, activation::none, {}, 0, end - begin, y.view());
      return result<owned_matrix>{std::move(y)};
    });
}

result<void> layerwise_model::check_embeddings(
  const std::vector<node_type_id>& types) const {
  for (const auto type : types) {
    const auto& name = graph_.info().node_types[type].name;
    const auto reads = [&](int layer) {
      return layout_.layers[layer].types[type].in != 0;
    };
    auto last = layout_.hops - 1;
    while (last >= 0 && !reads(last))
      --last;
    if (last < 0)
      return fail(ec::invalid_argument,
                  "no layer of the model reads nodes of type {}, so that there "
                  "are no embeddings of them",
                  name);
    if (last == 0 && type != layout_.target && layout_.table_of[type] == absent)
      return fail(ec::invalid_argument,
                  "nodes of type {} are read by the first layer alone: what "
                  "enters it are their features, and the model computes "
                  "nothing else of them",
                  name);
  }
  return ok();
}

result<layerwise_model::outcome>
layerwise_model::run(const std::vector<node_type_id>& embeddings) {
  return without_throwing([&]() -> result<outcome> {
    GRAPHMILL_TRYV(check_embeddings(embeddings));
    const auto types = layout_.table_of.size();
    if (layout_.traits.averages_layers()) {
      GRAPHMILL_TRY(propagation_,
                    degree_propagation::create(graph_, layout_.output_width,
                                               scheme_.level, weights_));
    } else if (layout_.traits.needs_degrees()) {
      GRAPHMILL_TRY(degrees_, graph_.in_degrees(layout_.target, scheme_.level));
      if (weights_) {
        GRAPHMILL_TRY(in_weights_,
                      graph_.in_weights(layout_.target, scheme_.level));
      }
      csr none;
      none.indptr.push_back(0);
      scales_ = symmetric_scales(none, 0, degrees_, in_weights_);
    }
    std::vector<rows> h(types);
    for (std::size_t t = 0; t < types; ++t)
      if (layout_.layers.front().types[t].in != 0) {
        GRAPHMILL_TRY(h[t], input(static_cast<node_type_id>(t)));
      }
    std::vector<rows> kept(types); // As they entered the last layer so far.
    // By node type: what `output_of` takes.
    std::vector<std::vector<rows>> given(types);
    const auto all_layers = layout_.jumps() || layout_.traits.averages_layers();
    // Without messages, vectors of nodes are the outputs.
    const auto hops =
      layout_.traits.looks_up && !layout_.traits.hears() ? 0 : layout_.hops;
    if (hops == 0 || layout_.traits.averages_layers())
      for (const auto type : layout_.outputs)
        given[static_cast<std::size_t>(type)].push_back(
          h[static_cast<std::size_t>(type)]);
    const auto tell = [this, hops](int done) {
      if (how_.on_progress)
        how_.on_progress({"layers", static_cast<std::uint64_t>(done),
                          static_cast<std::uint64_t>(hops)});
    };
    for (int l = 0; l < hops; ++l) {
      tell(l);
      GRAPHMILL_TRY(auto next, next_layer(l, h));
      for (const auto type : embeddings)
        if (layout_.layers[l].types[type].in != 0)
          kept[type] = h[type];
      h = std::move(next);
      if (all_layers || l + 1 == hops)
        for (const auto type : layout_.outputs)
          given[static_cast<std::size_t>(type)].push_back(
            h[static_cast<std::size_t>(type)]);
    }
    h.clear();
    outcome out;
    for (const auto type : layout_.outputs) {
      const auto at = static_cast<std::size_t>(type);
      GRAPHMILL_TRY(auto made, output_of(given[at], kept[at]));
      out.outputs.push_back(std::move(made));
      given[at].clear();
    }
    tell(hops);
    for (const auto type : embeddings)
      out.embeddings.push_back(kept[type]);
    out.file_bytes = room_.file_bytes();
    return out;
  });
}

} // namespace graphmill
