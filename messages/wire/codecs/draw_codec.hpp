#pragma once

#include "messages/base/draw_rule.hpp"

// How a rule of drawing travels: by the same fields in every message of
// data.capnp that has one.

namespace graphmill::wire {

template <class Builder>
void write_rule(const draw_rule& from, Builder to) {
  to.setFanout(from.fanout);
  switch (from.kind) {
  case draw_kind::without_replacement:
    return to.setReplace(false);
  case draw_kind::with_replacement:
    return to.setReplace(true);
  }
}

/// Reads a rule. Its kind is a known one; the fanout has not been checked.
template <class Reader>
draw_rule read_rule(Reader from) {
  return {from.getFanout(), from.getReplace() ? draw_kind::with_replacement
                                              : draw_kind::without_replacement};
}

} // namespace graphmill::wire
