#include "partition/dataset/inspection/inspect.hpp"

#include "partition/dataset/data_records.hpp"
#include "partition/dataset/edge_weights.hpp"
#include "partition/dataset/inspection/early_edges.hpp"
#include "partition/dataset/inspection/inspect_findings.hpp"
#include "partition/dataset/inspection/task_findings.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/dataset/verification/verification.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// One inspection under way.
struct inspector {
  const dataset& data;
  const inspect_options& options;
  inspection found;
  std::vector<std::vector<bool>>
    touched{}; ///< Nodes that an edge has, per type.

  bool is_part() const { return !options.whole_counts.empty(); }

  void inspect_nodes(node_type_id type);
  void inspect_labels(const node_type_info& shown,
                      const dataset::label_arrays& arrays, bool vouched,
                      label_inspection& report);
  void inspect_edges(edge_type_id type);
  void inspect_weights(edge_type_id type, bool sound_lists);
  std::vector<std::int32_t> count_in_edges(edge_type_id type);
  std::vector<std::int32_t> count_out_edges(edge_type_id type);
};

/// Finds self-loops and duplicates among the edges of a type, which it is shown
/// in order: a source is there twice if it was last seen in the same list.
class repeated_edges {
public:
  repeated_edges(const dataset& data, edge_type_id type)
    : begin_(
      reinterpret_cast<const std::int64_t*>(data.edges(type).indptr.data())) {
    const auto& about = data.info().edge_types[type];
    same_type_ = about.source == about.destination;
    last_list_.resize(
      static_cast<std::size_t>(data.info().node_types[about.source].count), -1);
  }

  void look_at(std::int64_t edge, std::int64_t source,
               edge_type_inspection& counts) {
    while (edge >= begin_[list_ + 1])
      ++list_;
    if (same_type_ && source == list_)
      ++counts.self_loops;
    if (std::exchange(last_list_[source], list_) == list_)
      ++counts.duplicates;
  }

private:
  const std::int64_t* begin_; ///< Sound, and ends behind the last edge.
  bool same_type_ = false;
  std::int64_t list_ = 0;
  std::vector<std::int64_t> last_list_; ///< [sources] -1: in none yet.
};

void count_one(std::int32_t& count) {
  if (count < std::numeric_limits<std::int32_t>::max())
    ++count;
}

void inspector::inspect_nodes(node_type_id type) {
  const auto& about = data.info().node_types[type];
  const auto& arrays = data.nodes(type);
  auto& report = found.node_types[type];
  if (arrays.features)
    find_bad_features("node", *arrays.features, found.broken);
  if (arrays.sparse)
    find_bad_sparse_features(about, *arrays.sparse, found.broken);
  inspect_labels(about, arrays, arrays.has_features(), report);
  for (std::size_t s = 0; s < about.label_sets.size(); ++s)
    inspect_labels(with_labels_of(about, about.label_sets[s]),
                   arrays.label_sets[s], true,
                   report.label_sets.emplace_back());
}

void inspector::inspect_labels(const node_type_info& shown,
                               const dataset::label_arrays& arrays,
                               bool vouched, label_inspection& report) {
  const auto& labels = traits_of(shown.labels);
  if (arrays.labels && labels.numbers)
    std::tie(report.values, report.unlabelled) =
      summarise_values(shown, *arrays.labels, found.broken);
  else if (arrays.labels)
    std::tie(report.class_counts, report.unlabelled) =
      labels.rows ? count_label_rows(shown, *arrays.labels, found.broken)
                  : count_labels(shown, *arrays.labels, found.broken);
  find_bad_seeds(shown, arrays, vouched, found.broken);
}

