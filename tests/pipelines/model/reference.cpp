#include "tests/pipelines/model/reference.hpp"

#include "tests/pipelines/model/reference_rows.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill::test {

namespace {

double shape(double x, activation kind) {
  if (kind == activation::relu)
    return std::max(x, 0.0);
  if (kind == activation::elu)
    return x > 0 ? x : std::exp(x) - 1;
  return x;
}

void normalise(row& x, const row& gain, const row& shift) {
  double mean = 0;
  for (auto v : x)
    mean += v / double(x.size());
  double variance = 0;
  for (auto v : x)
    variance += (v - mean) * (v - mean) / double(x.size());
  for (std::size_t c = 0; c < x.size(); ++c)
    x[c] = (x[c] - mean) / std::sqrt(variance + 1e-5) * gain[c] + shift[c];
}

double leaky(double x) {
  return x > 0 ? x : 0.2 * x;
}

} // namespace

reference_model::reference_model(const model_layout& layout,
                                 const minibatch& batch, bool layer_norm)
  : layout_(layout), batch_(batch), layer_norm_(layer_norm) {}

void reference_model::drop(int layer, std::size_t type, rows& values) const {
  if (!training || layout_.drop_threshold == 0)
    return;
  const auto stream = std::uint32_t(layer) << 24 | std::uint32_t(type) << 16
                      | std::uint32_t(batch_.data.key.rank);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t c = 0; c < values[i].size(); ++c)
      values[i][c] *= kept(key, stream, i, c, layout_.drop_threshold);
}

/// What node i attends with to row j in the columns of head h, before the
/// softmax: of the transformed rows z of sources and y of destinations.
/// @param edge What the edge brings, as wide as z; empty: nothing.
double reference_model::score(int l, const row& z, const row& y,
                              const row& edge, std::int64_t h,
                              std::int64_t width) const {
  const auto& shape = layout_.layers[l];
  const auto& name = layout_.parameters;
  const auto& to_source = values.at(name[shape.attention_source].name);
  double sum = 0;
  if (shape.attention_weight != absent) {
    for (auto c = h * width; c < (h + 1) * width; ++c)
      sum += to_source[c] * leaky(z[c] + y[c] + (edge.empty() ? 0 : edge[c]));
    return sum;
  }
  const auto& to_self = values.at(name[shape.attention_destination].name);
  for (auto c = h * width; c < (h + 1) * width; ++c)
    sum += to_source[c] * z[c] + to_self[c] * y[c];
  if (!edge.empty())
    for (auto c = h * width; c < (h + 1) * width; ++c)
      sum += values.at(name[shape.edge_scores[0]].name)[c] * edge[c];
  return leaky(sum);
}

/// The features of an edge, and what is made of its age; empty if layers read
/// none.
row reference_model::edge_row(std::size_t relation, std::int64_t e) const {
  const auto& reads = layout_.relations[relation];
  const auto width = reads.feature_width();
  const auto* from =
    batch_.relations[relation].edge_features.data() + e * width;
  row out(from, from + width);
  if (reads.age_width == 0)
    return out;
  const auto& how = *layout_.ages;
  const auto x = how.scale * double(batch_.relations[relation].ages[e]);
  if (!how.learns())
    out.push_back(std::log(1 + x));
  for (std::int64_t k = 0; how.learns() && k < reads.age_width; ++k)
    out.push_back(std::cos(std::exp(values.at("age.log_frequency")[k]) * x
                           + values.at("age.phase")[k]));
  return out;
}

/// These times the matrix of the layer.
row reference_model::brought(int l, std::size_t relation, std::int64_t e,
                             std::int64_t width) const {
  const auto weight = layout_.layers[l].edge_weights[relation];
  return weight == absent
           ? row{}
           : times(edge_row(relation, e),
                   values.at(layout_.parameters[weight].name), width);
}

reference_model::rows reference_model::inputs(std::size_t type) const {
  rows out;
  const auto width = layout_.layers[0].types[type].in;
  const auto count = batch_.data.graph.nodes[type].found.back();
  const auto table = layout_.table_of[type];
  for (std::int64_t i = 0; i < count; ++i) {
    auto& x = out.emplace_back();
    for (std::int64_t c = 0; c < width; ++c)
      x.push_back(
        table == absent
          ? batch_.data.features[type][i * width + c]
          : values.at(
            layout_.tables[table]
              .name)[batch_.data.embedding_rows[type][i] * width + c]);
  }
  if (layout_.traits.drop_input)
    drop(0, type, out);
  return out;
}

