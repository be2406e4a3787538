#pragma once

#include "messages/base/draw_rule.hpp"
#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/bulk.hpp"
#include "messages/wire/frame.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace graphmill {

// The requests of the data plane in plain structs; data.capnp says what they
// mean. Arrays lie in the bulk frames of the same message.

/// The longest name of a run, in bytes.
inline constexpr std::size_t max_run_name = 256;

/// The most queries of a request, and kinds of a query.
inline constexpr std::size_t max_queries = 4096;
inline constexpr std::size_t max_kinds = 16;

struct neighbour_query {
  edge_type_id edge_type = 0;
  draw_rule rule;
  bool edge_ids = false;
  bulk_array destinations;
  std::int64_t most = 0; ///< Not 0: a slice, from `skip` on.
  std::int64_t skip = 0;
};
struct sample_request {
  std::string run;
  part_id part = 0;
  std::uint64_t key = 0;
  std::int32_t hop = 0;
  std::vector<neighbour_query> queries;
};

struct neighbour_arrays {
  bulk_array counts;
  bulk_array sources;
  bulk_array edge_ids;
};
struct sample_reply {
  std::vector<neighbour_arrays> answers;
  bool too_large = false;
};

/// What may be asked of a node. The values are those of data.capnp. In memory,
/// features are rows of float, degrees int32, and all others int64.
enum class gather_kind : std::uint16_t {
  unset, ///< Nobody asks for it.
  features,
  labels,
  degrees, ///< In-degrees of all edge types together.
  original_ids,
  out_degrees, ///< Of all edge types together.
};
struct value_query {
  node_type_id node_type = 0;
  bulk_array ids;
  std::vector<gather_kind> kinds;
  bool half = false;
};
struct gather_request {
  std::string run;
  part_id part = 0;
  std::vector<value_query> queries;
};
struct gather_reply {
  std::vector<bulk_array> values; ///< Per query and kind.
};

/// Which plan of the run's definition a batch is sampled by. The values are
/// those of data.capnp.
enum class batch_kind : std::uint16_t { unset, train, evaluate };
struct batch_request {
  std::string run;
  std::uint64_t key = 0;
  batch_kind kind = batch_kind::unset;
  bulk_array seeds;
};
struct node_arrays {
  std::vector<std::int64_t> found; ///< Does not fall.
  bulk_array ids;
};
struct batch_reply {
  std::vector<node_arrays> nodes;      ///< By node type.
  std::vector<neighbour_arrays> edges; ///< By edge type; local ids.
  bool too_large = false;
};

/// The most node and edge types, and hops, that a batch's message may have.
inline constexpr std::size_t max_types = 4096;
inline constexpr std::size_t max_found = 64;

struct spread_request {
  std::string run;
  part_id part = 0;
  edge_type_id edge_type = 0;
  draw_rule rule;
  node_id first = 0;
  std::int64_t skip = 0;
  bulk_array chances;
};
struct spread_reply {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  bulk_array sources;
  bulk_array misses;
};

/// Makes the messages. Fails with invalid_argument if one is larger than may be
/// sent.
result<payload> encode(const sample_request& from, bulk_writer arrays);
result<payload> encode(const sample_reply& from, bulk_writer arrays);
result<payload> encode(const gather_request& from, bulk_writer arrays);
result<payload> encode(const gather_reply& from, bulk_writer arrays);
result<payload> encode(const batch_request& from, bulk_writer arrays);
result<payload> encode(const batch_reply& from, bulk_writer arrays);
result<payload> encode(const spread_request& from, bulk_writer arrays);
result<payload> encode(const spread_reply& from, bulk_writer arrays);

/// Reads what came from outside. Arrays have been checked against the frames
/// and are of the element types that stand in data.capnp; part, types, fanouts
/// and ids have not. Kinds of data are known ones.
result<sample_request> decode_sample_request(const payload& from);
result<sample_reply> decode_sample_reply(const payload& from);
result<gather_request> decode_gather_request(const payload& from);
result<gather_reply> decode_gather_reply(const payload& from);
result<batch_request> decode_batch_request(const payload& from);
result<batch_reply> decode_batch_reply(const payload& from);
result<spread_request> decode_spread_request(const payload& from);
result<spread_reply> decode_spread_reply(const payload& from);

} // namespace graphmill
