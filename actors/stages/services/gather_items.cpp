#include "actors/stages/services/gather_items.hpp"

#include "actors/base/value_bytes.hpp"
#include "partition/files/page_requests.hpp"
#include "partition/sampling/rows/gather.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace graphmill {

namespace {

std::size_t row_of(const gather_item& item, std::size_t i) {
  return item.rows.empty() ? i : static_cast<std::size_t>(item.rows[i]);
}

/// Calls `visit` with what a part holds of each edge type whose edges begin, or
/// end, at nodes of the type that an item is about.
template <class Visit>
void for_edges(const shard& part, const gather_item& item, Visit visit) {
  const auto in = item.kind != gather_kind::out_degrees;
  const auto& info = part.info();
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    const auto& type = info.edge_types[e];
    if ((in ? type.destination : type.source) != item.type)
      continue;
    visit(part.edges(static_cast<edge_type_id>(e)));
  }
}

/// The degrees that an item counts.
std::span<const std::int32_t> degrees_of(const edge_shard& edges,
                                         const gather_item& item) {
  return item.kind == gather_kind::out_degrees ? edges.out_degrees
                                               : edges.in_degrees;
}

/// Degrees of several edge types; those of a damaged file may be anything.
std::int32_t sum_of_degrees(std::int32_t a, std::int32_t b) {
  std::int32_t sum = 0;
  return __builtin_add_overflow(a, b, &sum)
           ? std::numeric_limits<std::int32_t>::max()
           : sum;
}

void gather_degrees(const shard& part, const gather_item& item) {
  auto* out = static_cast<std::int32_t*>(item.out);
  const auto begin = part.nodes(item.type).begin;
  for (std::size_t i = 0; i < item.ids.size(); ++i)
    out[row_of(item, i)] = 0;
  for_edges(part, item, [&](const edge_shard& edges) {
    if (item.kind == gather_kind::degrees && edges.hides(item.level)) {
      for (std::size_t i = 0; i < item.ids.size(); ++i) {
        const auto row = static_cast<std::size_t>(item.ids[i] - begin);
        auto& sum = out[row_of(item, i)];
        sum = sum_of_degrees(
          sum, static_cast<std::int32_t>(edges.seen(row, item.level)));
      }
      return;
    }
    const auto degrees = degrees_of(edges, item);
    for (std::size_t i = 0; i < item.ids.size(); ++i) {
      auto& sum = out[row_of(item, i)];
      sum = sum_of_degrees(
        sum, degrees[static_cast<std::size_t>(item.ids[i] - begin)]);
    }
  });
}

/// Checked, for what is computed by them would be no numbers, or wrong.
result<void> gather_in_weights(const shard& part, const gather_item& item) {
  auto* out = static_cast<float*>(item.out);
  std::vector<std::span<const edge_id>> excluded(item.excluded.size());
  std::vector<std::size_t> next(item.excluded.size()); // Of the lists.
  for (std::size_t i = 0; i < item.ids.size(); ++i) {
    for (std::size_t e = 0; e < excluded.size(); ++e) {
      const auto& lists = item.excluded[e];
      const auto here = next[e] < lists.size() && lists.list(next[e]) == i;
      excluded[e] = here ? lists.of(next[e]++) : std::span<const edge_id>{};
    }
    GRAPHMILL_TRY(out[row_of(item, i)], in_weight(part, item.type, item.ids[i],
                                                  excluded, item.level));
  }
  return ok();
}

result<void> check_excluded(const shard& part, const gather_item& item) {
  if (item.excluded.empty())
    return ok();
  const auto& types = part.info().edge_types;
  if (item.kind != gather_kind::in_weights
      || item.excluded.size() != types.size())
    return fail(ec::invalid_argument,
                "edges of {} types are to be excluded from what is asked for: "
                "only sums of weights go without edges, of {} types",
                item.excluded.size(), types.size());
  for (std::size_t e = 0; e < types.size(); ++e)
    GRAPHMILL_TRYV(item.excluded[e].check(
      types[e].destination == item.type ? item.ids.size() : 0));
  return ok();
}

