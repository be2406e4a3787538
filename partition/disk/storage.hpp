#pragma once

#include "partition/dataset/shard.hpp"

#include <cstdint>

namespace graphmill {

/// Bytes of a part's arrays, as they lie in its files.
struct part_bytes {
  std::uint64_t features = 0; ///< Dense ones, which are read by rows.
  /// Neighbour lists, degrees, weights, labels, ids and sparse features.
  std::uint64_t others = 0;

  std::uint64_t bytes() const { return features + others; }
  part_bytes& operator+=(const part_bytes& more) {
    features += more.features;
    others += more.others;
    return *this;
  }
};
part_bytes bytes_of(const shard& part);

/// Tells the kernel that a part is larger than memory: pages of all arrays but
/// the features are to be read when they are asked for, without reading ahead.
/// (Features are read by a ROW READER, which does not use their mapping.)
void leave_on_disk(const shard& part);

/// Tells the kernel that a part fits into memory: what the page cache lacks of
/// large arrays is to be read by blocks of 2 MiB. Where the file system has
/// large folios, each is also mapped by one entry, and rows at random places
/// are found twice as fast. `npy_writer` writes files so that they are, too.
void keep_in_memory(const shard& part);

/// How memory that is left for data is divided when they do not fit into it.
struct disk_memory {
  std::uint64_t row_cache = 0; ///< For feature rows, over all parts.
  std::uint64_t pages = 0;     ///< Left to the kernel, for everything else.
};

/// Divides `bytes` of memory. Everything but features is kept if it fits beside
/// a cache of the same size; else either gets half. The cache gets no more than
/// all rows and a quarter, for its tables. Pages and rows are wanted about as
/// often, byte for byte, but a page has much beside what is wanted of it.
disk_memory divide(std::uint64_t bytes, const part_bytes& data);

} // namespace graphmill