/// By what the messages of each relation into a node are divided.
double reference_model::divisor(node_type_id type, std::int64_t i) const {
  double relations = 0;
  double present = 0;
  for (std::size_t r = 0; r < layout_.relations.size(); ++r) {
    if (layout_.relations[r].destination != type)
      continue;
    const auto& edges = batch_.relations[r].forward;
    double total = 0;
    for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e)
      total += edges.weights.empty() ? 1 : double(edges.weights[e]);
    ++relations;
    present += total != 0;
  }
  return layout_.combine == relation_use::sum    ? 1
         : layout_.combine == relation_use::mean ? present
                                                 : relations;
}

void reference_model::message(int l, std::size_t relation,
                              const std::vector<rows>& in, std::int64_t i,
                              row& sum) const {
  const auto weight = layout_.layers[l].weights[relation];
  if (weight == absent && layout_.traits.kind != model_kind::lightgcn)
    return;
  const auto& ends = layout_.relations[relation];
  const auto& source = in[ends.source];
  const auto& edges = batch_.relations[relation].forward;
  const auto begin = edges.indptr[i];
  const auto end = edges.indptr[i + 1];
  if (layout_.traits.kind == model_kind::sage_max
      || layout_.traits.kind == model_kind::sage_pool)
    return add_to(sum, times(maximum(l, relation, source, i),
                             values.at(layout_.parameters[weight].name),
                             std::int64_t(sum.size())));
  if (layout_.traits.kind == model_kind::rgat)
    return add_to(sum,
                  relational(l, relation, source, in[ends.destination][i], i));
  row mean(layout_.layers[l].types[ends.source].in);
  row edge_mean(layout_.relations[relation].edge_width);
  const auto adds = layout_.layers[l].edge_biases[relation];
  double total = 0;
  for (auto e = begin; e < end; ++e)
    total += weight_of(edges, e);
  if (layout_.traits.kind == model_kind::lightgcn)
    return propagate(relation, source, i, sum);
  const auto in_weight = [this](std::int64_t node) {
    return batch_.data.in_weights.empty() || batch_.data.in_weights[0].empty()
             ? double(batch_.data.degrees[0][node])
             : double(batch_.data.in_weights[0][node]);
  };
  for (auto e = begin; e < end; ++e) {
    const auto j = edges.columns[e];
    if (weight_of(edges, e) == 0)
      continue;
    const auto unit = layout_.traits.kind == model_kind::gin
                      || layout_.traits.kind == model_kind::sage_sum;
    double scale = weight_of(edges, e) / (unit ? 1 : total);
    scale /= divisor(ends.destination, i);
    if (layout_.traits.kind == model_kind::gcn) {
      const double di = batch_.data.degrees[0][i];
      scale = weight_of(edges, e) * di / double(end - begin)
              / std::sqrt((in_weight(i) + 1) * (in_weight(j) + 1));
    }
    if (adds == absent) {
      add_to(mean, source[j], scale);
      add_to(edge_mean, edge_row(relation, e), scale);
      continue;
    }
    auto x = brought(l, relation, e, std::int64_t(mean.size()));
    add_to(x, values.at(layout_.parameters[adds].name));
    add_to(x, source[j]);
    for (auto& v : x)
      v = std::max(v, 0.0);
    add_to(mean, x, scale);
  }
  if (const auto by = layout_.layers[l].edge_weights[relation];
      by != absent && adds == absent)
    add_to(sum, times(edge_mean, values.at(layout_.parameters[by].name),
                      std::int64_t(sum.size())));
  if (layout_.traits.kind == model_kind::gcn)
    add_to(mean, source[i], 1.0 / (in_weight(i) + 1.0));
  if (layout_.traits.kind == model_kind::gin)
    add_to(
      mean, source[i],
      1 + values.at(layout_.parameters[layout_.layers[l].epsilon].name)[0]);
  const auto& matrix = values.at(layout_.parameters[weight].name);
  if (layout_.bases == 0)
    return add_to(sum, times(mean, matrix, std::int64_t(sum.size())));
  const auto& factors =
    values.at(layout_.parameters[layout_.layers[l].factors[relation]].name);
  row whole(mean.size() * sum.size());
  for (std::size_t b = 0; b < factors.size(); ++b)
    for (std::size_t k = 0; k < whole.size(); ++k)
      whole[k] += factors[b] * matrix[b * whole.size() + k];
  add_to(sum, times(mean, whole, std::int64_t(sum.size())));
}

