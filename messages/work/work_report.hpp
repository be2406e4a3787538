#pragma once

#include "messages/work/stage_report.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace graphmill {

// Each of these structs has the list of its fields, as `stage_report` has.

/// How many of something, and how many bytes they have.
struct item_count {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;

  static void fields(auto& of, auto visit, auto&... others) {
    visit("items", of.items, others.items...);
    visit("bytes", of.bytes, others.bytes...);
  }
};

/// What came from disk.
struct disk_use {
  stage_report readers;          ///< Items: rows that were read from disk.
  std::uint64_t rows_wanted = 0; ///< Rows that were asked for.
  std::uint64_t rows_found = 0;  ///< Of them, those in the cache.
  /// Of them, those that came with a read begun for another request.
  std::uint64_t rows_shared = 0;
  item_count reads;

  static void fields(auto& of, auto visit, auto&... others) {
    visit("readers", of.readers, others.readers...);
    visit("rowsWanted", of.rows_wanted, others.rows_wanted...);
    visit("rowsFound", of.rows_found, others.rows_found...);
    visit("rowsShared", of.rows_shared, others.rows_shared...);
    visit("reads", of.reads, others.reads...);
  }
};

/// What came over the wire from other daemons, and which messages left. Each
/// message is counted where it leaves, so that the sum over daemons has it
/// once.
struct wire_use {
  item_count ids_asked; ///< Requests, and the bytes of their ids.
  item_count sampled_neighbours;
  item_count feature_rows;
  std::uint64_t other_bytes = 0; ///< Labels, degrees, ids of nodes and edges.
  item_count sampled_batches;
  item_count sampling_sent; ///< Whole messages, by what they are about.
  item_count features_sent;
  item_count control_sent;

  static void fields(auto& of, auto visit, auto&... others) {
    visit("idsAsked", of.ids_asked, others.ids_asked...);
    visit("sampledNeighbours", of.sampled_neighbours,
          others.sampled_neighbours...);
    visit("featureRows", of.feature_rows, others.feature_rows...);
    visit("otherBytes", of.other_bytes, others.other_bytes...);
    visit("sampledBatches", of.sampled_batches, others.sampled_batches...);
    visit("samplingSent", of.sampling_sent, others.sampling_sent...);
    visit("featuresSent", of.features_sent, others.features_sent...);
    visit("controlSent", of.control_sent, others.control_sent...);
  }
};

/// What the cache of remote rows did, and what filling it took.
struct cache_use {
  item_count filling; ///< Rows, and all bytes either way.
  item_count kept;    ///< Rows, and the memory that they take.
  item_count found;   ///< Rows, as they would have come over the wire.

  static void fields(auto& of, auto visit, auto&... others) {
    visit("filling", of.filling, others.filling...);
    visit("kept", of.kept, others.kept...);
    visit("found", of.found, others.found...);
  }
};

/// What a process did for a run, or all that took part in it.
struct work_report {
  std::vector<stage_report> stages; ///< In pipeline order.
  std::optional<disk_use> disk;     ///< None: all was in memory.
  std::optional<wire_use> wire;     ///< None: there was one process.
  std::optional<cache_use> cache;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_credit_bytes = 0; ///< Most that batches had reserved.
  std::uint64_t oversize_batches = 0;
  std::uint64_t retried_batches = 0;
  double cpu_seconds = 0; ///< Of the process, while the run was on.
  /// Values of other daemons that these have proved, and the bytes of that.
  /// None: nothing was to be checked.
  std::optional<item_count> checked;

  /// Adds what another process did, figure by figure. Stages are the same if
  /// they have the same name; the sum is in pipeline order, whoever lacks one.
  void add(const work_report& more);

  static void fields(auto& of, auto visit, auto&... others) {
    visit("stages", of.stages, others.stages...);
    visit("disk", of.disk, others.disk...);
    visit("wire", of.wire, others.wire...);
    visit("cache", of.cache, others.cache...);
    visit("peakMemoryBytes", of.peak_memory_bytes, others.peak_memory_bytes...);
    visit("peakCreditBytes", of.peak_credit_bytes, others.peak_credit_bytes...);
    visit("oversizeBatches", of.oversize_batches, others.oversize_batches...);
    visit("retriedBatches", of.retried_batches, others.retried_batches...);
    visit("cpuSeconds", of.cpu_seconds, others.cpu_seconds...);
    visit("checked", of.checked, others.checked...);
  }
};

} // namespace graphmill
