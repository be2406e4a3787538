#include "actors/feed/feed_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace graphmill {

namespace {

/// The longest packet of a consumer; a longer one is cut off, and refused.
constexpr std::size_t most_packet_bytes = std::size_t{1} << 20;
constexpr std::size_t most_descriptors = 4;

/// Room for the descriptors of a message.
struct descriptor_room {
  alignas(cmsghdr)
    std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> bytes{};
};

void take_descriptors(msghdr& message, std::vector<owned_descriptor>& out) {
  for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    const auto count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      out.emplace_back(number);
    }
  }
}

} // namespace

owned_descriptor::~owned_descriptor() {
  if (number_ >= 0)
    ::close(number_);
}

owned_descriptor::owned_descriptor(owned_descriptor&& other) noexcept
  : number_(std::exchange(other.number_, -1)) {}

result<std::optional<feed_socket::packet>>
feed_socket::receive(std::chrono::milliseconds timeout) {
  pollfd ready{socket_.number(), POLLIN, 0};
  const auto found = ::poll(&ready, 1, static_cast<int>(timeout.count()));
  if (found == 0 || (found < 0 && errno == EINTR))
    return std::optional<packet>{};
  if (found < 0)
    return fail_errno(errno, "cannot wait for the consumer");
  room_.resize(most_packet_bytes);
  iovec where{room_.data(), room_.size()};
  descriptor_room room;
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  const auto size = ::recvmsg(socket_.number(), &message, MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EINTR || errno == EAGAIN))
    return std::optional<packet>{};
  if (size < 0 && errno != ECONNRESET)
    return fail_errno(errno, "cannot receive from the consumer");
  packet out;
  take_descriptors(message, out.descriptors);
  if ((message.msg_flags & MSG_TRUNC) != 0)
    return fail(ec::invalid_data,
                "a packet of the consumer has more than {} "
                "bytes",
                most_packet_bytes);
  if (size > 0)
    out.bytes.assign(room_.begin(), room_.begin() + size);
  return std::optional{std::move(out)};
}

result<bool> feed_socket::send(std::span<const std::byte> bytes,
                               int descriptor) {
  iovec where{const_cast<std::byte*>(bytes.data()), bytes.size()};
  descriptor_room room;
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = room.bytes.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int));
    auto* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
  }
  while (true) {
    if (::sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
      return true;
    if (errno == EAGAIN || errno == ENOBUFS)
      return false;
    if (errno != EINTR)
      return fail_errno(errno, "cannot send {} bytes to the consumer",
                        bytes.size());
  }
}

} // namespace graphmill
