#include "pipelines/kernels/links/link_losses.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// -log sigmoid(x), and the sigmoid of -x, by which it falls.
struct log_loss {
  double amount;
  double slope;
};
log_loss log_loss_of(double x) {
  const auto e = std::exp(-std::abs(x));
  const auto other = 1 / (1 + e); // sigmoid(|x|)
  return {std::max(-x, 0.0) + std::log1p(e), x > 0 ? e * other : other};
}

/// One row: the edge's score, and those of the negatives that exist.
struct link_row {
  double edge = 0;
  std::span<const double> negatives;
};

/// Derivatives by these scores.
struct link_row_gradient {
  double edge = 0;
  std::span<double> negatives;
};

double bce(const link_row& row, double margin, link_row_gradient& out) {
  const auto [amount, slope] = log_loss_of(margin + row.edge);
  const auto each = 0.5 / static_cast<double>(row.negatives.size());
  out.edge = -slope / 2;
  auto sum = amount / 2;
  for (std::size_t k = 0; k < row.negatives.size(); ++k) {
    const auto one = log_loss_of(-margin - row.negatives[k]);
    sum += one.amount * each;
    out.negatives[k] = one.slope * each;
  }
  return sum;
}

double margin_loss(const link_row& row, double margin, link_row_gradient& out) {
  const auto each = 1 / static_cast<double>(row.negatives.size());
  double sum = 0;
  out.edge = 0;
  for (std::size_t k = 0; k < row.negatives.size(); ++k) {
    const auto short_by = margin - row.edge + row.negatives[k];
    // What is no number stays it.
    const auto counts = !(short_by <= 0);
    sum += counts ? short_by * each : 0;
    out.negatives[k] = counts ? each : 0;
    out.edge -= out.negatives[k];
  }
  return sum;
}

double bpr(const link_row& row, link_row_gradient& out) {
  const auto each = 1 / static_cast<double>(row.negatives.size());
  double sum = 0;
  out.edge = 0;
  for (std::size_t k = 0; k < row.negatives.size(); ++k) {
    const auto one = log_loss_of(row.edge - row.negatives[k]);
    sum += one.amount * each;
    out.negatives[k] = one.slope * each;
    out.edge -= out.negatives[k];
  }
  return sum;
}

/// Exponentials of `factor` times the scores, over those of the largest.
/// @returns their sum.
double exponentials(std::span<const double> scores, double factor, double top,
                    std::span<double> out) {
  double sum = 0;
  for (std::size_t k = 0; k < scores.size(); ++k)
    sum += out[k] = std::exp(factor * scores[k] - top);
  return sum;
}

double softmax_loss(const link_row& row, link_row_gradient& out) {
  auto top = row.edge;
  for (const auto score : row.negatives)
    top = std::max(top, score);
  const auto own = std::exp(row.edge - top);
  const auto rest = exponentials(row.negatives, 1, top, out.negatives);
  const auto sum = own + rest;
  out.edge = -rest / sum;
  for (auto& one : out.negatives)
    one /= sum;
  return top - row.edge + std::log(sum);
}

double self_adversarial(const link_row& row, const link_loss_shape& shape,
                        link_row_gradient& out) {
  const auto [amount, slope] = log_loss_of(shape.margin + row.edge);
  out.edge = -slope / 2;
  auto top = -std::numeric_limits<double>::infinity();
  for (const auto score : row.negatives)
    top = std::max(top, shape.temperature * score);
  const auto sum =
    exponentials(row.negatives, shape.temperature, top, out.negatives);
  auto loss = amount / 2;
  for (std::size_t k = 0; k < row.negatives.size(); ++k) {
    const auto one = log_loss_of(-shape.margin - row.negatives[k]);
    const auto share = out.negatives[k] / sum / 2;
    loss += share * one.amount;
    out.negatives[k] = share * one.slope;
  }
  return loss;
}

double loss_of(const link_row& row, const link_loss_shape& shape,
               link_row_gradient& out) {
  switch (shape.kind) {
  case link_loss::bce:
    return bce(row, 0, out);
  case link_loss::margin:
    return margin_loss(row, shape.margin, out);
  case link_loss::bpr:
    return bpr(row, out);
  case link_loss::softmax:
    return softmax_loss(row, out);
  case link_loss::self_adversarial:
    break;
  }
  return self_adversarial(row, shape, out);
}

