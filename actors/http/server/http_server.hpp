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

/// What is asked for, once it is known that it may be.
struct http_request {
  std::string path;
  std::string query;         ///< Behind the question mark; empty: none.
  std::string last_event_id; ///< Of a browser that a stream has lost.
  std::string from{};        ///< The numeric address of who asks.
};

/// What a page is at one moment. Connections share the body.
struct http_answer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  /// With its quotes: who has the same one already gets 304. Empty: nobody may
  /// keep the page.
  std::string etag{};
};
/// A line of text.
http_answer http_sentence(unsigned status, const std::string& text);

/// Makes a page. Called on the server's thread for each request: it waits for
/// nothing, and touches nothing that actors change.
using http_page = std::function<http_answer(const http_request&)>;

/// What a stream of events says next; null: nothing now. Called on the server's
/// thread, each time after the reader has taken what it said before.
using http_stream_source = std::function<std::shared_ptr<const std::string>()>;
using http_stream = std::function<http_stream_source(const http_request&)>;

/// Takes the answer to a request that was handed on. From any thread; the first
/// answer counts, if anybody waits for it still.
using http_reply = std::function<void(http_answer)>;
/// Hands a request on to whoever knows the answer. Called on the server's
/// thread: it waits for nothing.
using http_question =
  std::function<void(const http_request&, const http_reply&)>;

/// What a server has done so far. Its thread counts, any may read.
struct http_counts {
  counter connections;  ///< That were taken.
  counter closed;       ///< Of these, those that have ended.
  counter crowded_out;  ///< Of these, those that made room for others.
  counter streams;      ///< Of these, those that have become streams.
  counter slow_streams; ///< Of these, those that were not read.
  counter answered;     ///< Requests that got their page.
  counter refused;      ///< Requests that got anything else.
};

/// Answers GET and HEAD, and POST to what changes something, over HTTP/1.1, in
/// the clear, on a thread of its own. To be made and ended by one thread; all
/// else happens within. Whoever sends garbage, sends slowly, or opens many
/// connections costs the server what `limits` allow, and others get their
/// answers.
class http_server {
public:
  struct limits {
    /// One more, and the one that has been at the same for longest is closed.
    std::size_t connections = 64;
    std::uint32_t head_bytes = 8192; ///< Of a request.
    /// For a request to come, from its first byte or the answer before it,
    /// again for the answer to be taken, and after the last one for the other
    /// end to close the connection.
    std::chrono::milliseconds patience = std::chrono::seconds{10};
    std::size_t requests = 1000; ///< Of one connection; then it is closed.
    std::size_t streams = 20;    ///< That are open, beside the connections.
    std::chrono::milliseconds stream_pace = std::chrono::seconds{1};
    /// Requests that were handed on and wait for their answers, and as many
    /// actions beside them; one more gets 503. Who has waited for that long
    /// gets 504.
    std::size_t questions = 8;
    std::chrono::milliseconds question_patience = std::chrono::seconds{30};
  };

  struct options {
    std::string listen; ///< host:port; port 0: one that is free.
    std::string token;  ///< Empty: none, for addresses of loopback only.
    /// Of `actions`, which need no other. Empty: they are refused.
    std::string action_token{};
    /// By path. One that ends with '/' is that of all paths below it that have
    /// none of their own, and is no folder of files: what a path means is the
    /// page's business.
    std::map<std::string, http_page> pages;
    std::map<std::string, http_stream> streams{}; ///< By path; GET alone.
    /// By path, as pages: what others answer, and what changes something, for
    /// which POST is the only method.
    std::map<std::string, http_question> questions{};
    std::map<std::string, http_question> actions{};
    std::shared_ptr<http_counts> counts = std::make_shared<http_counts>();
    limits most{};
    /// Told once, on the server's thread, if memory or descriptors run out:
    /// then it closes its connections and goes on.
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

/// Checks what an address asks for, without binding it: fails with
/// invalid_argument on what is none, with permission if others could reach it
/// and there is no token.
result<void> check_http_address(const std::string& listen, bool has_token);

} // namespace graphmill
