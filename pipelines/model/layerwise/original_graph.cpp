#include "pipelines/model/layerwise/original_graph.hpp"

#include "partition/sampling/neighbour_lists.hpp"
#include "partition/sampling/reply_merge.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace graphmill {

namespace {

error broken_numbers(const std::string& type) {
  return fail(ec::invalid_data,
              "the parts' original_ids of type {} are not those of all its "
              "nodes; partition the dataset again",
              type);
}

/// Adds the weights of edges [from, to) of a part.
result<void> add_weights(const edge_shard& edges, std::int64_t from,
                         std::int64_t to, pod_vector<float>& out) {
  const auto first = static_cast<std::size_t>(from);
  const auto count = static_cast<std::size_t>(to - from);
  const auto old = out.size();
  if (edges.weights.empty()) {
    out.resize(old + count);
    std::fill_n(out.data() + old, count, 1.0f);
    return ok();
  }
  const auto weights = edges.weights.subspan(first, count);
  if (!are_weights(weights))
    return fail(ec::invalid_data,
                "the weight of an edge is below 0, or no finite number; "
                "graphmill inspect says which");
  out.append(weights);
  return ok();
}

} // namespace

result<original_graph>
original_graph::create(std::shared_ptr<const partitioned_graph> graph,
                       std::vector<std::shared_ptr<const shard>> shards) {
  original_graph out;
  out.graph_ = std::move(graph);
  out.shards_ = std::move(shards);
  for (std::size_t p = 0; p < out.shards_.size(); ++p)
    if (!out.shards_[p])
      return fail(ec::invalid_argument,
                  "layer by layer takes all parts, and part {} is elsewhere",
                  p);
  const auto types = out.info().node_types.size();
  out.numbers_.resize(types);
  for (std::size_t t = 0; t < types; ++t)
    GRAPHMILL_TRYV(out.number(static_cast<node_type_id>(t)));
  return out;
}

result<void> original_graph::number(node_type_id type) {
  const auto all = count(type);
  if (all > std::numeric_limits<local_id>::max())
    return fail(ec::invalid_argument,
                "type {} has {} nodes; layer by layer takes types of less "
                "than 2^31",
                info().node_types[type].name, all);
  auto changed = false;
  for (const auto& part : shards_)
    changed |= !part->nodes(type).original_ids.empty();
  if (!changed)
    return ok();
  auto& numbers = numbers_[type];
  numbers.to_original.resize(static_cast<std::size_t>(all));
  numbers.to_global.assign(static_cast<std::size_t>(all), -1);
  for (const auto& part : shards_) {
    const auto& own = part->nodes(type);
    for (auto id = own.begin; id < own.end; ++id) {
      const auto original = own.original(id);
      if (original < 0 || original >= all || numbers.to_global[original] != -1)
        return broken_numbers(info().node_types[type].name);
      numbers.to_global[original] = static_cast<local_id>(id);
      numbers.to_original[id] = static_cast<local_id>(original);
    }
  }
  for (const auto id : numbers.to_global)
    if (id == -1)
      return broken_numbers(info().node_types[type].name);
  return ok();
}

original_graph::place original_graph::place_of(node_type_id type,
                                               node_id original) const {
  const auto& numbers = numbers_[type].to_global;
  const auto global = numbers.empty() ? original : node_id{numbers[original]};
  const auto part =
    shards_.size() == 1 ? part_id{0} : graph_->owner(type, global);
  return {shards_[part].get(), global};
}

result<original_graph::seen_list>
original_graph::list_of(edge_type_id type, node_id node,
                        edge_level level) const {
  const auto& about = info().edge_types[type];
  const auto at = place_of(about.destination, node);
  const auto& edges = at.part->edges(type);
  const auto row = static_cast<std::size_t>(
    at.global - at.part->nodes(about.destination).begin);
  const auto from = edges.indptr[row];
  const auto to = edges.indptr[row + 1];
  if (from < 0 || to < from || to > edges.indices.size
      || to - from > about.max_in_degree)
    return fail(ec::invalid_data,
                "the list of in-edges of node {} goes from {} to {} of {} "
                "edges of type {}; graphmill inspect says more",
                node, from, to, edges.indices.size,
                info().edge_type_name(type));
  const auto seen = seen_degree(edges, row, to - from, level);
  if (seen < 0)
    return fail(ec::invalid_data,
                "visible.npy says that {} of the {} in-edges of node {} "
                "of type {} are of level {} or below; graphmill inspect "
                "says more",
                edges.seen(row, level), to - from, node,
                info().edge_type_name(type), level);
  return seen_list{at.part, from, from + seen};
}

