#include "messages/work/seed_outcomes.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

result<void> check_ranks(const std::vector<rank_count>& ranks) {
  auto before = std::pair{std::int32_t{0}, std::int64_t{1}};
  for (const auto& [doubled, count, relation] : ranks) {
    const auto now = std::pair{relation, doubled};
    if (now <= before || relation >= seed_outcomes::most_relations
        || doubled < 2 || doubled > seed_outcomes::most_doubled_rank
        || count < 1)
      return fail(ec::invalid_data,
                  "{} links of edge type {} have twice the rank {}, behind "
                  "twice the rank {} of type {}",
                  count, relation, doubled, before.second, before.first);
    before = now;
  }
  return ok();
}

result<void> check_groups(const std::vector<group_count>& groups,
                          std::int64_t links) {
  auto before = std::pair{std::int32_t{0}, std::int64_t{0}};
  std::int64_t sum = 0;
  for (const auto& [size, count, doubled] : groups) {
    const auto now = std::pair{size, doubled};
    if (size < 1 || size > seed_outcomes::most_grouped || doubled < 2
        || doubled > seed_outcomes::most_doubled_rank || count < 1
        || now <= before)
      return fail(ec::invalid_data,
                  "{} links of groups of {} have twice the rank {}", count,
                  size, doubled);
    before = now;
    sum += count;
  }
  if (sum > links)
    return fail(ec::invalid_data, "{} of {} links have ranks in groups", sum,
                links);
  return ok();
}

result<void> check_links(const seed_outcomes& told) {
  const auto& [destinations, sources] =
    std::tie(told.destination_ranks, told.source_ranks);
  if (told.form != outcome_form::ranks) {
    if (destinations.empty() && sources.empty() && told.tied == 0
        && told.groups.empty())
      return ok();
    return fail(ec::invalid_data, "ranks in outcomes that are not of links");
  }
  if (told.classes != 1 || !told.confusion.empty())
    return fail(
      ec::invalid_data,
      "outcomes of links of {} classes, of which {} pairs are counted",
      told.classes, told.confusion.size());
  GRAPHMILL_TRYV(check_ranks(destinations));
  GRAPHMILL_TRYV(check_ranks(sources));
  const auto heads = seed_outcomes::rows_of(sources);
  const auto tails = seed_outcomes::rows_of(destinations);
  constexpr auto most =
    static_cast<std::int64_t>(seed_outcomes::most_batch_scores);
  if (heads > most || tails > most)
    return fail(ec::invalid_data, "{} and {} ranks of a batch; {} are the most",
                tails, heads, most);
  if (heads != 0 && tails != 0 && heads != tails)
    return fail(ec::invalid_data,
                "{} ranks of destinations and {} of sources, of the same links",
                tails, heads);
  GRAPHMILL_TRYV(check_groups(told.groups, tails));
  if (told.tied < 0 || told.tied > heads + tails)
    return fail(ec::invalid_data, "{} of {} ranks are tied", told.tied,
                heads + tails);
  return ok();
}

} // namespace

std::int64_t seed_outcomes::rows_of(const std::vector<rank_count>& ranks) {
  std::int64_t sum = 0;
  for (const auto& one : ranks)
    sum += one.count;
  return sum;
}

result<void> seed_outcomes::check() const {
  const auto choices = form == outcome_form::ranks ? 2 : classes;
  const auto is_class = [choices](std::int32_t one) {
    return one >= 0 && one < choices;
  };
  if (classes < 1)
    return fail(ec::invalid_data, "outcomes of seeds of {} classes", classes);
  GRAPHMILL_TRYV(check_links(*this));
  const auto multi_label = form == outcome_form::labels;
  if (form == outcome_form::values && !confusion.empty())
    return fail(ec::invalid_data,
                "outcomes of values that count {} pairs of classes",
                confusion.size());
  if (!confusion.empty() && !multi_label && classes > most_counted_classes)
    return fail(ec::invalid_data,
                "counts of pairs of {} classes; {} are the most", classes,
                most_counted_classes);
  // What is kept of them grows with the labels, of which each has an outcome.
  if (multi_label && !confusion.empty()
      && confusion.size() < static_cast<std::size_t>(classes))
    return fail(ec::invalid_data, "{} outcomes of {} labels", confusion.size(),
                classes);
  for (const auto& pair : confusion)
    if (!is_class(pair.label) || pair.count < 1
        || (multi_label ? pair.predicted < absent || pair.predicted > right
                        : !is_class(pair.predicted)))
      return fail(ec::invalid_data,
                  "{} seeds of class {} were taken for class {}, and there are "
                  "{} classes",
                  pair.count, pair.label, pair.predicted, classes);
  const auto width = static_cast<std::size_t>(classes);
  const auto valued = form == outcome_form::values ? scores.size() : 0;
  if (scores.size() % width != 0 || labels.size() != scored() * label_words()
      || values.size() != valued)
    return fail(
      ec::invalid_data,
      "{} scores for {} labels and {} values of seeds, and {} classes",
      scores.size(), labels.size(), values.size(), classes);
  if (!std::ranges::all_of(values,
                           [](float one) { return std::isfinite(one); }))
    return fail(ec::invalid_data,
                "a seed whose label should be a number has none");
  if (!multi_label && !std::ranges::all_of(labels, is_class))
    return fail(ec::invalid_data,
                "scores of a seed whose label is none of {} classes", classes);
  if (scores.size() + values.size() > most_batch_scores)
    return fail(ec::invalid_data, "{} scores of a batch; {} are the most",
                scores.size(), most_batch_scores);
  return ok();
}

} // namespace graphmill
