#pragma once

#include "messages/base/error.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// A descriptor that is closed with its owner. Move-only.
class owned_descriptor {
public:
  explicit owned_descriptor(int number) : number_(number) {}
  ~owned_descriptor();
  owned_descriptor(owned_descriptor&& other) noexcept;
  owned_descriptor& operator=(owned_descriptor&&) = delete;

  int number() const { return number_; }

private:
  int number_;
};

/// The packets of a feed's consumer: a local socket of kind SOCK_SEQPACKET. One
/// thread receives; any thread may send.
class feed_socket {
public:
  struct packet {
    std::vector<std::byte> bytes;
    std::vector<owned_descriptor> descriptors;
  };

  /// @param descriptor Of the socket, which it owns from now on.
  explicit feed_socket(int descriptor) : socket_(descriptor) {}

  /// Waits for a packet. @returns nothing after `timeout`; a packet without
  /// bytes at the end of the consumer.
  result<std::optional<packet>> receive(std::chrono::milliseconds timeout);

  /// Sends a packet without waiting. @returns whether there was room for it.
  /// Fails if the consumer is gone.
  /// @param descriptor Goes along, unless it is negative.
  result<bool> send(std::span<const std::byte> bytes, int descriptor = -1);

private:
  owned_descriptor socket_;
  std::vector<std::byte> room_; ///< For the packet that comes next.
};

} // namespace graphmill
