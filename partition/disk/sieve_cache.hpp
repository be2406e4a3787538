#pragma once

#include "messages/base/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphmill {

/// Rows of a file that were wanted of late, as bytes, in bounded memory. Which
/// row makes room for a new one is decided by SIEVE (Zhang et al., "SIEVE is
/// simpler than LRU", NSDI '24): rows stand in the order of their arrival; a
/// hand goes from the oldest to the newest, spares those that were found since
/// it last passed, and takes the first one that was not. What is wanted once
/// passes through, what is wanted often stays. Nothing moves when a row is
/// found. All memory is taken when it is made, none later. Not thread-safe.
///
/// The table shows which share of rows was found over two or three epochs of
/// GraphSAGE (fanouts 10, 10; batches of 1024) by a cache for the given share
/// of all rows. The last column is a fixed choice, the rows that are likeliest
/// to be wanted by `inclusion`: the best that can be done without replacing
/// rows, but it takes an analysis of the whole graph before the first batch,
/// for each kind of batch, and memory for every node.
///
///                  LRU   CLOCK  SIEVE  likeliest
///     WordNet  10 % 0.05  0.05   0.17   0.32
///              25 % 0.34  0.35   0.48   0.58
///     R-MAT    10 % 0.50  0.52   0.62   0.69
///     2^18     25 % 0.80  0.81   0.85   0.89
///     R-MAT     5 % 0.48  0.50   0.60   0.65
///     2^20     25 % 0.87  0.88   0.90   0.93
class sieve_cache {
public:
  /// @param bytes All that it may take, with what it knows of its rows.
  /// @param rows Of the file: it never takes memory for more.
  /// Throws std::bad_alloc if there is no memory.
  sieve_cache(std::size_t row_bytes, std::uint64_t bytes, std::int64_t rows);

  /// Bytes of memory per row beside its content, at the most.
  static constexpr std::uint64_t bytes_per_row = 28;

  /// Rows that it can hold.
  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return keys_.size(); }
  std::uint64_t byte_size() const;

  /// The bytes of a row, valid until the next `put`; null: it is not here.
  const std::byte* find(std::int64_t row);

  /// Keeps a copy of a row, for which another one may have to go. The row must
  /// not be here already.
  void put(std::int64_t row, const std::byte* bytes);

  /// Asks for the memory that `find` will look at first.
  void prefetch(std::int64_t row) const {
    __builtin_prefetch(&slots_[first_slot(row)]);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  std::size_t first_slot(std::int64_t row) const;
  void enter(std::int64_t row, std::uint32_t place);
  void leave(std::int64_t row);
  std::uint32_t make_room();
  void unlink(std::uint32_t place);

  std::size_t row_bytes_;
  std::size_t capacity_ = 0;
  pod_vector<std::byte> rows_;
  std::vector<std::int64_t> keys_;   ///< By place.
  std::vector<std::uint8_t> found_;  ///< By place: since the hand passed.
  std::vector<std::uint32_t> newer_; ///< By place: neighbour in the order
  std::vector<std::uint32_t> older_; ///< of arrival.
  std::vector<std::uint32_t> slots_; ///< Place + 1, by hash; 0 = free.
  std::uint32_t newest_ = none;
  std::uint32_t oldest_ = none;
  std::uint32_t hand_ = none;
};

} // namespace graphmill
