#pragma once

#include "messages/definition/definition_words.hpp"
#include "messages/work/seed_outcomes.hpp"
#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/kernels/links/link_rows.hpp"
#include "pipelines/kernels/matrix.hpp"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// How scores of an edge and its negatives make a loss. With the score p of the
/// edge, and means over the scores n of its negatives:
///
///   bce               (-log sigmoid(p) + mean of -log(1 - sigmoid(n))) / 2
///   margin            mean of max(0, margin - p + n)
///   bpr               mean of -log sigmoid(p - n)
///   softmax           -log of exp(p) / (exp(p) + sum of exp(n))
///   self_adversarial  (-log sigmoid(m + p) + sum of w -log sigmoid(-m - n)) /
///   2
///
/// where m is the margin, and w the softmax of temperature times n, which
/// counts as a constant (Sun et al., "RotatE", ICLR'19; without weights it is
/// bce). bpr is Rendle et al., "BPR", UAI'09. A mean over no negatives is 0.
struct link_loss_shape {
  link_loss kind = link_loss::bce;
  double margin = 1;
  double temperature = 1;
};

/// The loss of links. Sums are made in double precision, in the order of rows.
/// @param logits [rows, slots], the edge first; slots of `no_score` do not
/// count.
/// @param weight Factor of all gradients: one over the rows of the step.
/// @param gradient [rows, slots], receives the gradient of the logits, unless
/// its data is null.
/// @returns the sum of losses, and the number of rows.
batch_metrics link_losses(const_matrix logits, const link_loss_shape& shape,
                          double weight, matrix gradient);

/// What ranks rows of links have. Value type.
struct link_ranks {
  /// A row in its group (`group_count`).
  struct grouped {
    std::int32_t size = 1;
    std::int64_t doubled = 2;
    friend auto operator<=>(const grouped&, const grouped&) = default;
  };

  std::vector<std::int64_t> destinations; ///< [rows] Twice; or not ranked.
  std::vector<std::int64_t> sources;      ///< Likewise.
  std::int64_t tied = 0;                  ///< Of all ranks.
  std::vector<grouped> groups;            ///< Of rows that are in one.
  std::vector<std::int32_t> relations;    ///< [rows] Empty: all are 0.
  /// [rows] Scores. None: negatives were not drawn.
  std::vector<float> edges;
  std::vector<float> firsts; ///< [rows] Of the first negative; or `no_score`.
  batch_metrics losses;      ///< Only if no row of scores is kept.
};

/// @param with_scores Whether scores are told.
seed_outcomes outcomes_of(link_ranks ranks, bool with_scores);

/// Ranks of edges among their negatives, for each end apart, and the scores of
/// each edge and of its first negative. A row whose negatives all do not exist
/// has rank 1, and the score of the edge alone. A negative beats the edge if
/// one of the two scores is not a number.
/// @param with_scores Whether scores are told.
/// @param relations [rows] Edge types; empty: all are 0.
seed_outcomes link_outcomes_of(const_matrix logits, const link_slots& slots,
                               bool with_scores,
                               std::span<const std::int32_t> relations = {});

} // namespace graphmill
