#include "actors/remote/cached_rows.hpp"

#include <algorithm>
#include <numeric>

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
    auto* out_row =
      static_cast<float*>(item.out) + static_cast<std::size_t>(row) * width;
    if (cache.find(item.type, item.ids[i], out_row))
      continue;
    ids.push_back(item.ids[i]);
    rows.push_back(row);
  }
  const auto hits = item.ids.size() - ids.size();
  out.hits += hits;
  out.bytes += hits * width * sizeof(float);
  return {item.kind, item.type, ids, rows, item.out};
}

} // namespace

std::vector<fill_job> fill_jobs(const std::shared_ptr<row_cache>& cache,
                                const partitioned_graph& graph, part_id part,
                                std::uint64_t most) {
  std::vector<fill_job> jobs;
  const auto come = std::make_shared<pod_vector<float>>();
  const auto types = graph.info().node_types.size();
  for (std::size_t t = 0; t < types; ++t) {
    const auto type = static_cast<node_type_id>(t);
    // A part owns a range of ids, so its rows stand together.
    const auto ids = cache->ids(type);
    const auto offsets = graph.offsets(type);
    const auto place = [&ids](node_id id) {
      return static_cast<std::size_t>(
        std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
    };
    const auto width = cache->width(type);
    const auto each = std::max<std::uint64_t>(
      most / std::max<std::uint64_t>(width * sizeof(float), 1), 1);
    const auto last = place(offsets[part + 1]);
    for (auto from = place(offsets[part]); from < last;) {
      const auto count = std::min<std::size_t>(each, last - from);
      come->resize(std::max(come->size(), count * width));
      auto& [job, put] = jobs.emplace_back();
      job.owner = std::make_shared<std::pair<decltype(cache), decltype(come)>>(
        cache, come);
      job.items.push_back(
        {gather_kind::features, type, ids.subspan(from, count), {}, nullptr});
      put = [cache, come, type, from, values = count * width] {
        cache->put(type, from, std::span{*come}.first(values));
      };
      from += count;
    }
  }
  for (auto& one : jobs)
    one.job.items.front().out = come->data();
  return jobs;
}

void asked_degrees::add_to(node_scores& scores) const {
  for (std::size_t i = 0; i < ids.size(); ++i)
    scores[type][static_cast<std::size_t>(ids[i])] +=
      static_cast<float>(degrees[i]);
}

std::vector<std::pair<gather_job, std::shared_ptr<asked_degrees>>>
degree_jobs(const partitioned_graph& graph, part_id part) {
  constexpr node_id most = node_id{1} << 18;
  std::vector<std::pair<gather_job, std::shared_ptr<asked_degrees>>> jobs;
  const auto& types = graph.info().node_types;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (types[t].feature_width == 0)
      continue;
    const auto type = static_cast<node_type_id>(t);
    const auto offsets = graph.offsets(type);
    for (auto from = offsets[part]; from < offsets[part + 1]; from += most) {
      const auto to = std::min(from + most, offsets[part + 1]);
      auto asked = std::make_shared<asked_degrees>();
      asked->type = type;
      asked->ids.resize(static_cast<std::size_t>(to - from));
      std::iota(asked->ids.begin(), asked->ids.end(), from);
      asked->degrees.resize(asked->ids.size());
      gather_job job;
      job.items.push_back({gather_kind::out_degrees,
                           type,
                           asked->ids,
                           {},
                           asked->degrees.data()});
      job.owner = asked;
      jobs.emplace_back(std::move(job), std::move(asked));
    }
  }
  return jobs;
}

cache_misses take_from(const row_cache& cache, const dataset_info& info,
                       const gather_job& job, bool half) {
  cache_misses out;
  // Spans into these must stay valid.
  out.ids.reserve(job.items.size());
  out.rows.reserve(job.items.size());
  for (const auto& item : job.items) {
    if (item.kind != gather_kind::features || cache.ids(item.type).empty()) {
      out.items.push_back(item);
      continue;
    }
    const auto before = out.bytes;
    if (auto rest = take_item(cache, item, out); !rest.ids.empty())
      out.items.push_back(rest);
    const auto narrow = kept_as_half(info.node_types[item.type], half);
    out.spared += (out.bytes - before) / (narrow ? 2 : 1);
  }
  return out;
}

} // namespace graphmill
