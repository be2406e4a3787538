#include "actors/http/server/http_streams.hpp"

#include "actors/http/server/http_heads.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace graphmill {

namespace {

/// Whether the system has given up on the other end.
bool has_timed_out(int socket) {
  int reason = 0;
  socklen_t size = sizeof reason;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &reason, &size) == 0
         && reason == ETIMEDOUT;
}

} // namespace

http_streams::http_streams(boost::asio::io_context& context,
                           http_server::limits most,
                           std::shared_ptr<http_counts> counts)
  : most_(most), counts_(std::move(counts)), timer_(context) {}

/// The answer ends with its connection, so it needs no length.
void http_streams::open(boost::beast::tcp_stream socket,
                        http_stream_source source) {
  auto made = std::make_shared<stream>(
    stream{std::move(socket), std::move(source), nullptr});
  // A reader whose machine is gone acknowledges nothing.
  const auto patience = static_cast<unsigned>(most_.patience.count());
  ::setsockopt(made->socket.socket().native_handle(), IPPROTO_TCP,
               TCP_USER_TIMEOUT, &patience, sizeof patience);
  open_.push_back(made);
  ++counts_->streams;
  // Who has a stream says nothing more: what comes is its end, or is none of
  // HTTP, and its place is free for another reader.
  made->socket.socket().async_wait(
    boost::asio::socket_base::wait_read,
    [this, made](const boost::system::error_code& failed) {
      if (failed)
        return;
      if (has_timed_out(made->socket.socket().native_handle()))
        ++counts_->slow_streams;
      close(made);
    });
  std::string head = "HTTP/1.1 200 OK\r\n"
                     "Content-Type: text/event-stream\r\n"
                     "Cache-Control: no-store\r\n"
                     "Connection: close\r\n";
  head += http_guards();
  head += "\r\n";
  if (const auto first = made->next())
    head += *first;
  send(made, std::make_shared<const std::string>(std::move(head)));
  if (!looks_)
    look_later();
}

void http_streams::look_later() {
  timer_.expires_after(most_.stream_pace);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    looks_ = false;
    if (!failed)
      look();
  });
  looks_ = true;
}

void http_streams::look() {
  for (const auto& one : open_)
    if (!one->text)
      if (auto text = one->next())
        send(one, std::move(text));
  if (!open_.empty())
    look_later();
}

void http_streams::send(const shared_stream& one,
                        std::shared_ptr<const std::string> text) {
  one->text = std::move(text);
  one->socket.expires_after(most_.patience);
  boost::asio::async_write(
    one->socket, boost::asio::buffer(*one->text),
    [this, one](const boost::system::error_code& failed, std::size_t) {
      one->text.reset();
      if (failed == boost::beast::error::timeout
          || failed == boost::asio::error::timed_out)
        ++counts_->slow_streams;
      if (failed)
        close(one);
    });
}

void http_streams::close(const shared_stream& one) {
  if (std::erase(open_, one) == 0)
    return;
  ++counts_->closed;
  one->socket.close();
}

void http_streams::close_all() {
  while (!open_.empty())
    close(shared_stream{open_.back()});
}

} // namespace graphmill