/// Asks for the ends of sparse rows, and adds the rows, which lie where these
/// say.
void add_sparse_rows(const shard& part, const gather_item& item,
                     page_requests& pages) {
  const auto& nodes = part.nodes(item.type);
  const auto& sparse = nodes.sparse;
  page_requests ends;
  ends.add(sparse.indptr, nodes.begin, item.ids, 2);
  ends.send();
  const auto size = size_of(part.info().node_types[item.type].feature_type);
  for (const auto id : item.ids) {
    const auto row = static_cast<std::size_t>(id - nodes.begin);
    if (row + 1 >= sparse.indptr.size())
      return; // Of a type whose features are dense, or has none.
    const auto from = sparse.indptr[row];
    const auto to = sparse.indptr[row + 1];
    if (from < 0 || to < from || to > std::ssize(sparse.columns))
      continue; // `gather` says so.
    const auto first = static_cast<std::size_t>(from);
    const auto count = static_cast<std::size_t>(to - from);
    pages.add(sparse.columns.data() + first, count * sizeof(std::int32_t));
    pages.add(sparse.values + first * size, count * size);
  }
}

/// Checked, for whoever gets them may look something up by them.
result<void> gather_original_ids(const shard& part, const gather_item& item) {
  auto* out = static_cast<node_id*>(item.out);
  const auto& nodes = part.nodes(item.type);
  const auto& type = part.info().node_types[item.type];
  for (std::size_t i = 0; i < item.ids.size(); ++i) {
    const auto original = nodes.original(item.ids[i]);
    if (original < 0 || original >= type.count)
      return fail(
        ec::invalid_data,
        "the original id of node {} of type {} is {} of {}: original_ids.npy "
        "of part {} is damaged; partition the dataset again",
        item.ids[i], type.name, original, type.count, part.part());
    out[row_of(item, i)] = original;
  }
  return ok();
}

/// Of a part of which no label is known. All bits are set in what says so of a
/// class, of a row of labels and of a row of numbers (-1, `no_labels`, NaN).
void write_unknown_labels(const node_type_info& type, const gather_item& item) {
  static_assert(no_labels == 0xff);
  const auto width = type.label_bytes();
  auto* out = static_cast<std::uint8_t*>(item.out);
  for (std::size_t i = 0; i < item.ids.size(); ++i)
    std::fill_n(out + static_cast<std::size_t>(row_of(item, i)) * width, width,
                no_labels);
}

} // namespace

namespace {

/// Where the edges of an item stand in the part.
result<std::span<const edge_id>> places_of(const shard& part,
                                           const gather_item& item,
                                           std::vector<edge_id>& found) {
  if (item.edges.empty())
    return item.ids;
  found.resize(item.ids.size());
  GRAPHMILL_TRYV(
    find_places(part, item.type, item.ids, item.edges, found.data()));
  return std::span<const edge_id>{found};
}

result<void> gather_of_edges(const shard& part, const gather_item& item,
                             bool rounded) {
  std::vector<edge_id> found;
  GRAPHMILL_TRY(const auto places, places_of(part, item, found));
  return gather_edge_features(part, item.type, places, item.rows,
                              static_cast<float*>(item.out), rounded);
}

void request_edge_pages(const shard& part, const gather_item& item,
                        page_requests& pages) {
  std::vector<edge_id> found;
  const auto& edges = part.edges(item.type);
  const auto bytes = part.info()
                       .edge_types[static_cast<std::size_t>(item.type)]
                       .feature_row_bytes();
  const auto places = places_of(part, item, found);
  if (!places || edges.features == nullptr)
    return; // `gather` says so.
  for (const auto place : places.value())
    if (place >= 0 && place < edges.indices.size)
      pages.add(edges.features + static_cast<std::size_t>(place) * bytes,
                bytes);
}

} // namespace

