#pragma once

#include "actors/feed/batch_feed.hpp"

namespace graphmill {

/// Makes a feed whose parts are all on this machine.
result<opened_feed> open_local_feed(feed_making of);

} // namespace graphmill
