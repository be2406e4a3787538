#include "pipelines/flow/feed/batch_form.hpp"

#include "pipelines/definition/validation/edge_weights.hpp"

namespace graphmill {

namespace {

element_kind element_of_labels(const node_type_info& target) {
  switch (traits_of(target.labels).element) {
  case dtype::float32:
    return element_kind::float32;
  case dtype::uint8:
    return element_kind::uint8;
  default:
    return element_kind::int64;
  }
}

void add_node_slots(const batch_form& form, const dataset_info& info,
                    node_type_id type, std::vector<formed_slot>& out) {
  const auto& node = info.node_types[static_cast<std::size_t>(type)];
  const auto add = [&out, type](std::string_view name, element_kind element) {
    out.push_back({name, array_of::node_type, type, element});
  };
  if (node.feature_width > 0)
    add("x", element_kind::float32);
  add("n_id", element_kind::int64);
  if (form.degrees)
    add("degree", element_kind::int32);
  if (type == info.target && node.class_count > 0)
    add("y", element_of_labels(node));
}

void add_edge_slots(const batch_form& form, array_of about, edge_type_id type,
                    bool weighted, std::vector<formed_slot>& out) {
  const auto add = [&out, about, type](std::string_view name,
                                       element_kind element) {
    out.push_back({name, about, type, element});
  };
  if (form.layout == edge_layout::coo) {
    add("edge_index", element_kind::int64);
  } else {
    add("indptr", element_kind::int64);
    add("indices", element_kind::int64);
  }
  if (form.edge_ids)
    add("e_id", element_kind::int64);
  if (form.edge_weights && weighted)
    add("edge_weight", element_kind::float32);
}

} // namespace

std::string_view to_string(element_kind which) {
  switch (which) {
  case element_kind::int64:
    return "int64";
  case element_kind::int32:
    return "int32";
  case element_kind::float32:
    return "float32";
  case element_kind::uint8:
    return "uint8";
  }
  return "unknown";
}

std::vector<formed_slot> slots_of(const batch_form& form,
                                  const dataset_info& info) {
  std::vector<formed_slot> out;
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    add_node_slots(form, info, static_cast<node_type_id>(t), out);
  if (!form.merged || info.edge_types.empty()) {
    for (std::size_t e = 0; e < info.edge_types.size(); ++e)
      add_edge_slots(form, array_of::edge_type, static_cast<edge_type_id>(e),
                     info.edge_types[e].weighted, out);
    return out;
  }
  add_edge_slots(form, array_of::all_edges, 0, has_edge_weights(info), out);
  if (info.edge_types.size() > 1)
    out.push_back({"edge_type", array_of::all_edges, 0, element_kind::int64});
  return out;
}

batch_needs needs_of(const batch_form& form, const dataset_info& info) {
  batch_needs out;
  out.merged_relations = false; // Merging is up to the form.
  out.degrees = form.degrees;
  out.weights = form.edge_weights && has_edge_weights(info);
  out.backward = false;
  out.original_ids = true;
  out.unpacked = true;
  out.edge_bytes = (form.layout == edge_layout::coo ? 2 : 1) * sizeof(node_id);
  if (form.merged && info.edge_types.size() > 1)
    out.edge_bytes += sizeof(std::int64_t) // Their types.
                      + (form.edge_ids ? sizeof(edge_id) : 0)
                      + (out.weights ? sizeof(float) : 0);
  return out;
}

} // namespace graphmill
