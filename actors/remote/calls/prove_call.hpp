#pragma once

#include "actors/remote/calls/gather_call.hpp"
#include "actors/remote/calls/row_audit.hpp"
#include "messages/wire/data.hpp"
#include "partition/dataset/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// What one message asks the owner of a part to prove, of values that it has
/// sent for one job and that have been written to where the job wants them.
struct prove_call {
  /// A value, by its place among the ids of the job, and the block of the
  /// owner's file that must have it.
  struct value {
    std::int64_t block = 0;
    std::size_t at = 0;
  };
  /// Values of one target, in the order of blocks.
  struct piece {
    std::size_t values = 0; ///< Position in `wanted`.
    std::size_t target = 0; ///< Position in its `targets`.
    std::vector<value> checked;
  };
  std::shared_ptr<remote_gather> of;
  std::vector<piece> pieces;
  std::string sender{}; ///< The daemon that has sent the values.

  bool wanted() const { return !of->over; }

  result<payload> encoded(const std::string& run, part_id part) const;
};

/// What was wrong with what daemons sent: the proof, which may be from another
/// one than the values, or the values, which a good proof shows.
enum class proof_fault : std::uint8_t { proof, values };

/// What is to be proved of the answer to a call, as the audit chooses, in calls
/// whose answers have at most `reply_bytes`, or one block. Of degrees nothing
/// is, for they are sums that no file has.
/// @param batch As in `gather_job`.
std::vector<prove_call> cut_checks(const partitioned_graph& graph,
                                   const gather_call& call,
                                   const row_audit& audit, std::uint64_t batch,
                                   std::uint64_t reply_bytes);

/// Compares values with the blocks of an answer, and these with the roots that
/// this process has of the part. Fails with a sentence about the first that
/// differs; then the owner has not sent what the dataset has.
/// @param half As for `scatter`. @param fault Set after a failure.
/// @returns how many values were compared.
result<std::uint64_t> check_proofs(const partitioned_graph& graph, part_id part,
                                   const prove_call& call, bool half,
                                   const payload& from, proof_fault& fault);

/// A request that fits the part, and what its answer takes at the most.
struct wanted_proofs {
  struct query {
    node_type_id type = 0;
    proved_array array = proved_array::features;
    std::vector<std::int64_t> blocks;
  };
  std::vector<query> queries;
  std::uint64_t bytes = 0;
};

/// Checks a request against the part.
result<wanted_proofs> read_prove(const shard& part, const prove_request& asked,
                                 const payload& from);

/// Answers it. That takes a moment, so a handler may do it.
result<payload> answer_prove(const shard& part, const wanted_proofs& wanted);

} // namespace graphmill
