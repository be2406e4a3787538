#include "pipelines/model/layerwise/row_store.hpp"

#include "messages/words/byte_text.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace graphmill {

result<std::shared_ptr<row_store>> row_room::make(std::int64_t rows,
                                                  std::int64_t columns) {
  const auto count = static_cast<std::size_t>(rows * columns);
  const auto bytes = std::uint64_t{count} * sizeof(float);
  std::shared_ptr<row_store> out{new row_store{*this}};
  if (bytes <= left_) {
    try {
      out->values_.resize(count);
    } catch (const std::bad_alloc&) {
      return fail(ec::out_of_memory,
                  "no memory left for {} of rows of a layer: say with --memory "
                  "what there is, and the rest goes to disk",
                  byte_text(bytes));
    }
    left_ -= bytes;
    out->taken_ = bytes;
    out->view_ = {out->values_.data(), rows, columns};
    return out;
  }
  const auto path =
    scratch_ / fmt::format(".graphmill-rows-{}.{}.tmp", files_++, ::getpid());
  // Of a process that was killed and had this number. Another one may have it
  // in another container: what is open by now has no name that both could mean.
  ::unlink(path.c_str());
  GRAPHMILL_TRY(out->file_,
                open_file(path, O_RDWR | O_CREAT | O_EXCL, file_access::owner));
  ::unlink(path.c_str());
  int failed = EINTR; // A signal says nothing about the disk.
  while (failed == EINTR)
    failed = ::posix_fallocate(out->file_.get(), 0, static_cast<off_t>(bytes));
  if (failed != 0)
    return fail_errno(failed,
                      "rows of a layer take {}, and there is no room for them "
                      "in {}: name another folder with --scratch, or allow "
                      "more memory with --memory",
                      byte_text(bytes), scratch_.string());
  GRAPHMILL_TRY(out->mapped_, mapped_file::of(out->file_.get(), path));
  out->view_ = {reinterpret_cast<const float*>(out->mapped_.bytes().data()),
                rows, columns};
  file_bytes_ += bytes;
  return out;
}

row_store::~row_store() {
  room_.left_ += taken_;
}

result<void> row_store::write(std::int64_t begin, const_matrix rows) {
  const auto first = static_cast<std::size_t>(begin * view_.columns);
  const auto count = static_cast<std::size_t>(rows.size());
  if (count == 0)
    return ok();
  if (on_disk())
    return write_at(file_.get(), std::as_bytes(std::span{rows.data, count}),
                    std::uint64_t{first} * sizeof(float), "rows of a layer");
  std::memcpy(values_.data() + first, rows.data, count * sizeof(float));
  return ok();
}

} // namespace graphmill
