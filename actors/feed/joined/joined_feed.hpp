#pragma once

#include "actors/feed/batch_feed.hpp"

namespace graphmill {

/// Makes a feed whose parts daemons of a cluster have. The process joins the
/// cluster for it. Losses are waited for as the definition's `recovery` says;
/// then the feed goes on from the step that is due, with the same batches.
result<opened_feed> join_cluster(feed_making of);

} // namespace graphmill
