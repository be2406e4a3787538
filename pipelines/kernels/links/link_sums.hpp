#pragma once

#include "pipelines/kernels/links/link_losses.hpp"

#include <cstdint>

namespace graphmill {

// What a link is among a long list of negatives, without a row of all scores:
// ranks and losses are sums, to which one block of scores is added after the
// other. Lengths of blocks are multiples of eight: `no_score` fills them up.

/// How many negatives of one end have been met. Value type.
struct met_negatives {
  std::int64_t greater = 0; ///< Or one of the two scores is not a number.
  std::int64_t equal = 0;

  /// Twice the rank.
  std::int64_t doubled_rank() const { return 2 + 2 * greater + equal; }
  std::int64_t not_less() const { return greater + equal; }
};

/// What negatives add to the loss of a link. Value type.
struct loss_sums {
  std::int64_t count = 0; ///< Negatives that exist.
  double terms = 0;
  // Of exponentials, which are over that of the largest.
  double weights = 0;
  float top = no_score; ///< The largest score so far.
};

/// Counts the scores of a block.
/// @param edge The score that they are compared with.
/// @returns how many of them exist.
std::int64_t meet_negatives(const float* scores, std::int64_t count, float edge,
                            met_negatives& out);

/// Adds what they give to the loss. Sums are made in eight lanes of floats and
/// then in double precision, the same for any instruction set. Means are right
/// to six digits. @param found How many of them exist.
void add_loss_terms(const link_loss_shape& shape, float edge,
                    const float* scores, std::int64_t count, std::int64_t found,
                    loss_sums& out);

/// The loss of a link, as `link_losses` has it.
double loss_of(const link_loss_shape& shape, float edge, const loss_sums& sums);

} // namespace graphmill