std::vector<std::int32_t> inspector::count_in_edges(edge_type_id type) {
  const auto& arrays = data.edges(type);
  const auto* begin =
    reinterpret_cast<const std::int64_t*>(arrays.indptr.data());
  std::vector<std::int32_t> degrees(
    static_cast<std::size_t>(arrays.indptr.size() - 1));
  auto& touched_nodes = touched[data.info().edge_types[type].destination];
  touched_nodes.resize(degrees.size());
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    degrees[i] = static_cast<std::int32_t>(std::min<std::int64_t>(
      begin[i + 1] - begin[i], std::numeric_limits<std::int32_t>::max()));
    if (degrees[i] > 0)
      touched_nodes[i] = true;
  }
  return degrees;
}

std::vector<std::int32_t> inspector::count_out_edges(edge_type_id type) {
  const auto& arrays = data.edges(type);
  const auto source_type = data.info().edge_types[type].source;
  const auto own = data.info().node_types[source_type].count;
  const auto counts = is_part() ? options.whole_counts[source_type] : own;
  arrays.indices.file().advise_sequential();
  const id_span sources{arrays.indices.data(), arrays.indices.size(),
                        arrays.indices.type() == dtype::int64};
  std::vector<std::int32_t> degrees(static_cast<std::size_t>(own));
  touched[source_type].resize(degrees.size());
  repeated_edges repeated{data, type};
  finding missing;
  for (std::int64_t i = 0; i < sources.size; ++i) {
    const auto source = sources[i];
    if (source < 0 || source >= counts) {
      missing.add([&] {
        return fmt::format("edge {}: source {} does not exist ({} nodes)", i,
                           source, counts);
      });
    } else if (!is_part()) {
      count_one(degrees[source]);
      touched[source_type][source] = true;
      repeated.look_at(i, source, found.edge_types[type]);
    }
  }
  missing.report(arrays.indices, found.broken);
  return degrees;
}

/// @param sound_lists Whether all sources exist, so that sums can be made.
void inspector::inspect_weights(edge_type_id type, bool sound_lists) {
  const auto& arrays = data.edges(type);
  if (!arrays.weighted)
    return;
  const auto& [weights, in_weights, out_weights] = *arrays.weighted;
  const auto before = found.broken.size();
  found.edge_types[type].weights = summarise_weights(weights, found.broken);
  weight_sums sums;
  if (sound_lists && found.broken.size() == before) {
    const auto source = data.info().edge_types[type].source;
    auto added =
      sum_weights({reinterpret_cast<const std::int64_t*>(arrays.indptr.data()),
                   static_cast<std::size_t>(arrays.indptr.size())},
                  {arrays.indices.data(), arrays.indices.size(),
                   arrays.indices.type() == dtype::int64},
                  {reinterpret_cast<const float*>(weights.data()),
                   static_cast<std::size_t>(weights.size())},
                  is_part() ? options.whole_counts[source]
                            : data.info().node_types[source].count,
                  weights.path().string());
    if (added)
      sums = std::move(added).value();
    else
      found.broken.push_back(std::move(added).error().message);
  }
  find_bad_sums(in_weights, sums.in, found.broken);
  // Those of a part are over the whole graph.
  if (is_part())
    sums.out.clear();
  find_bad_sums(out_weights, sums.out, found.broken);
}

void inspector::inspect_edges(edge_type_id type) {
  const auto& arrays = data.edges(type);
  const auto& about = data.info().edge_types[type];
  if (!find_bad_indptr(arrays.indptr, about.count, found.broken))
    return;
  if (arrays.visible)
    find_bad_levels(*arrays.visible, arrays.indptr, found.broken);
  if (arrays.times)
    find_bad_times(*arrays.times, arrays.indptr,
                   arrays.visible ? &*arrays.visible : nullptr, found.broken);
  if (arrays.features)
    find_bad_features("edge", *arrays.features, found.broken);
  auto in = count_in_edges(type);
  find_bad_degrees(arrays.in_degrees, in, found.broken);
  found.edge_types[type].in = summarise_degrees(std::move(in));
  const auto before = found.broken.size();
  auto out = count_out_edges(type);
  inspect_weights(type, found.broken.size() == before);
  if (is_part())
    return;
  if (auto early = count_early_edges(data, type))
    found.edge_types[type].early = early.value();
  else
    found.broken.push_back(std::move(early).error().message);
  find_bad_degrees(arrays.out_degrees, out, found.broken);
  found.edge_types[type].out = summarise_degrees(std::move(out));
  const auto most = found.edge_types[type].in.most;
  if (most != about.max_in_degree)
    found.broken.push_back(fmt::format(
      "dataset.json: {} is said to have up to {} in-edges per node, but has "
      "{}",
      data.info().edge_type_name(type), about.max_in_degree, most));
}

} // namespace

