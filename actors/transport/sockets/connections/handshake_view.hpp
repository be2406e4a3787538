#pragma once

#include <cstdint>

namespace graphmill {

/// How far a peer went in libzmq's handshake before it ended the connection.
/// libzmq says nothing of that: a CURVE server whose key is not the one that we
/// mean greets, cannot open what we send it, and closes the connection without
/// a word. A forwarder with nobody behind it does not even greet.
class handshake_view {
public:
  handshake_view() = default;
  ~handshake_view() { close(); }
  handshake_view(const handshake_view&) = delete;
  handshake_view& operator=(const handshake_view&) = delete;

  /// The connection is there. A copy of its descriptor is kept, for libzmq
  /// closes its own together with the connection.
  /// @param port Of the peer: another one means that libzmq has closed the
  /// descriptor already, and it is of something else.
  void open(int descriptor, std::uint16_t port);

  /// The handshake is done, or of no interest any more.
  void close();

  /// Whether the peer has greeted us, but not opened what we sent. False if
  /// nobody can tell: libzmq was too quick for a copy.
  bool refused() const;

private:
  int copy_ = -1;
};

} // namespace graphmill
