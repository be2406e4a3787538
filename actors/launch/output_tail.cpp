#include "actors/launch/output_tail.hpp"

#include "messages/base/caught.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace graphmill {

result<std::unique_ptr<output_tail>> output_tail::open() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail_errno(errno, "cannot make a pipe");
  std::unique_ptr<output_tail> out{new output_tail};
  out->read_end_ = unique_fd{ends[0]};
  out->write_end_ = unique_fd{ends[1]};
  out->stop_ = unique_fd{::eventfd(0, EFD_CLOEXEC)};
  if (out->stop_.get() < 0)
    return fail_errno(errno, "cannot make an event");
  return out;
}

output_tail::~output_tail() {
  if (!thread_.joinable())
    return;
  const std::uint64_t one = 1;
  [[maybe_unused]] auto told = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void output_tail::begin() {
  write_end_.reset();
  thread_ = std::thread{[this] { read(); }};
}

void output_tail::read() {
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> waited{
      {{read_end_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    // Ended by the writers or by the destructor.
    if (::poll(waited.data(), waited.size(), -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    if (waited[1].revents != 0)
      break;
    const auto got = ::read(read_end_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    // The writer must not be held up for want of memory here.
    quietly([this, &buffer, got] {
      keep({buffer.data(), static_cast<std::size_t>(got)});
    });
  }
  {
    std::lock_guard lock{mutex_};
    ended_ = true;
  }
  changed_.notify_all();
}

void output_tail::keep(std::string_view more) {
  std::lock_guard lock{mutex_};
  if (more.size() > kept_bytes)
    more.remove_prefix(more.size() - kept_bytes);
  if (kept_.size() + more.size() > kept_bytes)
    kept_.erase(0, kept_.size() + more.size() - kept_bytes);
  kept_ += more;
}

std::string output_tail::text() const {
  std::lock_guard lock{mutex_};
  return kept_;
}

bool output_tail::wait_for_end(std::chrono::milliseconds patience) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

} // namespace graphmill
