#include "actors/transport/sockets/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace graphmill {

mailbox::mailbox() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  // nop
}

mailbox::~mailbox() {
  if (wake_ >= 0)
    ::close(wake_);
}

std::optional<mailbox::command> mailbox::post(command posted) {
  const std::lock_guard lock{mutex_};
  if (closed_)
    return posted;
  const auto first = waiting_.empty();
  waiting_.push_back(std::move(posted));
  if (first)
    (void)::eventfd_write(wake_, 1);
  return std::nullopt;
}

std::vector<mailbox::command> mailbox::take() {
  const std::lock_guard lock{mutex_};
  if (!waiting_.empty()) {
    eventfd_t ignored = 0;
    (void)::eventfd_read(wake_, &ignored);
  }
  return std::exchange(waiting_, {});
}

std::vector<mailbox::command> mailbox::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  return std::exchange(waiting_, {});
}

} // namespace graphmill
