#pragma once

#include "actors/remote/counters.hpp"
#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"
#include "partition/dataset/shard.hpp"

#include <functional>
#include <memory>
#include <string>

namespace graphmill {

/// Asks a daemon something. Calls `on_reply` exactly once, on any thread,
/// within a deadline of its own; repeats the request as it sees fit.
using remote_call = std::function<void(
  method, payload, std::function<void(result<payload>)> on_reply)>;

/// How to reach a part of a run that another daemon serves.
struct remote_part {
  std::string run;
  part_id part = 0;
  std::string daemon; ///< Its name, for errors.
  std::shared_ptr<const partitioned_graph> graph;
  remote_call call;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<remote_counters> counters;

  /// An error that names where it comes from.
  error explain(const error& reason) const {
    return {reason.code, fmt::format("part {} at daemon \"{}\": {}", part,
                                     daemon, reason.message)};
  }
};

} // namespace graphmill
