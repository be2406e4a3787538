#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/wire/data.capnp.h"

#include <optional>

// How a rule of drawing travels: by the same fields in every message of
// data.capnp that has one.

namespace graphmill::wire {

constexpr schema::DrawMethod method_of(draw_kind kind) {
  switch (kind) {
  case draw_kind::without_replacement:
  case draw_kind::with_replacement:
    return schema::DrawMethod::UNIFORM;
  case draw_kind::weighted_without_replacement:
  case draw_kind::weighted_with_replacement:
    return schema::DrawMethod::WEIGHTS;
  case draw_kind::labor:
    return schema::DrawMethod::SOURCES;
  }
  return schema::DrawMethod::UNSET;
}

/// None: there is no such kind.
constexpr std::optional<draw_kind> kind_of(schema::DrawMethod method,
                                           bool replace) {
  switch (method) {
  case schema::DrawMethod::UNIFORM:
    return replace ? draw_kind::with_replacement
                   : draw_kind::without_replacement;
  case schema::DrawMethod::WEIGHTS:
    return replace ? draw_kind::weighted_with_replacement
                   : draw_kind::weighted_without_replacement;
  case schema::DrawMethod::SOURCES:
    if (!replace)
      return draw_kind::labor;
    break;
  case schema::DrawMethod::AMONG: // Nothing is drawn.
  case schema::DrawMethod::UNSET:
    break;
  }
  return std::nullopt;
}

template <class Builder>
void write_rule(const draw_rule& from, Builder to) {
  to.setFanout(from.fanout);
  to.setReplace(repeats(from.kind));
  to.setMethod(method_of(from.kind));
}

/// Reads a rule; the fanout has not been checked. Fails with `invalid_data` if
/// its kind is unknown.
template <class Reader>
result<draw_rule> read_rule(Reader from) {
  const auto kind = kind_of(from.getMethod(), from.getReplace());
  if (!kind)
    return fail(ec::invalid_data,
                "neighbours are to be drawn by method {}{}, which this "
                "Graphmill does not know",
                static_cast<int>(from.getMethod()),
                from.getReplace() ? " with replacement" : "");
  return draw_rule{from.getFanout(), *kind};
}

} // namespace graphmill::wire
