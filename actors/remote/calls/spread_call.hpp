#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/data.hpp"
#include "messages/wire/frame.hpp"
#include "partition/sampling/inclusion.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// The message that asks the owner of a part for what follows from chances.
result<payload> encode(const std::string& run, part_id part,
                       const inclusion_request& request);

/// Reads its answer, whose meaning has not been checked yet.
result<inclusion_reply> read_spread(const payload& from);

/// What an answer takes, twice the most of what is sent.
inline constexpr std::uint64_t most_spread_bytes = std::uint64_t{16} << 20;

/// Answers such a message. That takes a moment, so a handler may do it.
result<payload> answer_spread(const shard& part, const spread_request& request,
                              const payload& from);

} // namespace graphmill
