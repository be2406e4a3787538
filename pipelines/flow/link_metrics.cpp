#include "pipelines/flow/link_metrics.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

/// The mean over the ends that have rows.
template <class Value>
double over_ends(const link_result& of, const Value& value) {
  if (of.sources.rows() == 0)
    return value(of.destinations);
  if (of.destinations.rows() == 0)
    return value(of.sources);
  return (value(of.destinations) + value(of.sources)) / 2;
}

} // namespace

void rank_tally::add(std::span<const rank_count> ranks) {
  for (const auto& [doubled, count, relation] : ranks) {
    by_doubled_[doubled] += count;
    rows_ += count;
  }
}

double rank_tally::mrr() const {
  double sum = 0;
  for (const auto& [doubled, count] : by_doubled_)
    sum += 2 * static_cast<double>(count) / static_cast<double>(doubled);
  return sum / static_cast<double>(rows_);
}

double rank_tally::mean_rank() const {
  double sum = 0;
  for (const auto& [doubled, count] : by_doubled_)
    sum += static_cast<double>(count) * static_cast<double>(doubled) / 2;
  return sum / static_cast<double>(rows_);
}

double rank_tally::hits(double most) const {
  std::int64_t found = 0;
  for (const auto& [doubled, count] : by_doubled_)
    if (static_cast<double>(doubled) <= 2 * most)
      found += count;
  return static_cast<double>(found) / static_cast<double>(rows_);
}

void group_tally::add(std::span<const group_count> groups) {
  for (const auto& [size, count, doubled] : groups)
    counts_[{size, doubled}] += count;
}

/// @param value Of a link with a rank up to `most`: size of its group, rank.
template <class Value>
double group_tally::mean(double most, const Value& value) const {
  double sum = 0;
  double groups = 0;
  for (const auto& [key, count] : counts_) {
    const auto& [size, doubled] = key;
    groups += static_cast<double>(count) / size;
    if (static_cast<double>(doubled) <= 2 * most)
      sum += static_cast<double>(count)
             * value(size, static_cast<double>(doubled) / 2);
  }
  return sum / groups;
}

double group_tally::recall(double most) const {
  return mean(most, [](std::int32_t size, double) { return 1.0 / size; });
}

double group_tally::precision(double most) const {
  return mean(most, [most](std::int32_t, double) { return 1 / most; });
}

double group_tally::ndcg(double most) const {
  const auto gain = [](double rank) { return 1 / std::log2(rank + 1); };
  // The largest sum of so many links. Sizes of groups ascend.
  double ideal = 0;
  std::int64_t links = 0;
  return mean(most, [&](std::int32_t size, double rank) {
    const auto found =
      static_cast<std::int64_t>(std::min(most, static_cast<double>(size)));
    while (links < found)
      ideal += gain(static_cast<double>(++links));
    return gain(rank) / ideal;
  });
}

void link_result::add(const seed_outcomes& told) {
  destinations.add(told.destination_ranks);
  sources.add(told.source_ranks);
  for (const auto& one : told.destination_ranks)
    relations[one.relation][0].add({&one, 1});
  for (const auto& one : told.source_ranks)
    relations[one.relation][1].add({&one, 1});
  tied += told.tied;
  groups.add(told.groups);
}

std::size_t link_result::distinct() const {
  auto out = groups.distinct();
  for (const auto& [relation, ends] : relations)
    out += ends[0].distinct() + ends[1].distinct();
  return out;
}

double link_result::mrr() const {
  return over_ends(*this, [](const rank_tally& of) { return of.mrr(); });
}

double link_result::mean_rank() const {
  return over_ends(*this, [](const rank_tally& of) { return of.mean_rank(); });
}

double link_result::hits(double most) const {
  return over_ends(*this,
                   [most](const rank_tally& of) { return of.hits(most); });
}

double link_result::share_of_ties() const {
  return static_cast<double>(tied)
         / static_cast<double>(destinations.rows() + sources.rows());
}

} // namespace graphmill