/// The rank of an edge among some of its negatives, doubled.
struct link_rank {
  std::int64_t doubled = 2;
  bool tied = false;

  void meet(float edge, float negative) {
    if (negative == no_score)
      return;
    if (negative == edge) {
      ++doubled;
      tied = true;
    } else if (!(negative < edge)) {
      doubled += 2;
    }
  }
};

/// Calls `add` of each value that there is, ascending, and its number.
template <class Value, class Add>
void count_values(std::vector<Value> values, const Add& add) {
  std::sort(values.begin(), values.end());
  for (auto at = values.begin(); at != values.end();) {
    const auto behind = std::upper_bound(at, values.end(), *at);
    add(*at, static_cast<std::int32_t>(behind - at));
    at = behind;
  }
}

std::vector<rank_count> counted_ranks(std::span<const std::int64_t> ranks,
                                      std::span<const std::int32_t> relations) {
  std::vector<std::pair<std::int32_t, std::int64_t>> typed;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    typed.emplace_back(relations.empty() ? 0 : relations[i], ranks[i]);
  std::vector<rank_count> out;
  count_values(std::move(typed), [&out](const auto& one, std::int32_t count) {
    out.push_back({one.second, count, one.first});
  });
  return out;
}

} // namespace

batch_metrics link_losses(const_matrix logits, const link_loss_shape& shape,
                          double weight, matrix gradient) {
  batch_metrics sums;
  sums.seeds = logits.rows;
  std::vector<double> scores(static_cast<std::size_t>(logits.columns));
  std::vector<double> slopes(scores.size());
  std::vector<std::int64_t> slots(scores.size());
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto* row = logits.row(i);
    std::size_t count = 0;
    for (std::int64_t k = 1; k < logits.columns; ++k)
      if (row[k] != no_score) {
        scores[count] = row[k];
        slots[count++] = k;
      }
    link_row_gradient out{0, std::span{slopes}.first(count)};
    sums.loss_sum +=
      loss_of({row[0], std::span{scores}.first(count)}, shape, out);
    if (gradient.data == nullptr)
      continue;
    auto* g = gradient.row(i);
    std::fill(g, g + gradient.columns, 0.0f);
    g[0] = static_cast<float>(weight * out.edge);
    for (std::size_t k = 0; k < count; ++k)
      g[slots[k]] = static_cast<float>(weight * slopes[k]);
  }
  return sums;
}

seed_outcomes outcomes_of(link_ranks ranks, bool with_scores) {
  seed_outcomes out;
  out.classes = 1;
  out.form = outcome_form::ranks;
  out.tied = ranks.tied;
  out.destination_ranks = counted_ranks(ranks.destinations, ranks.relations);
  out.source_ranks = counted_ranks(ranks.sources, ranks.relations);
  count_values(std::move(ranks.groups),
               [&out](const link_ranks::grouped& one, std::int32_t count) {
                 out.groups.push_back({one.size, count, one.doubled});
               });
  for (std::size_t i = 0; with_scores && i < ranks.edges.size(); ++i) {
    out.labels.push_back(1);
    out.scores.push_back(ranks.edges[i]);
    if (ranks.firsts[i] == no_score)
      continue;
    out.labels.push_back(0);
    out.scores.push_back(ranks.firsts[i]);
  }
  return out;
}

seed_outcomes link_outcomes_of(const_matrix logits, const link_slots& slots,
                               bool with_scores,
                               std::span<const std::int32_t> relations) {
  const auto ranks_destinations =
    slots.wrong_destinations + slots.joint_destinations > 0;
  const auto ranks_sources = slots.wrong_sources + slots.joint_sources > 0;
  link_ranks out;
  out.relations.assign(relations.begin(), relations.end());
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const auto* row = logits.row(i);
    link_rank destination;
    link_rank source;
    auto first = no_score;
    for (std::int64_t k = 1; k < slots.count(); ++k) {
      (slots.replaces_source(k) ? source : destination).meet(row[0], row[k]);
      if (first == no_score)
        first = row[k];
    }
    if (ranks_destinations) {
      out.destinations.push_back(destination.doubled);
      out.tied += destination.tied;
    }
    if (ranks_sources) {
      out.sources.push_back(source.doubled);
      out.tied += source.tied;
    }
    out.edges.push_back(row[0]);
    out.firsts.push_back(first);
  }
  return outcomes_of(std::move(out), with_scores);
}

} // namespace graphmill
