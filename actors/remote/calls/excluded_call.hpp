#pragma once

#include "messages/wire/data.hpp"
#include "partition/sampling/excluded_edges.hpp"

// Edges to exclude as parts of messages; data.capnp says what they mean. No
// actors.

namespace graphmill {

/// Adds the edges to a message.
excluded_arrays write_excluded(const excluded_view& from, bulk_writer& arrays);
excluded_arrays write_excluded(const excluded_edges& from, bulk_writer& arrays);

/// Reads edges of a request. Fails with `invalid_argument` unless they are as
/// `excluded_view` describes. Whether they are in the lists is for who samples
/// to say.
/// @param lists Of the request.
result<excluded_lists> read_excluded(const excluded_arrays& arrays,
                                     const payload& from, std::size_t lists);

/// Reads edges of a whole batch. Fails likewise.
result<excluded_edges> read_excluded(const excluded_arrays& arrays,
                                     const payload& from);

} // namespace graphmill
