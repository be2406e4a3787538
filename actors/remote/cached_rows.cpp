#include "actors/remote/cached_rows.hpp"

#include <algorithm>
#include <cstring>

namespace graphmill {

namespace {

/// Copies the rows that are there; returns what remains of an item.
gather_item take_item(const row_cache& cache, const gather_item& item,
                      cache_misses& out) {
  const auto width = cache.width(item.type);
  auto& ids = out.ids.emplace_back();
  auto& rows = out.rows.emplace_back();
  for (std::size_t i = 0; i < item.ids.size(); ++i) {
    const auto row =
      item.rows.empty() ? static_cast<local_id>(i) : item.rows[i];
    if (const auto* found = cache.find(item.type, item.ids[i])) {
      std::memcpy(static_cast<float*>(item.out)
                    + static_cast<std::size_t>(row) * width,
                  found, width * sizeof(float));
      continue;
    }
    ids.push_back(item.ids[i]);
    rows.push_back(row);
  }
  const auto hits = item.ids.size() - ids.size();
  out.hits += hits;
  out.bytes += hits * width * sizeof(float);
  return {item.kind, item.type, ids, rows, item.out};
}

} // namespace

gather_job fill_job(const std::shared_ptr<row_cache>& cache,
                    const partitioned_graph& graph, part_id part) {
  gather_job job;
  job.owner = cache;
  const auto types = graph.info().node_types.size();
  for (std::size_t t = 0; t < types; ++t) {
    const auto type = static_cast<node_type_id>(t);
    // A part owns a range of ids, so its rows stand together.
    const auto ids = cache->ids(type);
    const auto offsets = graph.offsets(type);
    const auto first =
      std::lower_bound(ids.begin(), ids.end(), offsets[part]) - ids.begin();
    const auto last =
      std::lower_bound(ids.begin(), ids.end(), offsets[part + 1]) - ids.begin();
    if (first != last)
      job.items.push_back(
        {gather_kind::features,
         type,
         ids.subspan(first, last - first),
         {},
         cache->rows(type)
           + static_cast<std::size_t>(first) * cache->width(type)});
  }
  return job;
}

cache_misses take_from(const row_cache& cache, const gather_job& job) {
  cache_misses out;
  // Spans into these must stay valid.
  out.ids.reserve(job.items.size());
  out.rows.reserve(job.items.size());
  for (const auto& item : job.items)
    if (item.kind != gather_kind::features || cache.ids(item.type).empty())
      out.items.push_back(item);
    else if (auto rest = take_item(cache, item, out); !rest.ids.empty())
      out.items.push_back(rest);
  return out;
}

} // namespace graphmill
