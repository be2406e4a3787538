#pragma once

#include <atomic>
#include <cstdint>

namespace graphmill {

/// What the proxies of a remote part have sent and received, in bytes of
/// arrays by kind; a plain copy of their counters.
struct remote_report {
  std::uint64_t requests = 0; ///< Sent.
  std::uint64_t merged = 0;   ///< Not sent: the same was under way.
  std::uint64_t failures = 0; ///< Answered by an error.
  std::uint64_t split = 0;    ///< Asked again in pieces: too large an answer.
  std::uint64_t sampled_nodes = 0;   ///< Whose in-edges were asked for.
  std::uint64_t sampled_sources = 0; ///< Received.
  std::uint64_t rows = 0;            ///< Feature rows received.
  std::uint64_t ids_out = 0;         ///< Ids asked about.
  std::uint64_t sources_in = 0;      ///< Counts and ids of sampled sources.
  std::uint64_t edge_ids_in = 0;
  std::uint64_t rows_in = 0;   ///< Feature rows.
  std::uint64_t values_in = 0; ///< Labels, degrees, original ids.
  std::uint64_t bytes_out = 0; ///< All of it, with bodies, without envelopes.
  std::uint64_t bytes_in = 0;
  std::uint64_t cached_rows = 0;   ///< Not asked for: in the row cache.
  std::uint64_t cached_bytes = 0;  ///< Of those rows, as they would have come.
  std::uint64_t batches = 0;       ///< Sampled by other daemons.
  std::uint64_t batches_in = 0;    ///< Bytes of them.
  std::uint64_t large_batches = 0; ///< Too large for a message.

  remote_report& operator+=(const remote_report& other) {
    requests += other.requests;
    merged += other.merged;
    failures += other.failures;
    split += other.split;
    sampled_nodes += other.sampled_nodes;
    sampled_sources += other.sampled_sources;
    rows += other.rows;
    ids_out += other.ids_out;
    sources_in += other.sources_in;
    edge_ids_in += other.edge_ids_in;
    rows_in += other.rows_in;
    values_in += other.values_in;
    bytes_out += other.bytes_out;
    bytes_in += other.bytes_in;
    cached_rows += other.cached_rows;
    cached_bytes += other.cached_bytes;
    batches += other.batches;
    batches_in += other.batches_in;
    large_batches += other.large_batches;
    return *this;
  }
};

/// Counters of the proxies of a remote part, or of several. Thread-safe.
struct remote_counters {
  using counter = std::atomic<std::uint64_t>;
  counter requests{0}, merged{0}, failures{0}, split{0};
  counter sampled_nodes{0}, sampled_sources{0}, rows{0};
  counter ids_out{0}, sources_in{0}, edge_ids_in{0}, rows_in{0}, values_in{0};
  counter bytes_out{0}, bytes_in{0}, cached_rows{0}, cached_bytes{0};
  counter batches{0}, batches_in{0}, large_batches{0};

  remote_report read() const {
    return {requests,        merged,    failures,   split,        sampled_nodes,
            sampled_sources, rows,      ids_out,    sources_in,   edge_ids_in,
            rows_in,         values_in, bytes_out,  bytes_in,     cached_rows,
            cached_bytes,    batches,   batches_in, large_batches};
  }
};

} // namespace graphmill