result<void> original_graph::neighbours(std::span<const edge_type_id> types,
                                        node_id begin, node_id end,
                                        edge_level level, bool weights,
                                        csr& out) const {
  out.indptr.clear();
  out.columns.clear();
  out.weights.clear();
  out.indptr.push_back(0);
  weights &= std::any_of(types.begin(), types.end(), [this](auto type) {
    return info().edge_types[type].weighted;
  });
  for (auto node = begin; node < end; ++node) {
    for (const auto type : types) {
      GRAPHMILL_TRY(const auto list, list_of(type, node, level));
      const auto& about = info().edge_types[type];
      const auto& edges = list.part->edges(type);
      const auto& numbers = numbers_[about.source].to_original;
      const auto sources = count(about.source);
      for (auto e = list.begin; e < list.end; ++e) {
        const auto source = edges.indices[e];
        if (source < 0 || source >= sources)
          return fail(ec::invalid_data,
                      "node {} has an in-edge of type {} from node {}, which "
                      "there is not; graphmill inspect says more",
                      node, info().edge_type_name(type), source);
        out.columns.push_back(numbers.empty() ? static_cast<local_id>(source)
                                              : numbers[source]);
      }
      if (weights)
        GRAPHMILL_TRYV(add_weights(edges, list.begin, list.end, out.weights));
    }
    out.indptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return ok();
}

result<void> original_graph::edge_features(std::span<const edge_type_id> types,
                                           node_id begin, node_id end,
                                           edge_level level, bool rounded,
                                           pod_vector<float>& out) const {
  out.clear();
  std::vector<edge_id> places;
  for (auto node = begin; node < end; ++node)
    for (const auto type : types) {
      GRAPHMILL_TRY(const auto list, list_of(type, node, level));
      places.resize(static_cast<std::size_t>(list.end - list.begin));
      std::iota(places.begin(), places.end(), list.begin);
      const auto old = out.size();
      out.resize(
        old
        + places.size()
            * static_cast<std::size_t>(info().edge_types[type].feature_width));
      GRAPHMILL_TRYV(gather_edge_features(*list.part, type, places, {},
                                          out.data() + old, rounded));
    }
  return ok();
}

result<pod_vector<float>> original_graph::in_weights(node_type_id type,
                                                     edge_level level) const {
  pod_vector<float> out;
  out.resize(static_cast<std::size_t>(count(type)));
  for (node_id node = 0; node < count(type); ++node) {
    const auto at = place_of(type, node);
    GRAPHMILL_TRY(out[static_cast<std::size_t>(node)],
                  in_weight(*at.part, type, at.global, {}, level));
  }
  return out;
}

result<pod_vector<std::int32_t>>
original_graph::in_degrees(node_type_id type, edge_level level) const {
  pod_vector<std::int32_t> out;
  out.resize(static_cast<std::size_t>(count(type)));
  for (node_id node = 0; node < count(type); ++node) {
    const auto at = place_of(type, node);
    const auto row =
      static_cast<std::size_t>(at.global - at.part->nodes(type).begin);
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < info().edge_types.size(); ++e)
      if (info().edge_types[e].destination == type) {
        const auto& edges = at.part->edges(static_cast<edge_type_id>(e));
        sum +=
          edges.hides(level) ? edges.seen(row, level) : edges.in_degrees[row];
      }
    if (sum < 0 || sum > std::numeric_limits<std::int32_t>::max())
      return fail(ec::invalid_data,
                  "node {} has an in-degree of {} on record; graphmill inspect "
                  "says more",
                  node, sum);
    out[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(sum);
  }
  return out;
}

std::vector<original_graph::wanted_rows>
original_graph::by_part(node_type_id type, node_id begin, node_id end) const {
  std::vector<wanted_rows> out(shards_.size());
  for (auto node = begin; node < end; ++node) {
    const auto at = place_of(type, node);
    auto& of_part = out[static_cast<std::size_t>(at.part->part())];
    of_part.ids.push_back(at.global);
    of_part.rows.push_back(static_cast<local_id>(node - begin));
  }
  return out;
}

result<void> original_graph::features(node_type_id type, node_id begin,
                                      node_id end, bool rounded,
                                      float* out) const {
  const auto wanted = by_part(type, begin, end);
  for (std::size_t p = 0; p < shards_.size(); ++p)
    if (!wanted[p].ids.empty())
      GRAPHMILL_TRYV(gather_features(*shards_[p], type, wanted[p].ids,
                                     wanted[p].rows, out, rounded));
  return ok();
}

result<sparse_input> original_graph::sparse_features(node_type_id type,
                                                     node_id begin, node_id end,
                                                     bool rounded) const {
  const auto form = row_form::of(info().node_types[type]);
  std::vector<float> packed(static_cast<std::size_t>(end - begin)
                            * form.floats());
  const auto wanted = by_part(type, begin, end);
  for (std::size_t p = 0; p < shards_.size(); ++p)
    if (!wanted[p].ids.empty())
      GRAPHMILL_TRYV(gather_rows(*shards_[p], type, wanted[p].ids,
                                 wanted[p].rows, packed.data(), rounded));
  return sparse_input{packed.data(), end - begin, form, {}};
}

const float* original_graph::features_in_place(node_type_id type) const {
  const auto& about = info().node_types[type];
  if (shards_.size() != 1 || !numbers_[type].to_global.empty()
      || about.feature_type != dtype::float32)
    return nullptr;
  return reinterpret_cast<const float*>(shards_.front()->nodes(type).features);
}

} // namespace graphmill