/// Of LightGCN, which knows a node's in-edges of all relations together.
void reference_model::propagate(std::size_t relation, const rows& source,
                                std::int64_t i, row& sum) const {
  const auto& ends = layout_.relations[relation];
  double sampled = 0;
  for (std::size_t r = 0; r < layout_.relations.size(); ++r)
    if (layout_.relations[r].destination == ends.destination) {
      const auto& indptr = batch_.relations[r].forward.indptr;
      sampled += double(indptr[i + 1] - indptr[i]);
    }
  const auto weighs = [this](node_type_id type, std::int64_t node) {
    return batch_.data.in_weights.empty()
               || batch_.data.in_weights[type].empty()
             ? double(batch_.data.degrees[type][node])
             : double(batch_.data.in_weights[type][node]);
  };
  const auto& edges = batch_.relations[relation].forward;
  for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
    const auto j = edges.columns[e];
    const auto both = weighs(ends.destination, i) * weighs(ends.source, j);
    if (both > 0)
      add_to(sum, source[j],
             (edges.weights.empty() ? 1.0 : double(edges.weights[e]))
               * double(batch_.data.degrees[ends.destination][i]) / sampled
               / std::sqrt(both));
  }
}

row reference_model::maximum(int l, std::size_t relation, const rows& source,
                             std::int64_t i) const {
  const auto& shape = layout_.layers[l];
  const auto& edges = batch_.relations[relation].forward;
  const auto pools = layout_.traits.kind == model_kind::sage_pool;
  row best;
  for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
    auto x = source[edges.columns[e]];
    if (pools) {
      const auto& name = layout_.parameters;
      const auto& bias = values.at(name[shape.pool_biases[relation]].name);
      x = times(x, values.at(name[shape.pool_weights[relation]].name),
                std::int64_t(bias.size()));
      add_to(x, bias);
      for (auto& v : x)
        v = std::max(v, 0.0);
    }
    if (best.empty())
      best = x;
    for (std::size_t c = 0; c < x.size(); ++c)
      best[c] = std::max(best[c], x[c]);
  }
  return best; // Empty without neighbours: its product is zero.
}

row reference_model::relational(int l, std::size_t relation, const rows& source,
                                const row& own, std::int64_t i) const {
  const auto& shape = layout_.layers[l];
  const auto value = [this](int p) -> const row& {
    return values.at(layout_.parameters[p].name);
  };
  const auto& to_source = value(shape.source_scores[relation]);
  const auto heads = shape.heads;
  const auto total_width = std::int64_t(to_source.size());
  const auto width = total_width / heads;
  const auto own_scores =
    times(own, value(shape.destination_scores[relation]), heads);
  const auto& edges = batch_.relations[relation].forward;
  const auto stream = std::uint32_t(128 + l) << 24
                      | std::uint32_t(relation) << 16
                      | std::uint32_t(batch_.data.key.rank);
  row totals(heads);
  row joined(total_width);
  for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e) {
    auto z = times(source[edges.columns[e]], value(shape.weights[relation]),
                   total_width);
    const auto edge = brought(l, relation, e, total_width);
    row own = own_scores;
    for (std::int64_t c = 0; c < total_width; ++c) {
      own[c / width] += to_source[c] * z[c];
      if (edge.empty())
        continue;
      own[c / width] += value(shape.edge_scores[relation])[c] * edge[c];
      z[c] += edge[c];
    }
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto score = own[h];
      const auto power = weight_of(edges, e) * std::exp(leaky(score));
      totals[h] += power;
      const auto share = kept(key, stream, std::size_t(e), std::size_t(h),
                              training ? layout_.attention_threshold : 0);
      for (auto c = h * width; c < (h + 1) * width; ++c)
        joined[c] += share * power * z[c];
    }
  }
  row out(shape.last ? width : total_width);
  for (std::int64_t c = 0; c < total_width; ++c)
    if (totals[c / width] > 0)
      out[c % std::int64_t(out.size())] +=
        joined[c] / totals[c / width] / (shape.last ? double(heads) : 1);
  return out;
}

