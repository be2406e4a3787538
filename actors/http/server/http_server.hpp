#pragma once

#include "messages/base/counter.hpp"
#include "messages/base/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace graphmill {

/// A request that has passed the checks of access.
struct http_request {
  std::string path;
  std::string query;         ///< Behind the question mark; empty: none.
  std::string last_event_id; ///< From a browser that has lost a stream.
  std::string from{};        ///< The client's numeric address.
};

/// A page at one moment. Connections share the body.
struct http_answer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  /// With its quotes: a client with the same one gets 304. Empty: no client may
  /// keep the page.
  std::string etag{};
};
/// A line of text.
http_answer http_sentence(unsigned status, const std::string& text);

/// Makes a page. Called on the server's thread for each request. It must not
/// wait, and must not touch what actors change.
using http_page = std::function<http_answer(const http_request&)>;

/// The next message of a stream of events; null: nothing now. Called on the
/// server's thread, each time after the reader has read the last one.
using http_stream_source = std::function<std::shared_ptr<const std::string>()>;
using http_stream = std::function<http_stream_source(const http_request&)>;

/// Receives the answer to a request that was passed on. From any thread. The
/// first answer counts, if the client still waits.
using http_reply = std::function<void(http_answer)>;
/// Passes a request on to the owner of the answer. Called on the server's
/// thread: it must not wait.
using http_question =
  std::function<void(const http_request&, const http_reply&)>;

/// Counters of a server. Its thread counts; any thread may read.
struct http_counts {
  counter connections;  ///< Accepted connections.
  counter closed;       ///< Of these, closed ones.
  counter crowded_out;  ///< Of these, those that made room for others.
  counter streams;      ///< Of these, those that have become streams.
  counter slow_streams; ///< Of these, those that were not read.
  counter answered;     ///< Requests answered with their page.
  counter refused;      ///< Requests answered otherwise.
};

/// Answers GET and HEAD, and POST for actions, over HTTP/1.1, unencrypted, on
/// its own thread. One thread must make and end it; everything else happens
/// inside. A client that sends garbage, sends slowly, or opens many connections
/// costs the server what `limits` allow, and other clients get their answers.
class http_server {
public:
  struct limits {
    /// For one more, the connection that has been at the same work for longest
    /// is closed.
    std::size_t connections = 64;
    std::uint32_t head_bytes = 8192; ///< Of a request.
    /// For a request to arrive, from its first byte or the answer before it;
    /// again for the answer to be read; and after the last one for the client
    /// to close the connection.
    std::chrono::milliseconds patience = std::chrono::seconds{10};
    std::size_t requests = 1000; ///< Of one connection; then it is closed.
    std::size_t streams = 20;    ///< Open streams, besides the connections.
    std::chrono::milliseconds stream_pace = std::chrono::seconds{1};
    /// Requests that were passed on and wait for their answers, and as many
    /// actions besides them; one more gets 503. A request that has waited for
    /// that long gets 504.
    std::size_t questions = 8;
    std::chrono::milliseconds question_patience = std::chrono::seconds{30};
  };

  struct options {
    std::string listen; ///< host:port; port 0: a free port.
    std::string token;  ///< Empty: no token, for loopback addresses only.
    /// For `actions`, which need no other token. Empty: they are refused.
    std::string action_token{};
    /// By path. A path that ends with '/' covers all paths below it without an
    /// entry of their own. It is no folder of files: the page interprets the
    /// path.
    std::map<std::string, http_page> pages;
    std::map<std::string, http_stream> streams{}; ///< By path; GET alone.
    /// By path, like pages: requests that others answer, and actions, for which
    /// POST is the only method.
    std::map<std::string, http_question> questions{};
    std::map<std::string, http_question> actions{};
    std::shared_ptr<http_counts> counts = std::make_shared<http_counts>();
    limits most{};
    /// Called once, on the server's thread, if memory or descriptors run out:
    /// the server closes its connections and goes on.
    std::function<void(const std::string& why)> on_trouble{};
  };

  /// Binds and starts the thread. Fails with permission if others could reach
  /// the address and there is no token.
  static result<std::unique_ptr<http_server>> start(options with);

  /// Closes all connections and joins.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// host:port, with the port that the system chose.
  const std::string& address() const { return address_; }

private:
  class engine;
  http_server();

  std::string address_;
  std::unique_ptr<engine> engine_;
};

/// Checks an address without binding it. Fails with invalid_argument if it is
/// invalid, with permission if others could reach it and there is no token.
result<void> check_http_address(const std::string& listen, bool has_token);

} // namespace graphmill
