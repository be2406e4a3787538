#pragma once

#include "actors/feed/batch_feed.hpp"
#include "actors/feed/feed_socket.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <memory>

namespace graphmill {

/// Feeds a consumer until it is gone: carries out its requests, one after the
/// other. Whatever is wrong with a request or with the data is told to the
/// consumer, which then ends. A feed ends with its parent, too. To be called
/// once per process, before any buffer is made: batches lie in memory that the
/// consumer maps. Fails if the socket does.
/// @param on_cluster Makes feeds that a cluster samples; empty: none are made.
result<void> run_feed(feed_socket& socket, std::shared_ptr<spdlog::logger> log,
                      feed_maker on_cluster = {});

} // namespace graphmill