reference_model::rows reference_model::attention(int l, const rows& in,
                                                 std::int64_t count) const {
  const auto& shape = layout_.layers[l];
  const auto& name = layout_.parameters;
  const auto& to_source = values.at(name[shape.attention_source].name);
  const auto heads = shape.heads;
  const auto total_width = std::int64_t(to_source.size());
  const auto width = total_width / heads;
  rows z;
  for (const auto& x : in)
    z.push_back(times(x, values.at(name[shape.weights[0]].name), total_width));
  auto y = z; // Rows of destinations, of which scores are made.
  if (shape.attention_weight != absent)
    for (std::size_t i = 0; i < in.size(); ++i)
      y[i] =
        times(in[i], values.at(name[shape.attention_weight].name), total_width);
  const auto& edges = batch_.relations[0].forward;
  const auto threshold = training ? layout_.attention_threshold : 0;
  const auto rank = std::uint32_t(batch_.data.key.rank);
  const auto edge_stream = std::uint32_t(128 + l) << 24 | rank;
  const auto self_stream = std::uint32_t(192 + l) << 24 | rank;
  auto messages = z; // What is summed, element by element kept or not.
  for (std::size_t j = 0; j < z.size(); ++j)
    for (std::size_t c = 0; c < z[j].size(); ++c)
      messages[j][c] *=
        kept(key, std::uint32_t(192 + l) << 24 | 1u << 16 | rank, j, c,
             training ? layout_.message_threshold : 0);
  rows out;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> from(edges.columns.data() + edges.indptr[i],
                                   edges.columns.data() + edges.indptr[i + 1]);
    from.push_back(i);
    std::vector<row> of_edges;
    for (auto e = edges.indptr[i]; e < edges.indptr[i + 1]; ++e)
      of_edges.push_back(brought(l, 0, e, total_width));
    of_edges.emplace_back(); // The node itself has none.
    row joined(total_width);
    for (std::int64_t h = 0; h < heads; ++h) {
      row powers;
      double total = 0;
      for (std::size_t k = 0; k < from.size(); ++k) {
        powers.push_back(
          (k + 1 == from.size() // The node itself.
             ? 1.0
             : weight_of(edges, edges.indptr[i] + std::int64_t(k)))
          * std::exp(score(l, z[from[k]], y[i], of_edges[k], h, width)));
        total += powers.back();
      }
      for (std::size_t k = 0; k < from.size(); ++k) {
        const auto column = static_cast<std::size_t>(h);
        const auto share =
          k + 1 == from.size() // The node itself.
            ? kept(key, self_stream, i, column, threshold)
            : kept(key, edge_stream, edges.indptr[i] + k, column, threshold);
        for (auto c = h * width; c < (h + 1) * width; ++c)
          joined[c] += share * powers[k] / total
                       * (messages[from[k]][c]
                          + (of_edges[k].empty() ? 0 : of_edges[k][c]));
      }
    }
    if (!shape.last) {
      out.push_back(joined);
      continue;
    }
    auto& mean = out.emplace_back(width);
    for (std::int64_t c = 0; c < total_width; ++c)
      mean[c % width] += joined[c] / double(heads);
  }
  return out;
}

reference_model::rows
reference_model::layer(int l, std::size_t type,
                       const std::vector<rows>& in) const {
  const auto& shape_of = layout_.layers[l];
  const auto& here = shape_of.types[type];
  const auto name = [this](int p) { return layout_.parameters[p].name; };
  const auto count = batch_.data.graph.nodes[type].found[layout_.hops - l - 1];
  rows out;
  const auto at_once = layout_.traits.attends() && !layout_.traits.typed;
  if (at_once)
    out = attention(l, in[type], count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!at_once)
      out.emplace_back(here.gate != absent ? here.out : here.sum);
    auto& y = out[i];
    if (here.self != absent)
      add_to(y, times(in[type][i], values.at(name(here.self)), here.sum));
    if (layout_.traits.kind == model_kind::hgt)
      add_to(y, transformed(l, type, in, i));
    else if (!at_once)
      for (std::size_t r = 0; r < layout_.relations.size(); ++r)
        if (layout_.relations[r].destination == node_type_id(type))
          message(l, r, in, i, y);
    if (layout_.traits.kind == model_kind::gin) {
      add_to(y, values.at(name(here.inner_bias)));
      for (auto& v : y)
        v = std::max(v, 0.0);
      y = times(y, values.at(name(here.inner)), here.out);
    }
    if (here.bias != absent)
      add_to(y, values.at(name(here.bias)));
    if (here.residual)
      add_to(y, in[type][i]);
    if (layer_norm_ && !shape_of.last)
      normalise(y, values.at(name(here.norm_gain)),
                values.at(name(here.norm_shift)));
    for (auto& v : y)
      v = shape(v, shape_of.after);
  }
  if (!shape_of.last && !layout_.traits.looks_up)
    drop(l + 1, type, out);
  return out;
}

