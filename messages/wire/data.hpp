#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/bulk.hpp"
#include "messages/wire/frame.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

// The requests of the data plane as plain structs; data.capnp describes their
// fields and the allowed element types of arrays. All structs are values. A
// `bulk_array` gives the position of an array in the bulk frames of the same
// message; bulk.hpp reads it.

/// The longest name of a run, in bytes.
inline constexpr std::size_t max_run_name = 256;

/// The largest number of queries of a request, and of kinds of data of a query.
inline constexpr std::size_t max_queries = 4096;
inline constexpr std::size_t max_kinds = 16;

/// Edges to exclude, list after list: of which lists, how many of each, and
/// which.
struct excluded_arrays {
  bulk_array at; ///< Positions in a query, or destinations of a batch.
  bulk_array counts;
  bulk_array edges;
};

/// Asks for in-edges of one type, drawn by a rule.
struct neighbour_query {
  edge_type_id edge_type = 0;
  draw_rule rule;
  bool edge_ids = false;
  bulk_array destinations;
  /// If not 0, there is one destination, and the request is for a slice of its
  /// sources: this many, from number `skip` on.
  std::int64_t most = 0;
  std::int64_t skip = 0;
  bool weights = false;
  excluded_arrays excluded{};
  std::uint8_t level = 2; ///< Edges of higher levels do not count.
  bool places = false;
  bulk_array
    until{}; ///< One for each destination or for all; absent: no limit.
  bool inclusive = false;
  bool latest = false;
  std::int64_t window = 0; ///< 0: no limit.
  bulk_array rows{};       ///< Of each destination; absent: no trees.
  /// Answers hold the edges whose sources are in `among` of the request. The
  /// rule must take all edges.
  bool among = false;
  bool ages = false; ///< Only with `until`.
};
/// Asks the daemon of a part for one hop of one batch (`sample`).
struct sample_request {
  std::string run;
  part_id part = 0;
  std::uint64_t key = 0;
  std::int32_t hop = 0;
  std::vector<neighbour_query> queries;
  std::vector<bulk_array> among{}; ///< By node type; empty: no query needs it.
};

/// Lists of neighbours, one after the other: their lengths, and their content.
struct neighbour_arrays {
  bulk_array counts;
  bulk_array sources;
  bulk_array edge_ids;
  bulk_array weights{};
  bulk_array places{};
  bulk_array ages{};
};
/// The answer to `sample`: one per query, or none if it would be too large.
struct sample_reply {
  std::vector<neighbour_arrays> answers;
  bool too_large = false;
};

/// Kinds of data of a node. The values are those of data.capnp. In memory,
/// features are rows of float, in-weights float, degrees int32, and all others
/// int64.
enum class gather_kind : std::uint16_t {
  unset, ///< Never sent, like every value 0 of an enumeration.
  features,
  labels,
  degrees, ///< In-degrees of all edge types together, over the full graph.
  original_ids,
  out_degrees, ///< Out-degrees, likewise.
  in_weights,  ///< Sums of the weights of in-edges, likewise.
  /// Of edges, by their places in the part: rows of float.
  edge_features,
};
/// Asks for some kinds of data of nodes of one type.
struct value_query {
  node_type_id node_type = 0;
  bulk_array ids;
  std::vector<gather_kind> kinds;
  bool half = false;
  /// By edge type; empty: of none.
  std::vector<excluded_arrays> excluded{};
  std::uint8_t level = 2; ///< Edges of higher levels do not count.
  /// Of edge features: whose; -1 otherwise. `ids` are places, or with `edges`
  /// destinations of edges with these original ids.
  edge_type_id edge_type = -1;
  bulk_array edges{};
};
/// Asks the daemon of a part for data of nodes that it owns (`gather`).
struct gather_request {
  std::string run;
  part_id part = 0;
  std::vector<value_query> queries;
};
/// The answer to `gather`.
struct gather_reply {
  /// One array per query and kind: those of the first query first.
  std::vector<bulk_array> values;
};

