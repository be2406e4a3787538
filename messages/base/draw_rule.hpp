#pragma once

#include "messages/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace graphmill {

/// How in-edges of a node are drawn where not all of them are taken. All that
/// must be known about a kind is in this file, but for three things: by which
/// fields users choose it (`definition::sampler_section::kind`), which
/// positions of a list are drawn, and how the kind travels
/// (messages/wire/codecs/draw_codec.hpp).
/// partition/sampling/draws.hpp and keyed_draws.hpp define what each draws.
enum class draw_kind : std::uint8_t {
  without_replacement,
  with_replacement,
  weighted_without_replacement, ///< By the weights of edges.
  weighted_with_replacement,
  labor ///< By a number of each source that all destinations of a hop share.
};

/// Whether the draws of a kind depend on what is in the list, so that all of a
/// list is read before something of it is drawn.
constexpr bool reads_lists(draw_kind kind) {
  switch (kind) {
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
    return false;
  case draw_kind::weighted_without_replacement:
  case draw_kind::weighted_with_replacement:
  case draw_kind::labor:
    return true;
  }
  return true;
}

/// What a kind is where edges have no weights: those by weights are uniform.
constexpr draw_kind without_weights(draw_kind kind) {
  switch (kind) {
  case draw_kind::weighted_without_replacement:
    return draw_kind::without_replacement;
  case draw_kind::weighted_with_replacement:
    return draw_kind::with_replacement;
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
  case draw_kind::labor:
    break;
  }
  return kind;
}

/// Whether draws of a kind may take an in-edge more than once.
constexpr bool repeats(draw_kind kind) {
  switch (kind) {
  case draw_kind::without_replacement:
  case draw_kind::weighted_without_replacement:
  case draw_kind::labor:
    return false;
  case draw_kind::with_replacement:
  case draw_kind::weighted_with_replacement:
    return true;
  }
  return true;
}

/// How many in-edges of a node are sampled, and how. How many sources a list
/// gives depends on the length of the list alone, so that whoever reserves
/// memory, cuts requests or checks an answer knows it before anything is drawn.
/// Value type.
struct draw_rule {
  std::int32_t fanout = 0; ///< In-edges per node; -1 = all, 0 = none.
  draw_kind kind = draw_kind::without_replacement;

  /// Fails with `invalid_argument` if it makes no sense, as a rule that comes
  /// from outside may.
  result<void> check() const {
    if (fanout < -1)
      return fail(ec::invalid_argument, "fanout {} is below -1 (all)", fanout);
    return ok();
  }

  /// Whether every list is taken as it is.
  bool takes_all() const { return fanout < 0; }

  /// Whether a list of `degree` in-edges is taken as it is. From any other one
  /// exactly `fanout` are drawn.
  bool takes_whole(std::int64_t degree) const {
    if (takes_all() || degree == 0)
      return true;
    return !repeats(kind) && degree <= fanout;
  }

  /// How many sources a list of `degree` in-edges gives: never fewer than a
  /// shorter one, so that for the longest list it is a bound for all.
  std::int64_t sources_of(std::int64_t degree) const {
    return takes_whole(degree) ? degree : fanout;
  }

  /// The probability that one of `degree` in-edges, at least 1, is taken. By
  /// weights, that is the average of a list of equal ones.
  double chance(std::int64_t degree) const {
    if (takes_all())
      return 1;
    const auto share = 1.0 / static_cast<double>(degree);
    return repeats(kind) ? 1 - std::pow(1 - share, fanout)
                         : std::min(1.0, fanout * share);
  }

  /// Whether an in-edge may be taken more than once.
  bool may_repeat() const { return !takes_all() && repeats(kind); }
};

} // namespace graphmill