reference_model::rows reference_model::logits() const {
  std::vector<rows> in;
  for (std::size_t t = 0; t < layout_.table_of.size(); ++t)
    in.push_back(inputs(t));
  std::vector<rows> joined(in.size());
  for (const auto type : layout_.outputs)
    joined[type].resize(
      static_cast<std::size_t>(batch_.data.graph.nodes[type].found.front()));
  for (int l = 0; l < layout_.hops; ++l) {
    std::vector<rows> out(in.size());
    for (std::size_t t = 0; t < in.size(); ++t)
      if (layout_.layers[l].types[t].out != 0)
        out[t] = layer(l, t, in);
    in = out;
    for (std::size_t t = 0; t < in.size(); ++t)
      for (std::size_t i = 0; i < joined[t].size(); ++i)
        joined[t][i].insert(joined[t][i].end(), in[t][i].begin(),
                            in[t][i].end());
  }
  if (layout_.traits.kind == model_kind::lightgcn)
    for (const auto type : layout_.outputs) {
      const auto first = inputs(std::size_t(type));
      const auto width = std::size_t(layout_.output_width);
      in[type].assign(joined[type].size(), row(width));
      for (std::size_t i = 0; i < in[type].size(); ++i) {
        auto all = joined[type][i];
        all.insert(all.end(), first[i].begin(), first[i].end());
        for (std::size_t c = 0; c < all.size(); ++c)
          in[type][i][c % width] += all[c] / double(layout_.hops + 1);
      }
    }
  if (values.contains("jumping.weight")) {
    const auto& bias = values.at("jumping.bias");
    for (auto& of_type : joined)
      for (auto& x : of_type) {
        x = times(x, values.at("jumping.weight"), std::int64_t(bias.size()));
        add_to(x, bias);
      }
    in = joined;
  }
  return layout_.decoder ? edge_logits(in) : in[layout_.target];
}

double reference_model::loss() const {
  double sum = 0;
  const auto outputs = logits();
  const auto weighs = batch_.rows && !batch_.rows->weights.empty();
  if (layout_.outcomes == outcome_form::ranks) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      sum +=
        (weighs ? batch_.rows->weights[i] : 1.0)
        * link_loss_of(outputs[i], weighing.empty() ? outputs[i] : weighing[i]);
    return sum / double(batch_.global_seeds);
  }
  for (std::size_t i = 0;
       layout_.outcomes == outcome_form::labels && i < outputs.size(); ++i)
    for (std::size_t c = 0; c < outputs[i].size(); ++c) {
      const auto has = batch_.data.label_rows[i * outputs[i].size() + c];
      const auto p = 1 / (1 + std::exp(-outputs[i][c]));
      if (has != no_labels)
        sum -= (weighs ? batch_.rows->weights[i] : 1.0)
               * std::log(has == 1 ? p : 1 - p) / double(outputs[i].size());
    }
  for (std::size_t i = 0;
       layout_.outcomes == outcome_form::values && i < outputs.size(); ++i)
    for (std::size_t c = 0; c < outputs[i].size(); ++c) {
      const double value =
        batch_.data.label_values()[i * outputs[i].size() + c];
      if (!std::isnan(value))
        sum += (weighs ? batch_.rows->weights[i] : 1.0)
               * (outputs[i][c] - value) * (outputs[i][c] - value)
               / double(outputs[i].size());
    }
  for (std::size_t i = 0;
       layout_.outcomes == outcome_form::classes && i < outputs.size(); ++i) {
    const auto label = batch_.data.labels[i];
    if (label < 0)
      continue;
    double total = 0;
    for (auto x : outputs[i])
      total += std::exp(x);
    for (std::size_t c = 0; c < outputs[i].size(); ++c) {
      const auto share = smoothing / double(outputs[i].size())
                         + (std::int64_t(c) == label ? 1 - smoothing : 0);
      sum += (weighs ? batch_.rows->weights[i] : 1.0) * share
             * (class_weights.empty() ? 1 : class_weights[c])
             * (std::log(total) - outputs[i][c]);
    }
  }
  return sum / double(batch_.global_seeds);
}

} // namespace graphmill::test
