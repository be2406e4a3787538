#pragma once

#include "actors/transport/sessions/arrivals.hpp"
#include "actors/transport/sockets/connections/unfinished.hpp"
#include "actors/transport/sockets/connections/wire_io.hpp"
#include "actors/transport/sockets/transport_context.hpp"

#include <zmq.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// Follows who connects to a port and who is gone. Ends connections whose other
/// end does not greet, or sends a message without end. Guests are connections
/// whose other end has greeted. For the transport's thread alone.
class door {
public:
  /// Begins to follow; to be done before the port is bound.
  /// @param context, port Outlive this.
  /// @param guest_left Called with the connection of a guest that is gone.
  door(transport_context& context, zmq::socket_t& port,
       std::function<void(const std::string&)> guest_left);
  ~door();
  door(const door&) = delete;
  door& operator=(const door&) = delete;

  /// Where the port listens, once it is bound.
  void open(entrance ours) { entrance_ = std::move(ours); }

  /// Takes what libzmq tells of the port's connections.
  void serve();
  void tick();
  session_time next_tick() const;
  zmq::socket_t& socket() { return socket_; }

  /// A whole message has come over a connection.
  void finished(int descriptor) { unfinished_.finished(descriptor); }
  /// Whoever is at the other end has said who it is.
  void greeted(int descriptor, const std::string& connection_id);
  /// Whoever is there has to say anew who it is, soon.
  void estrange(const std::string& connection_id);
  /// Logs and tells whoever was not let in, which may try again and again.
  void refused(const std::string& host, const std::string& reason);

  /// Whence a connection comes; empty if that is not known.
  std::string host_of(int descriptor) const;
  /// Of a guest; -1 if there is none.
  int descriptor_of(const std::string& connection_id) const;

  void end(int descriptor) { end_connection(descriptor, entrance_); }
  void end_guests();

private:
  void left(int descriptor);
  void look_at_failure();
  bool failure_is_old();
  void end_strangers(const std::vector<int>& descriptors);
  void end_unfinished();

  /// What libzmq has told of a connection, without saying of which.
  struct failure {
    int code;
    session_time told;
  };

  transport_context& context_;
  zmq::socket_t& port_;
  zmq::socket_t socket_; ///< Brings the events.
  std::function<void(const std::string&)> guest_left_;
  entrance entrance_;
  arrivals arrivals_;
  unfinished_messages unfinished_;
  std::map<int, std::string> guests_; ///< Their connections, by descriptor.
  std::map<int, std::string> hosts_;  ///< Of all connections, the same.
  std::optional<failure> failure_;
};

} // namespace graphmill
