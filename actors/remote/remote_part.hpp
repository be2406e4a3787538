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

/// Takes an answer, and the name of the daemon that it is from.
using part_reply =
  std::function<void(result<payload>, const std::string& from)>;

/// Asks one of the daemons that serve a part, whichever; else as `remote_call`.
using part_call = std::function<void(method, payload, part_reply on_reply)>;

/// How to reach a part of a run that other daemons serve.
struct remote_part {
  std::string run;
  part_id part = 0;
  std::string daemon; ///< Name of its first owner, for errors.
  std::shared_ptr<const partitioned_graph> graph;
  part_call call;
  std::shared_ptr<buffer_pool> pool;
  std::shared_ptr<remote_counters> counters;

  /// An error that names where it comes from.
  /// @param from The daemon that answered.
  error explain(const error& reason, const std::string& from) const {
    return {reason.code, fmt::format("part {} at daemon \"{}\": {}", part, from,
                                     reason.message)};
  }
  /// The same of what was never asked.
  error explain(const error& reason) const { return explain(reason, daemon); }
};

} // namespace graphmill