/// Which plan of the run's definition samples a batch. The values are those of
/// data.capnp.
enum class batch_kind : std::uint16_t { unset, train, evaluate };
/// Asks a daemon that samples for others for a whole batch (`sample_batch`).
struct batch_request {
  std::string run;
  std::uint64_t key = 0;
  batch_kind kind = batch_kind::unset;
  bulk_array seeds;                 ///< Of the target type.
  std::optional<batch_key> batch{}; ///< For observers.
  /// By node type, if there are seeds of others than the target; then `seeds`
  /// is absent. Else empty.
  std::vector<bulk_array> seeds_by_type{};
  std::vector<excluded_arrays> excluded{}; ///< By edge type; empty: of none.
  bulk_array until{}; ///< Times of rows, or one of all seeds.
  bulk_array rows{};  ///< With trees: numbers of rows.
  bulk_array trees{}; ///< Likewise: of each seed, the place of its row.
};
/// The nodes of one type in a batch, in order of discovery.
struct node_arrays {
  /// [hops + 1] Nodes known after each hop, from 0, the seeds, on. The numbers
  /// do not fall.
  std::vector<std::int64_t> found;
  bulk_array ids;     ///< Without those of the seeds, which the caller has.
  bulk_array trees{}; ///< Of the same nodes; absent without trees.
};
/// The answer to `sample_batch`: a batch, or nothing if it is too large.
struct batch_reply {
  std::vector<node_arrays> nodes;      ///< By node type.
  std::vector<neighbour_arrays> edges; ///< By edge type; local ids.
  bool too_large = false;
};

/// The largest numbers of node and edge types, and of hops, in a batch's
/// message.
inline constexpr std::size_t max_types = 4096;
inline constexpr std::size_t max_found = 64;

/// Asks the daemon of a part for one step of the analysis that chooses the rows
/// of a cache (`spread`).
struct spread_request {
  std::string run;
  part_id part = 0;
  edge_type_id edge_type = 0;
  draw_rule rule;
  node_id first = 0;
  std::int64_t skip = 0;
  bulk_array chances;
};
/// The answer to `spread`: as much of it as one message takes.
struct spread_reply {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  bulk_array sources;
  bulk_array misses;
};

/// Asks for blocks of an array of a part.
struct prove_query {
  node_type_id node_type = 0;
  gather_kind kind = gather_kind::unset;
  bulk_array blocks;
};
/// Asks the daemon of a part for a proof of values that it has sent (`prove`).
struct prove_request {
  std::string run;
  part_id part = 0;
  std::vector<prove_query> queries;
};
/// Blocks, one after the other, and digests beside them.
struct proof_arrays {
  bulk_array content;
  bulk_array digests;
};
/// The answer to `prove`: one per query.
struct prove_reply {
  std::vector<proof_arrays> proofs;
};

/// Encodes a struct and the arrays to which it refers, which are all that were
/// added to `arrays`. Fails with `invalid_argument` if the message is too
/// large.
result<payload> encode(const sample_request& from, bulk_writer arrays);
result<payload> encode(const sample_reply& from, bulk_writer arrays);
result<payload> encode(const gather_request& from, bulk_writer arrays);
result<payload> encode(const gather_reply& from, bulk_writer arrays);
result<payload> encode(const batch_request& from, bulk_writer arrays);
result<payload> encode(const batch_reply& from, bulk_writer arrays);
result<payload> encode(const spread_request& from, bulk_writer arrays);
result<payload> encode(const spread_reply& from, bulk_writer arrays);
result<payload> encode(const prove_request& from, bulk_writer arrays);
result<payload> encode(const prove_reply& from, bulk_writer arrays);

/// Decodes foreign input; fails with `invalid_data`. Arrays are checked against
/// the frames and have element types that data.capnp allows, lists are within
/// the limits above, and kinds of data and batches are known. Part, types,
/// fanouts and ids are not checked: that needs the dataset.
result<sample_request> decode_sample_request(const payload& from);
result<sample_reply> decode_sample_reply(const payload& from);
result<gather_request> decode_gather_request(const payload& from);
result<gather_reply> decode_gather_reply(const payload& from);
result<batch_request> decode_batch_request(const payload& from);
result<batch_reply> decode_batch_reply(const payload& from);
result<spread_request> decode_spread_request(const payload& from);
result<spread_reply> decode_spread_reply(const payload& from);
result<prove_request> decode_prove_request(const payload& from);
result<prove_reply> decode_prove_reply(const payload& from);

} // namespace graphmill
