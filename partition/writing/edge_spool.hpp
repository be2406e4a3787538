#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace graphmill {

/// An edge as it is spooled: ids of 4 bytes where both node types allow it.
template <class Id>
struct spooled_edge {
  Id source;
  Id destination;
};

/// The same of an edge that has a weight.
template <class Id>
struct weighted_edge {
  Id source;
  Id destination;
  float weight;
};

template <class Edge>
inline constexpr bool has_weight = false;
template <class Id>
inline constexpr bool has_weight<weighted_edge<Id>> = true;

/// Edges of one type that are read in order, any number of times: `rewind`,
/// then `next` until it gives none. One thread at a time may use it.
template <class Edge>
class edge_source {
public:
  virtual ~edge_source() = default;

  /// How many edges there are.
  virtual std::int64_t size() const = 0;

  /// Goes back to the first edge.
  virtual result<void> rewind() = 0;

  /// Gives the next edges, in order, as many as are at hand; none at the end.
  /// They are valid until the next call.
  virtual result<std::span<const Edge>> next() = 0;
};

/// A file of edges, written front to back and then read any number of times.
/// It is unlinked as soon as it is made, so that nothing is left however a
/// process ends. It has two states, which it does not check: first come all
/// calls of `append`, then `flush`, then only those of `rewind` and `next`.
/// Owns the file and two buffers. Move-only; one thread at a time may use it.
template <class Edge>
class edge_spool final : public edge_source<Edge> {
public:
  /// @param path Where to make the file, which must not be there; its folder
  /// decides which disk is used.
  /// @param buffer_bytes How many bytes of edges are kept until they are
  /// written, and then read at once.
  static result<edge_spool> create(const std::filesystem::path& path,
                                   std::size_t buffer_bytes);

  result<void> append(Edge added) {
    pending_.push_back(added);
    return pending_.size() < capacity_ ? ok() : flush();
  }

  /// How many edges have been appended so far.
  std::int64_t size() const override { return size_ + std::ssize(pending_); }

  /// Writes what is pending. Must come between the last `append` and reading.
  result<void> flush();

  result<void> rewind() override;
  result<std::span<const Edge>> next() override;

private:
  std::filesystem::path path_;
  unique_fd file_;
  std::size_t capacity_ = 0;
  std::vector<Edge> pending_; ///< Edges that are not written yet.
  std::vector<Edge> block_;   ///< The edges that were read last.
  std::int64_t size_ = 0;     ///< How many edges have been written.
};

extern template class edge_spool<spooled_edge<std::int32_t>>;
extern template class edge_spool<spooled_edge<std::int64_t>>;
extern template class edge_spool<weighted_edge<std::int32_t>>;
extern template class edge_spool<weighted_edge<std::int64_t>>;

} // namespace graphmill