degree_summary summarise_degrees(std::vector<std::int32_t> degrees) {
  degree_summary summary;
  if (degrees.empty())
    return summary;
  std::ranges::sort(degrees);
  const auto n = degrees.size();
  summary.least = degrees.front();
  summary.most = degrees.back();
  summary.mean =
    std::accumulate(degrees.begin(), degrees.end(), 0.0) / double(n);
  summary.without = std::ranges::upper_bound(degrees, 0) - degrees.begin();
  for (std::size_t i = 0; i < summary.percents.size(); ++i) {
    const auto percent = static_cast<std::size_t>(summary.percents[i]);
    const auto rank = (n * percent + 99) / 100; // from 1
    summary.percentiles[i] = degrees[rank - 1];
  }
  return summary;
}

namespace {

/// Records of those arrays of a record that have digests of their own.
std::vector<digest_record> arrays_alone(const digest_record& record) {
  std::vector<digest_record> out;
  for (const auto& piece : record.pieces)
    if (!piece.digest.empty()) {
      digest_record alone{piece.file, piece.digest, {piece}};
      alone.pieces.front().text.clear();
      alone.pieces.front().digest.clear();
      out.push_back(std::move(alone));
    }
  return out;
}

} // namespace

result<std::vector<std::string>>
find_damaged(std::span<const digest_record> records,
             const progress_callback& on_progress) {
  std::vector<std::string> out;
  for (const auto& record : records) {
    auto sound = verify(record, {.on_progress = on_progress});
    if (sound)
      continue;
    if (sound.error().code != ec::invalid_data)
      return std::move(sound).error();
    // A verification ends with the first array that is damaged.
    GRAPHMILL_TRY(auto each, find_damaged(arrays_alone(record), on_progress));
    if (each.empty())
      each.push_back(std::move(sound).error().message);
    std::ranges::move(each, std::back_inserter(out));
  }
  return out;
}

result<inspection> inspect_dataset(const dataset& data,
                                   const inspect_options& options,
                                   const progress_callback& on_progress) {
  const auto& info = data.info();
  inspector work{data, options, {}};
  work.found.node_types.resize(info.node_types.size());
  work.found.edge_types.resize(info.edge_types.size());
  work.touched.resize(info.node_types.size());
  const auto total = info.node_types.size() + info.edge_types.size();
  auto tell = [&, done = std::uint64_t{0}]() mutable {
    if (on_progress)
      on_progress({.phase = "read arrays", .done = ++done, .total = total});
  };
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t, tell())
    work.inspect_nodes(t);
  for (edge_type_id t = 0; t < std::ssize(info.edge_types); ++t, tell())
    work.inspect_edges(t);
  // What is wrong with edges would be found anew for each row.
  for (std::size_t t = 0; t < info.tasks.size() && work.found.broken.empty();
       ++t)
    work.found.tasks.push_back(inspect_task(data, t, work.found.broken));
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    work.found.node_types[t].isolated =
      info.node_types[t].count - std::ranges::count(work.touched[t], true);
  auto records = options.records;
  if (!work.is_part()) {
    GRAPHMILL_TRY(records, records_of(data));
  }
  GRAPHMILL_TRY(auto damaged, find_damaged(records, on_progress));
  std::ranges::move(damaged, std::back_inserter(work.found.broken));
  work.found.unused = unused_arrays(data);
  if (auto fault = mapped_file::first_fault())
    return *std::move(fault);
  return std::move(work.found);
}

} // namespace graphmill
