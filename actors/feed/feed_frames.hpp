#pragma once

#include "messages/base/arena.hpp"
#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/health.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/flow/feed/form_batch.hpp"
#include "pipelines/planning/storage_decision.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

// Frames between a feed and its consumer, one for each packet of a local
// socket. A control frame is a JSON object with one member, named
// after its kind. Those of batches are rows of 64-bit integers in the order of
// the machine's bytes.

namespace graphmill {

/// Of all frames, in the first one of either side.
inline constexpr std::int64_t feed_version = 4;

/// Where a consumer has its batches sampled, beside its own machine.
struct feed_cluster {
  std::string join; ///< Addresses, as `graphmill node --join` takes them.
  std::filesystem::path key; ///< Empty: the user's own.
  bool insecure = false;
};

/// What a consumer wants: its first frame, "open".
struct feed_request {
  std::filesystem::path data;
  std::optional<feed_cluster> cluster; ///< None: `data` has all parts.
  std::string definition;              ///< Text; empty: `file` has it.
  std::filesystem::path file;          ///< Empty: `definition` is complete.
  std::vector<std::string> overrides;
  graphmill::phase phase = graphmill::phase::train;
  std::optional<bool> shuffled; ///< None: as training does for its phase.
  rank_id rank = 0;
  rank_id world = 1;
  batch_form form;
  storage_choice storage;
  bool verify = true;
  /// Its device reads the memory of batches: pages stay where they are.
  bool registers = false;
  bool own_seeds = false; ///< A descriptor with original ids comes along.
  /// The node type of these seeds; empty: the target type.
  std::string seed_type;
  std::int64_t most_seeds = 0; ///< Of a pass; 0: as many as these.

  // Of a task of edges.
  /// A descriptor with edges in place of the task's comes along: original ids
  /// of source and destination, and the place in `edge_types`, of each.
  bool own_pairs = false;
  std::vector<std::string> edge_types; ///< Of them; empty: that of the task.
  bool negatives = true;               ///< Of links: as the definition says.
};

/// The frame "begin": passes over the steps from `first` to `steps` of an
/// epoch. What is left of the pass before is abandoned.
struct feed_pass {
  std::uint64_t number = 0; ///< Of the pass, above those before it.
  std::int32_t epoch = 0;
  std::int64_t first = 0;
  std::int64_t steps = 0;
  /// A descriptor with original ids comes along, in place of the request's.
  bool own_seeds = false;
  /// These seeds, as global ids; null unless `own_seeds`.
  std::shared_ptr<const std::vector<node_id>> seeds = nullptr;
};

/// What the consumer says of a batch.
struct batch_back {
  std::uint64_t sequence = 0;
  bool returned = false; ///< It asks for another one in its place.
  bool freed = false;    ///< It reads none of its arrays any more.
};

/// The frame "judge": it wants to know what limits its feed.
struct wanted_verdict {};

using feed_frame = std::variant<feed_request, feed_pass,
                                std::vector<batch_back>, wanted_verdict>;

/// Reads a frame of a consumer. Fails with `version_mismatch` if it speaks
/// another version, and with `invalid_data` on anything that is no frame.
result<feed_frame> parse_feed_frame(std::span<const std::byte> packet);

/// What a consumer has to know of its feed.
struct feed_description {
  const dataset_info& info;
  const definition& def;
  const batch_form& form; ///< As it was settled.
  int hops = 0;
  std::int64_t seeds = 0; ///< Of a pass over all ranks.
  std::int64_t batch_size = 0;
  std::size_t arena_bytes = 0;
  part_id parts = 1;
  rank_id world = 1;
};

/// The answer to "open", which takes the descriptor of the arena along.
std::string opened_frame(const feed_description& of);

/// The feed cannot go on.
std::string error_frame(const error& reason);

/// What a consumer waits for, in a sentence; empty: for its batches alone.
std::string waits_frame(const std::string& what);

/// The answer to "judge", sooner or later.
std::string verdict_frame(const result<verdict>& said);

/// A batch: tag, sequence, pass, epoch, step, seeds of the step over all ranks;
/// nodes found by hop, for each type; edges by hop, for each list; and for each
/// array its place in the arena, its rows and its columns (0: one dimension).
std::vector<std::int64_t> batch_frame(std::uint64_t sequence,
                                      std::uint64_t pass,
                                      const formed_batch& batch,
                                      const arena& memory);

} // namespace graphmill
