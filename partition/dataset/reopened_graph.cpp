#include "partition/dataset/reopened_graph.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

auto fields_of(const label_set_info& set) {
  return std::tie(set.name, set.class_count, set.class_names, set.split_counts,
                  set.labels);
}

auto fields_of(const node_type_info& type) {
  return std::tie(type.name, type.count, type.feature_width, type.feature_type,
                  type.class_count, type.class_names, type.split_counts,
                  type.labels, type.sparse_features, type.feature_entries,
                  type.most_row_entries, type.timed);
}

auto fields_of(const edge_type_info& type) {
  return std::tie(type.source, type.name, type.destination, type.count,
                  type.max_in_degree, type.index_type, type.weighted,
                  type.leveled, type.timed, type.feature_width,
                  type.feature_type);
}

template <class Type>
bool same_types(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::ranges::equal(a, b, [](const Type& x, const Type& y) {
    return fields_of(x) == fields_of(y);
  });
}

/// What differs, seeds apart; empty: nothing.
std::string difference(const partitioned_graph& a, const partitioned_graph& b) {
  const auto& x = a.info();
  const auto& y = b.info();
  if (x.digest != y.digest)
    return "its digest";
  if (!same_types(x.node_types, y.node_types) || x.target != y.target)
    return "what is said of its node types";
  for (std::size_t t = 0; t < x.node_types.size(); ++t)
    if (!same_types(x.node_types[t].label_sets, y.node_types[t].label_sets))
      return "what is said of its label sets";
  if (!same_types(x.edge_types, y.edge_types))
    return "what is said of its edge types";
  if (a.part_digests() != b.part_digests())
    return "the digests of its parts";
  for (node_type_id t = 0; t < std::ssize(x.node_types); ++t)
    if (!std::ranges::equal(a.offsets(t), b.offsets(t)))
      return "the nodes of its parts";
  for (part_id p = 0; p < a.part_count(); ++p)
    for (node_type_id t = 0; t < std::ssize(x.node_types); ++t)
      for (auto which : all_proved_arrays)
        if (a.root_of(p, t, which) != b.root_of(p, t, which))
          return "the digests of the blocks of its parts";
  return "";
}

} // namespace

result<std::shared_ptr<const partitioned_graph>>
reopen(const std::filesystem::path& folder, const partitioned_graph& before) {
  GRAPHMILL_TRY(auto now, partitioned_graph::open(folder));
  if (const auto changed = difference(before, now); !changed.empty())
    return fail(ec::invalid_data,
                "{} is another graph than the one that was opened here before: "
                "{} differs; put back what was there, or start this process "
                "anew",
                folder.string(), changed);
  return std::make_shared<const partitioned_graph>(std::move(now));
}

result<std::shared_ptr<const partitioned_graph>>
as_learnt(result<std::shared_ptr<const partitioned_graph>> graph,
          const std::optional<label_meaning>& learnt) {
  if (!graph || !learnt)
    return graph;
  GRAPHMILL_TRY(auto shown, graph.value()->with_unknown_labels(*learnt));
  return std::make_shared<const partitioned_graph>(std::move(shown));
}

} // namespace graphmill
