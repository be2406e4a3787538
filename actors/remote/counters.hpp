#pragma once

#include "messages/base/counter.hpp"

namespace graphmill {

/// What the proxies of a remote part, or of several, have sent and received, in
/// bytes of arrays by kind. Thread-safe.
struct remote_counters {
  counter requests;        ///< Sent.
  counter merged;          ///< Not sent: the same was under way.
  counter failures;        ///< Answered by an error.
  counter split;           ///< Asked again in pieces: too large an answer.
  counter sampled_sources; ///< Received.
  counter rows;            ///< Feature rows received.
  counter ids_out;         ///< Ids asked about.
  counter sources_in;      ///< Counts and ids of sampled sources.
  counter edge_ids_in;     ///< And weights, places and ages of edges.
  counter rows_in;         ///< Feature rows.
  counter values_in;       ///< Labels, degrees, sums of weights, original ids.
  counter bytes_out;       ///< All of it, with bodies, without envelopes.
  counter bytes_in;
  counter cached_rows;   ///< Not asked for: in the row cache.
  counter cached_bytes;  ///< Bytes that those rows would have taken.
  counter batches;       ///< Sampled by other daemons.
  counter batches_in;    ///< Bytes of them.
  counter large_batches; ///< Too large for a message.

  remote_counters read() const { return *this; }
};

} // namespace graphmill
