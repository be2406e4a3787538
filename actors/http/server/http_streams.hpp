#pragma once

#include "actors/http/server/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// The answers of a server that have no end. Each has one text on its way at a
/// time: a reader that takes it late gets no other meanwhile, and one that has
/// not taken it for `limits::patience` is dropped, and so is one that says
/// anything more or closes its end. Used by the server's thread alone.
class http_streams {
public:
  http_streams(boost::asio::io_context& context, http_server::limits most,
               std::shared_ptr<http_counts> counts);

  bool has_room() const { return open_.size() < most_.streams; }

  /// Goes on with a connection whose request is to be answered by the source,
  /// at once and then every `limits::stream_pace`. Its descriptor is closed
  /// here. @pre there is room
  void open(boost::beast::tcp_stream socket, http_stream_source source);

  void close_all();

private:
  struct stream {
    boost::beast::tcp_stream socket;
    http_stream_source next;
    std::shared_ptr<const std::string> text; ///< On its way; null: nothing.
  };
  using shared_stream = std::shared_ptr<stream>;

  void look_later();
  void look();
  void send(const shared_stream& one, std::shared_ptr<const std::string> text);
  void close(const shared_stream& one);

  http_server::limits most_;
  std::shared_ptr<http_counts> counts_;
  boost::asio::steady_timer timer_;
  bool looks_ = false; ///< The timer runs.
  std::vector<shared_stream> open_;
};

} // namespace graphmill
