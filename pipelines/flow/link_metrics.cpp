#include "pipelines/flow/link_metrics.hpp"

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
  for (const auto& [doubled, count] : ranks) {
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
