#include "actors/process/logs/rotated_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

namespace graphmill {

rotated_file::rotated_file(std::filesystem::path path, std::size_t limit,
                           std::vector<std::string> old, writers who)
  : path_(std::move(path)), limit_(limit), old_(std::move(old)), who_(who) {}

std::filesystem::path rotated_file::old_path(std::size_t which) const {
  auto out = path_;
  out += old_[which];
  return out;
}

/// Ends a line that whoever wrote it has not, as when its machine lost power:
/// what is written next would be part of it.
result<void> rotated_file::end_line() {
  constexpr std::string_view end = "\n";
  const auto read = open_file(path_, O_RDONLY);
  auto last = end.front();
  if (!read
      || ::pread(read.value().get(), &last, 1, static_cast<off_t>(bytes_ - 1))
           != 1
      || last == end.front())
    return ok();
  GRAPHMILL_TRYV(write_all(file_.get(), std::as_bytes(std::span{end}), path_));
  ++bytes_;
  return ok();
}

result<void> rotated_file::open() {
  GRAPHMILL_TRY(auto opened, open_file(path_, O_WRONLY | O_CREAT | O_APPEND,
                                       file_access::owner));
  const auto size = file_size(opened.get(), path_);
  grows_ = size.has_value();
  bytes_ = grows_ ? size.value() : 0;
  if (who_ == writers::one && ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0
      && errno == EWOULDBLOCK)
    return fail(ec::unavailable,
                "another process writes to {}: give each a file of its own",
                path_.string());
  file_ = std::move(opened);
  if (bytes_ == 0)
    return ok();
  auto done = end_line();
  if (!done)
    file_.reset();
  return done;
}

result<void> rotated_file::put_aside() {
  file_.reset();
  for (auto to = old_.size(); to-- > 0;) {
    const auto from = to == 0 ? path_ : old_path(to - 1);
    std::error_code failed;
    std::filesystem::rename(from, old_path(to), failed);
    // There are not that many old ones yet, or somebody has taken it away.
    if (failed && failed != std::errc::no_such_file_or_directory)
      return fail_errno(failed.value(), "cannot rename {} to {}", from.string(),
                        old_path(to).string());
  }
  return open();
}

result<void> rotated_file::append(std::string_view lines) {
  if (file_.get() < 0)
    GRAPHMILL_TRYV(open());
  if (grows_ && bytes_ != 0 && !lines.empty() && bytes_ + lines.size() > limit_)
    GRAPHMILL_TRYV(put_aside());
  auto written = write_all(file_.get(), std::as_bytes(std::span{lines}), path_);
  if (written) {
    bytes_ += lines.size();
    return written;
  }
  // No half of a line stays, if the system lets us cut it off.
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0)
    bytes_ = 0;
  file_.reset(); // It is opened anew: somebody may have made room there.
  return written;
}

} // namespace graphmill
