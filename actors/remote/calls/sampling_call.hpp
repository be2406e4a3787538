#pragma once

#include "messages/wire/data.hpp"
#include "partition/sampling/sampling.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// Nodes that a message names at the most: as ids of 8 bytes they take a third
/// of it, as ids of 4 bytes as much as an answer is likely to take.
inline constexpr std::size_t most_named_nodes = std::size_t{1} << 20;

/// A neighbour request to another daemon, in one message or several. Their
/// answers come in any order. A message names a limited number of nodes. For a
/// request among more nodes, the daemon sends all in-edges, and those from other
/// nodes are dropped here.
struct remote_sampling {
  /// @param most_named `most_named_nodes`, or fewer in tests.
  remote_sampling(neighbour_request wanted, std::shared_ptr<const void> owner,
                  std::size_t most_named = most_named_nodes);
  virtual ~remote_sampling() = default;

  neighbour_request request; ///< What is asked for.
  /// If not null: of what is answered, sources that are none of these are
  /// dropped.
  const node_subset* kept = nullptr;
  std::shared_ptr<const void> owner; ///< Keeps the request's span alive.
  struct piece {
    std::size_t from = 0;
    neighbour_reply reply;
  };
  std::vector<piece> pieces;
  std::map<std::size_t, neighbour_reply> slices; ///< Begun, by destination.
  std::size_t answered = 0;                      ///< Destinations.
  bool over = false;                             ///< Answered or failed.

  bool complete() const { return answered == request.destinations.size(); }

  /// Adds the answer about `count` destinations from number `from` on.
  void add(const dataset_info& info, std::size_t from, std::size_t count,
           neighbour_reply reply);
  /// The whole answer, in request order; once, when complete.
  neighbour_reply take();
};

/// Some destinations of one request, or a slice of the sources of one.
struct sampling_piece {
  std::shared_ptr<remote_sampling> of;
  std::size_t from = 0;
  std::size_t count = 0;
  std::int64_t most = 0; ///< If not 0: this many sources from `skip` on.
  std::int64_t skip = 0;

  std::span<const node_id> destinations() const {
    return of->request.destinations.subspan(from, count);
  }
};

/// What one message asks: pieces of requests of the same batch and hop.
struct sampling_call {
  std::vector<sampling_piece> pieces;

  bool wanted() const;

  /// Encodes what is asked. @param ids_bytes Of ids in the message.
  result<payload> encoded(const std::string& run, part_id part,
                          std::uint64_t& ids_bytes) const;

  /// Calls that together ask the same in smaller pieces: two halves, or for a
  /// single destination its first slice of `reply_bytes`. None if this call
  /// asks for a slice already.
  std::vector<sampling_call> smaller(std::uint64_t reply_bytes) const;
};

/// Cuts requests of the same batch and hop into calls whose answers are likely
/// to have at most `reply_bytes`.
std::vector<sampling_call>
cut_calls(const dataset_info& info,
          std::span<const std::shared_ptr<remote_sampling>> requests,
          std::uint64_t reply_bytes);

/// Reads the answer to a piece out of a message and adds it to its request.
/// Checks counts and the ranges that fit the dataset; of what does not fit,
/// nothing is added.
/// @returns the next slice, if the answer is one and not the last.
result<std::optional<sampling_piece>>
accept_piece(const dataset_info& info, const sampling_piece& piece,
             const neighbour_arrays& arrays, const payload& from,
             const std::shared_ptr<buffer_pool>& pool);

} // namespace graphmill
