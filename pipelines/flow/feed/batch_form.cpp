#include "pipelines/flow/feed/batch_form.hpp"

#include "partition/dataset/chosen_task.hpp"
#include "pipelines/definition/validation/edge_features.hpp"
#include "pipelines/definition/validation/edge_weights.hpp"

#include <algorithm>

namespace graphmill {

namespace {

bool has_edge_times(const dataset_info& info) {
  return std::ranges::any_of(info.edge_types, &edge_type_info::timed);
}

void add_node_slots(const batch_form& form, const dataset_info& info,
                    node_type_id type, std::vector<formed_slot>& out) {
  const auto& node = info.node_types[static_cast<std::size_t>(type)];
  const auto add = [&out, type](std::string_view name, dtype element) {
    out.push_back({name, array_of::node_type, type, element});
  };
  if (node.feature_width > 0)
    add("x", dtype::float32);
  add("n_id", dtype::int64);
  if (form.trees)
    add("batch", dtype::int64);
  if (form.degrees)
    add("degree", dtype::int32);
  if (type != info.target || info.chosen_task)
    return;
  if (node.class_count > 0)
    add("y", traits_of(node.labels).element);
  if (form.ages && form.trees)
    add("seed_time", dtype::int64);
  add("input_id", dtype::int64);
}

/// What edges have besides their ends.
struct edge_columns {
  bool weights = false;
  bool features = false;
  bool times = false;
};

void add_edge_slots(const batch_form& form, array_of about, edge_type_id type,
                    const edge_columns& has, std::vector<formed_slot>& out) {
  const auto add = [&out, about, type](std::string_view name, dtype element) {
    out.push_back({name, about, type, element});
  };
  if (form.layout == edge_layout::coo) {
    add("edge_index", dtype::int64);
  } else {
    add("indptr", dtype::int64);
    add("indices", dtype::int64);
  }
  if (form.edge_ids)
    add("e_id", dtype::int64);
  if (form.edge_weights && has.weights)
    add("edge_weight", dtype::float32);
  if (form.ages && has.times)
    add("edge_age", dtype::float32);
  if (form.edge_features && has.features)
    add("edge_attr", dtype::float32);
}

/// @param several Whether the rows are of several edge types.
void add_row_slots(const batch_form& form, const dataset_info& info,
                   array_of about, edge_type_id type, bool several,
                   std::vector<formed_slot>& out) {
  const auto add = [&out, about, type](std::string_view name, dtype element) {
    out.push_back({name, about, type, element});
  };
  const auto& task = *chosen_task(info);
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto link = traits_of(task.kind).negatives;
  if (form.rows == link_row_form::triplets) {
    add("src_index", dtype::int64);
    add("dst_pos_index", dtype::int64);
    if (form.wrong_destinations)
      add("dst_neg_index", dtype::int64);
    if (form.wrong_sources)
      add("src_neg_index", dtype::int64);
  } else {
    add("edge_label_index", dtype::int64);
    if (form.labels && !link)
      add("edge_label", traits_of(target.labels).element);
    else if (form.has_negatives())
      add("edge_label", dtype::float32);
  }
  if (form.ages && form.trees)
    add(form.rows == link_row_form::triplets ? "seed_time" : "edge_label_time",
        dtype::int64);
  if (form.labels && task.weighted)
    add("edge_label_weight", dtype::float32);
  if (several)
    add("edge_label_type", dtype::int64);
  add("input_id", dtype::int64);
}

void add_all_row_slots(const batch_form& form, const dataset_info& info,
                       std::vector<formed_slot>& out) {
  const auto& types = chosen_task(info)->edge_types;
  if (form.merged)
    return add_row_slots(form, info, array_of::all_edges, 0, types.size() > 1,
                         out);
  for (const auto type : types)
    add_row_slots(form, info, array_of::edge_type, type, false, out);
}

} // namespace

std::vector<formed_slot> slots_of(const batch_form& form,
                                  const dataset_info& info) {
  std::vector<formed_slot> out;
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    add_node_slots(form, info, static_cast<node_type_id>(t), out);
  if (!form.merged || info.edge_types.empty()) {
    for (std::size_t e = 0; e < info.edge_types.size(); ++e)
      add_edge_slots(form, array_of::edge_type, static_cast<edge_type_id>(e),
                     {info.edge_types[e].weighted || form.visits,
                      info.edge_types[e].feature_width > 0,
                      info.edge_types[e].timed},
                     out);
  } else {
    add_edge_slots(form, array_of::all_edges, 0,
                   {has_edge_weights(info) || form.visits,
                    has_edge_features(info), has_edge_times(info)},
                   out);
    if (info.edge_types.size() > 1)
      out.push_back({"edge_type", array_of::all_edges, 0, dtype::int64});
  }
  if (info.chosen_task)
    add_all_row_slots(form, info, out);
  return out;
}

batch_needs needs_of(const batch_form& form, const dataset_info& info) {
  batch_needs out;
  out.merged_relations = false; // Merging is up to the form.
  out.degrees = form.degrees;
  out.weights = form.edge_weights && (has_edge_weights(info) || form.visits);
  out.edge_features = form.edge_features && has_edge_features(info);
  out.ages = form.ages && has_edge_times(info);
  out.backward = false;
  out.original_ids = true;
  out.node_bytes = form.trees ? sizeof(std::int32_t) + sizeof(std::int64_t) : 0;
  out.unpacked = true;
  out.edge_bytes = (form.layout == edge_layout::coo ? 2 : 1) * sizeof(node_id);
  if (form.merged && info.edge_types.size() > 1)
    out.edge_bytes +=
      sizeof(std::int64_t) // Their types.
      + (form.edge_ids ? sizeof(edge_id) : 0)
      + (out.weights ? sizeof(float) : 0) + (out.ages ? sizeof(float) : 0)
      + (out.edge_features
           ? static_cast<std::uint64_t>(info.edge_types.front().feature_width)
               * sizeof(float)
           : 0);
  // A pair has two ids, a label, a weight, a type and a time, for each node of
  // a row.
  if (info.chosen_task)
    out.row_copies =
      (2 * sizeof(node_id) + 2 * sizeof(float)
       + (form.ages ? 2 : 1) * sizeof(std::int64_t) + sizeof(seed_row))
      / sizeof(local_id);
  return out;
}

} // namespace graphmill
