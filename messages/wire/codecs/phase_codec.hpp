#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"

namespace graphmill::wire {

inline schema::RunPhase to_wire(phase which) {
  return static_cast<schema::RunPhase>(static_cast<int>(which) + 1);
}

inline result<phase> from_wire(schema::RunPhase which) {
  const auto raw = static_cast<int>(which);
  if (raw < 1 || raw > 3)
    return fail(ec::invalid_data, "an unknown phase, {}", raw);
  return static_cast<phase>(raw - 1);
}

} // namespace graphmill::wire
