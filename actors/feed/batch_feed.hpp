#pragma once

#include "actors/feed/feed_frames.hpp"
#include "actors/feed/pass_seeds.hpp"
#include "messages/base/error.hpp"

#include <spdlog/fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

class feed_consumer;

/// What makes batches for a consumer, from when its request was carried out
/// until it is gone. Used by the thread that serves the consumer.
class batch_feed {
public:
  virtual ~batch_feed() = default;

  /// The consumer wants the steps of a pass, and no others any more.
  virtual void begin(const feed_pass& pass) = 0;

  /// The consumer has returned batches. What it has freed is freed. With none,
  /// it may have room again for what it had none for.
  virtual void take_back(std::vector<batch_back> batches) = 0;

  /// The consumer is to be told what limits the feed.
  virtual void judge() = 0;
};

/// A feed with the answer to the request for it.
struct opened_feed {
  std::unique_ptr<batch_feed> feed;
  std::string answer;
  std::int64_t steps = 0; ///< Of each epoch.
  pass_seeds seeds;
};

/// What a feed is made of. What it refers to outlives it.
struct feed_making {
  feed_consumer& consumer;
  feed_request request;
  /// As the request says of its descriptor.
  std::optional<std::vector<node_id>> seeds;
  std::shared_ptr<spdlog::logger> log;
};

/// Makes a feed, or says what is wrong with the request.
using feed_maker = std::function<result<opened_feed>(feed_making)>;

} // namespace graphmill
