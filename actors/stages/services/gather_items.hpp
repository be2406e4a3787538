#pragma once

#include "actors/base/interfaces.hpp"
#include "partition/dataset/shard.hpp"

#include <cstdint>

namespace graphmill {

/// Whether a part has what an item of a job asks for.
result<void> check_item(const shard& part, const gather_item& item);

/// Bytes that an item writes.
std::uint64_t bytes_of(const shard& part, const gather_item& item);

/// Copies what an item asks for, which has been checked, to where it says.
/// @param rounded Round features to float16.
result<void> gather(const shard& part, const gather_item& item, bool rounded);

/// Asks the system for the pages that `gather` will read from a part on disk,
/// so that it fetches them all at once. Dense features of nodes are not read by
/// pages.
void request_pages(const shard& part, const gather_item& item);

} // namespace graphmill