result<void> check_item(const shard& part, const gather_item& item) {
  // Its places are checked where they are used.
  if (item.kind == gather_kind::edge_features) {
    if (item.type < 0 || item.type >= std::ssize(part.info().edge_types))
      return fail(ec::invalid_argument, "there is no edge type {}", item.type);
    return ok();
  }
  const auto& nodes = part.nodes(item.type);
  const auto& type = part.info().node_types[item.type];
  for (auto id : item.ids)
    if (id < nodes.begin || id >= nodes.end)
      return fail(ec::invalid_argument,
                  "node {} of type {} is not in part {}, which owns {} to {}",
                  id, type.name, part.part(), nodes.begin, nodes.end);
  if (item.kind == gather_kind::labels && type.class_count == 0
      && !item.ids.empty())
    return fail(ec::not_found, "node type {} has no labels", type.name);
  if (item.kind == gather_kind::features && !nodes.has_features()
      && !item.ids.empty())
    return fail(ec::not_found, "node type {} has no features", type.name);
  GRAPHMILL_TRYV(check_level(item.level));
  return check_excluded(part, item);
}

std::uint64_t bytes_of(const shard& part, const gather_item& item) {
  if (item.kind == gather_kind::edge_features)
    return item.ids.size() * value_bytes(part.info().edge_types[item.type]);
  return item.ids.size()
         * value_bytes(part.info().node_types[item.type], item.kind);
}

result<void> gather(const shard& part, const gather_item& item, bool rounded) {
  if (item.kind == gather_kind::edge_features)
    return gather_of_edges(part, item, rounded);
  const auto& nodes = part.nodes(item.type);
  switch (item.kind) {
  case gather_kind::features:
    return gather_rows(part, item.type, item.ids, item.rows,
                       static_cast<float*>(item.out), rounded);
  case gather_kind::labels:
    if (nodes.labels.empty() && nodes.label_rows.empty())
      write_unknown_labels(part.info().node_types[item.type], item);
    else if (const auto& type = part.info().node_types[item.type];
             type.has_label_rows())
      gather_label_rows(nodes.label_rows, type.label_bytes(), nodes.begin,
                        item.ids, item.rows,
                        static_cast<std::uint8_t*>(item.out));
    else
      gather_values(nodes.labels, nodes.begin, item.ids, item.rows,
                    static_cast<std::int64_t*>(item.out));
    return ok();
  case gather_kind::degrees:
  case gather_kind::out_degrees:
    gather_degrees(part, item);
    return ok();
  case gather_kind::in_weights:
    return gather_in_weights(part, item);
  case gather_kind::original_ids:
    return gather_original_ids(part, item);
  case gather_kind::edge_features:
  case gather_kind::unset:
    break;
  }
  return fail(ec::invalid_argument, "unknown kind of data to gather");
}

namespace {

void add_label_pages(const shard& part, const gather_item& item,
                     page_requests& pages) {
  const auto& nodes = part.nodes(item.type);
  const auto& type = part.info().node_types[item.type];
  if (nodes.labels.empty() && nodes.label_rows.empty())
    return;
  if (!type.has_label_rows())
    return pages.add(nodes.labels, nodes.begin, item.ids);
  const auto width = type.label_bytes();
  for (const auto id : item.ids)
    if (const auto row = static_cast<std::size_t>(id - nodes.begin);
        row < nodes.label_rows.size() / width)
      pages.add(&nodes.label_rows[row * width], width);
}

} // namespace

void request_pages(const shard& part, const gather_item& item) {
  page_requests pages;
  if (item.kind == gather_kind::edge_features) {
    request_edge_pages(part, item, pages);
    return pages.send();
  }
  const auto& nodes = part.nodes(item.type);
  if (item.kind == gather_kind::labels)
    add_label_pages(part, item, pages);
  else if (item.kind == gather_kind::original_ids)
    pages.add(nodes.original_ids, nodes.begin, item.ids);
  else if (item.kind == gather_kind::features)
    add_sparse_rows(part, item, pages);
  else
    for_edges(part, item, [&](const edge_shard& edges) {
      if (item.kind != gather_kind::out_degrees && edges.hides(item.level))
        pages.add(edges.seen_counts(), nodes.begin, item.ids);
      if (item.kind == gather_kind::in_weights && !edges.in_weights.empty())
        pages.add(edges.in_weights, nodes.begin, item.ids);
      else
        pages.add(degrees_of(edges, item), nodes.begin, item.ids);
    });
  pages.send();
}

} // namespace graphmill
