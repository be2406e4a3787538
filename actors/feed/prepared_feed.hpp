#pragma once

#include "actors/feed/feed_frames.hpp"
#include "actors/feed/pass_seeds.hpp"
#include "actors/run/member/member.hpp"
#include "messages/base/error.hpp"
#include "partition/files/digest_record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// A feed before it has actors.
struct prepared_feed {
  definition def;                     ///< As it was wanted.
  member_config member;               ///< Without sink, log and gauges.
  std::vector<digest_record> records; ///< Of the files that it has opened.
  std::int64_t seeds = 0;             ///< Of a pass, over all ranks.
  std::int64_t batch_size = 0;        ///< Over all ranks.
  std::int64_t steps = 0;             ///< Of a pass.
  int hops = 0;                       ///< Of its batches.
  rank_id world = 1;
};

/// Opens the data of a request, and checks all that it asks for. On a cluster
/// no part is opened.
/// @param seeds In the place of those of a split, as the request says of its
/// descriptor; none: those of the split.
result<prepared_feed>
prepare_feed(const feed_request& request,
             const std::optional<std::vector<node_id>>& seeds);

/// The answer to the request.
std::string answer_of(const prepared_feed& prepared, std::size_t arena_bytes);

/// The seeds of its passes.
pass_seeds seeds_of(const prepared_feed& prepared);

/// What a member is asked for a pass.
phase_request phase_of(const feed_request& request, const feed_pass& pass);

} // namespace graphmill
