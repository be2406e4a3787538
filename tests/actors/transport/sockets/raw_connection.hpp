#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace graphmill::test {

/// A plain TCP connection to the port of a daemon on this machine.
class raw_connection {
public:
  explicit raw_connection(const std::string& address);
  ~raw_connection();
  raw_connection(const raw_connection&) = delete;
  raw_connection& operator=(const raw_connection&) = delete;

  /// The other end may have closed it: that is no failure of the test.
  void write(std::span<const std::byte> bytes);

  /// Whether the other end has closed it by now.
  bool closed();

private:
  int socket_;
};

} // namespace graphmill::test
