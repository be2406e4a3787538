#include "partition/writing/edge_spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace graphmill {

template <class Edge>
result<edge_spool<Edge>>
edge_spool<Edge>::create(const std::filesystem::path& path,
                         std::size_t buffer_bytes) {
  edge_spool spool;
  spool.path_ = path;
  spool.capacity_ = std::max<std::size_t>(1, buffer_bytes / sizeof(Edge));
  GRAPHMILL_TRY(spool.file_, open_file(path, O_RDWR | O_CREAT | O_EXCL));
  if (::unlink(path.c_str()) != 0)
    return fail_errno(errno, "cannot remove {}", path.string());
  return spool;
}

template <class Edge>
result<void> edge_spool<Edge>::flush() {
  GRAPHMILL_TRYV(
    write_all(file_.get(), std::as_bytes(std::span{pending_}), path_));
  size_ += std::ssize(pending_);
  pending_.clear();
  return ok();
}

template <class Edge>
result<void> edge_spool<Edge>::rewind() {
  if (::lseek(file_.get(), 0, SEEK_SET) != 0)
    return fail_errno(errno, "cannot read {}", path_.string());
  return ok();
}

template <class Edge>
result<std::span<const Edge>> edge_spool<Edge>::next() {
  block_.resize(capacity_);
  GRAPHMILL_TRY(
    const auto bytes,
    read_some(file_.get(), std::as_writable_bytes(std::span{block_}), path_));
  return std::span<const Edge>{block_}.first(bytes / sizeof(Edge));
}

template class edge_spool<spooled_edge<std::int32_t>>;
template class edge_spool<spooled_edge<std::int64_t>>;
template class edge_spool<weighted_edge<std::int32_t>>;
template class edge_spool<weighted_edge<std::int64_t>>;

} // namespace graphmill
