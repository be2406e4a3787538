#pragma once

#include "messages/definition/field_codec.hpp"
#include "messages/wire/health.capnp.h"
#include "messages/wire/health.hpp"

namespace graphmill {

// The values are the schema's.
template <>
inline constexpr int wire_offset<actor_kind> = 0;
static_assert(static_cast<int>(schema::ActorKind::CONDUCTOR)
              == static_cast<int>(actor_kind::conductor));

template <>
inline constexpr int wire_offset<actor_state> = 0;
static_assert(static_cast<int>(schema::ActorState::STOPPED)
              == static_cast<int>(actor_state::stopped));

} // namespace graphmill
