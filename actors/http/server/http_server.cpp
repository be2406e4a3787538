#include "actors/http/server/http_server.hpp"

#include "actors/http/server/http_gate.hpp"
#include "actors/http/server/http_heads.hpp"
#include "actors/http/server/http_packing.hpp"
#include "actors/http/server/http_place.hpp"
#include "actors/http/server/http_questions.hpp"
#include "actors/http/server/http_requests.hpp"
#include "actors/http/server/http_streams.hpp"
#include "actors/process/processors.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <pthread.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using http_failure = boost::beast::error_code;
using http_clock = std::chrono::steady_clock;

/// The kind of errors that say what is wrong with a request.
const boost::system::error_category& parse_errors() {
  return http::make_error_code(http::error::bad_method).category();
}

} // namespace

http_answer http_sentence(unsigned status, const std::string& text) {
  http_answer out;
  out.status = status;
  out.body = std::make_shared<const std::string>(text + "\n");
  return out;
}

/// The server's thread, and what it owns. After the constructor nobody else
/// touches any of it but `context_`, which is told to stop.
class http_server::engine {
public:
  engine(options with, const http_place& place)
    : with_(std::move(with)),
      gate_(place.host,
            !with_.token.empty() && place.at.address().is_unspecified(),
            with_.token, with_.action_token),
      streams_(context_, with_.most, with_.counts),
      questions_(context_, with_.most), acts_(context_, with_.most) {}

  ~engine() {
    context_.stop();
    if (thread_.joinable())
      thread_.join();
  }

  result<tcp::endpoint> bind(const tcp::endpoint& at) {
    http_failure failed;
    const auto step = [&failed](const auto& action) {
      if (!failed)
        action();
    };
    step([&] { acceptor_.open(at.protocol(), failed); });
    step([&] {
      acceptor_.set_option(asio::socket_base::reuse_address{true}, failed);
    });
    step([&] { acceptor_.bind(at, failed); });
    step([&] { acceptor_.listen(128, failed); });
    tcp::endpoint bound;
    step([&] { bound = acceptor_.local_endpoint(failed); });
    if (failed)
      return fail_errno(failed.value(), "cannot listen for HTTP at {}",
                        http_address_text(at));
    return bound;
  }

  void start() {
    accept();
    thread_ = std::thread{[this] {
      // What it costs to be watched is seen by its name (`top -H`).
      ::pthread_setname_np(::pthread_self(), "graphmill-http");
      give_way_to_training();
      run();
    }};
  }

private:
  /// One connection. It is at one thing at a time: waits for a request, for its
  /// answer to be taken, or for its other end to close it. Kept by the handler
  /// of what it is at, and by the engine, which alone closes it.
  struct connection {
    explicit connection(tcp::socket socket, std::string host)
      : stream(std::move(socket)), from(std::move(host)) {}

    beast::tcp_stream stream;
    std::string from; ///< The numeric address of the other end.
    http_clock::time_point since = http_clock::now(); ///< At the same thing.
    beast::flat_buffer input;
    std::optional<http_head_parser> parser;
    std::string head;                        ///< Of the answer on its way,
    std::shared_ptr<const std::string> body; ///< and what comes behind it.
    std::size_t requests = 0;
  };
  using shared_connection = std::shared_ptr<connection>;

  /// What throws is that memory or descriptors are gone: the connections give
  /// theirs back, and it begins anew.
  void run() {
    for (bool anew = false;; anew = true)
      try {
        if (anew)
          recover();
        context_.run();
        return;
      } catch (const std::exception& reason) {
        if (auto tell = std::exchange(with_.on_trouble, {}))
          tell(reason.what());
        std::this_thread::sleep_for(breath);
      }
  }

  void recover() {
    while (!open_.empty())
      close(shared_connection{open_.back()});
    streams_.close_all();
    questions_.drop_all();
    acts_.drop_all();
    if (!accepting_)
      accept();
  }

  // -- connections

  void accept() {
    acceptor_.async_accept([this](http_failure failed, tcp::socket socket) {
      accepting_ = false;
      if (!failed)
        take(std::move(socket));
      if (failed)
        accept_later(); // No descriptor is left, most likely.
      else
        accept();
    });
    accepting_ = true;
  }

  void accept_later() {
    pause_.expires_after(breath);
    pause_.async_wait([this](http_failure) {
      accepting_ = false; // Should this throw, it begins anew.
      accept();
    });
    accepting_ = true;
  }

  /// The connection that has been at the same for longest makes room: those who
  /// ask and take what they are told are never it while others only wait.
  void take(tcp::socket socket) {
    http_failure failed;
    const auto peer = socket.remote_endpoint(failed);
    if (failed)
      return;
    if (open_.size() >= std::max<std::size_t>(with_.most.connections, 1)) {
      ++with_.counts->crowded_out;
      close(shared_connection{*std::ranges::min_element(
        open_, {}, [](const auto& one) { return one->since; })});
    }
    socket.set_option(tcp::no_delay{true}, failed);
    auto made = std::make_shared<connection>(std::move(socket),
                                             peer.address().to_string());
    open_.push_back(made);
    ++with_.counts->connections;
    read(made);
  }

  void close(const shared_connection& one) {
    if (std::erase(open_, one) == 0)
      return;
    ++with_.counts->closed;
    http_failure ignored;
    one->stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
    one->stream.close();
  }

  bool is_open(const shared_connection& one) const {
    return std::ranges::find(open_, one) != open_.end();
  }

  // -- requests

  void read(const shared_connection& one) {
    one->since = http_clock::now();
    one->parser.emplace();
    limit_head(*one->parser, one->input, with_.most.head_bytes);
    one->stream.expires_after(with_.most.patience);
    http::async_read_header(
      one->stream, one->input, *one->parser,
      [this, one](http_failure failed, std::size_t) { on_head(one, failed); });
  }

  void on_head(const shared_connection& one, http_failure failed) {
    if (!is_open(one))
      return;
    if (failed == http::error::header_limit
        || failed == http::error::buffer_overflow)
      return answer(one, http_sentence(431, "the request is too long"), false);
    if (failed == http::error::end_of_stream
        || (failed && failed.category() != parse_errors()))
      return close(one); // Its time is over, too.
    if (failed)
      return answer(one, http_sentence(400, "this is no HTTP"), false);
    ++one->requests;
    const auto& parser = *one->parser;
    const auto keeps = parser.is_done() && parser.get().keep_alive()
                       && one->requests < with_.most.requests;
    const auto head = http_head_in(parser.get(), !parser.is_done());
    const auto asked = http_request_in(parser.get(), one->from);
    const auto* action = parser.get().method() == http::verb::post
                           ? found_in(with_.actions, asked.path)
                           : nullptr;
    const auto now = http_clock::now();
    if (const auto refusal = action != nullptr
                               ? gate_.refuses_action(head, one->from, now)
                               : gate_.refuses(head, one->from, now))
      return answer(one, http_sentence(refusal->status, refusal->sentence),
                    keeps);
    if (action != nullptr)
      return hand_on(one, acts_, *action, asked, keeps);
    if (const auto* source = found_in(with_.streams, asked.path))
      return stream(one, *source, asked, keeps);
    if (const auto* question = found_in(with_.questions, asked.path))
      return hand_on(one, questions_, *question, asked, keeps);
    if (const auto* page = found_in(with_.pages, asked.path))
      return answer(one, (*page)(asked), keeps);
    answer(one, http_sentence(404, "there is no such page"), keeps);
  }

  /// Somebody else answers; until then the connection is read no further.
  void hand_on(const shared_connection& one, http_questions& among,
               const http_question& to, const http_request& asked, bool keeps) {
    if (!among.has_room())
      return answer(one, http_sentence(503, "many ask: ask again"), keeps);
    one->since = http_clock::now();
    one->stream.expires_never(); // That has a time of its own.
    among.ask(to, asked, [this, one, keeps](http_answer what) {
      if (is_open(one))
        answer(one, std::move(what), keeps);
    });
  }

  /// The connection is a stream's from here on.
  void stream(const shared_connection& one, const http_stream& what,
              const http_request& asked, bool keeps) {
    if (one->parser->get().method() != http::verb::get)
      return answer(one, http_sentence(405, "a stream has no length"), keeps);
    if (!streams_.has_room())
      return answer(
        one, http_sentence(503, "many streams are open: ask again later"),
        keeps);
    auto source = what(asked);
    std::erase(open_, one);
    ++with_.counts->answered;
    streams_.open(beast::tcp_stream{one->stream.release_socket()},
                  std::move(source));
  }

  void answer(const shared_connection& one, http_answer what, bool keeps) {
    if (what.status == 200 && has_etag(one->parser->get(), what.etag))
      what.status = 304;
    const auto told = what.status == 200 || what.status == 304;
    ++(told ? with_.counts->answered : with_.counts->refused);
    one->since = http_clock::now();
    const auto& asked = one->parser->get();
    http_manner how{.keeps = keeps};
    if (one->parser->is_header_done())
      how.method = asked.method();
    one->body = std::move(what.body);
    // An etag is that of the bytes: what has one is sent as it is.
    if (what.status == 200 && what.etag.empty() && takes_gzip(asked))
      if (auto packed = packing_.packed(one->body); packed != one->body) {
        one->body = std::move(packed);
        how.gzip = true;
      }
    one->head = http_head_of(what, how, one->body->size());
    std::array<asio::const_buffer, 2> output{asio::buffer(one->head)};
    if (what.status != 304 && how.method != http::verb::head)
      output[1] = asio::buffer(*one->body);
    one->stream.expires_after(with_.most.patience);
    asio::async_write(one->stream, output,
                      [this, one, keeps](http_failure failed, std::size_t) {
                        if (!is_open(one))
                          return;
                        one->body.reset();
                        if (failed)
                          close(one);
                        else if (keeps)
                          read(one);
                        else
                          part(one);
                      });
  }

  /// Ends a connection in order. With bytes of the other end unread, as those
  /// of a body, closing it would reset it, and might cost the other end the
  /// answer: they are read and forgotten, for so long as a request may take.
  void part(const shared_connection& one) {
    http_failure ignored;
    one->since = http_clock::now();
    one->stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    one->stream.expires_after(with_.most.patience);
    forget_input(one);
  }

  /// Looks at the clock itself: the stream counts a read that finds something
  /// as in time.
  void forget_input(const shared_connection& one) {
    one->input.clear();
    one->stream.async_read_some(one->input.prepare(with_.most.head_bytes),
                                [this, one](http_failure failed, std::size_t) {
                                  if (!is_open(one))
                                    return;
                                  const auto took =
                                    http_clock::now() - one->since;
                                  if (failed || took >= with_.most.patience)
                                    close(one);
                                  else
                                    forget_input(one);
                                });
  }

  /// Until it is tried again what failed for want of memory or descriptors.
  static constexpr std::chrono::milliseconds breath{100};

  options with_;
  http_gate gate_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer pause_{context_};
  bool accepting_ = false; ///< Or about to: a handler will go on with it.
  std::vector<shared_connection> open_;
  http_packing packing_;
  http_streams streams_;
  http_questions questions_;
  /// Apart, so that nobody who only looks takes the place of one who acts.
  http_questions acts_;
  std::thread thread_;
};

http_server::http_server() = default;
http_server::~http_server() = default;

result<std::unique_ptr<http_server>> http_server::start(options with) {
  GRAPHMILL_TRY(const auto place,
                http_place_of(with.listen, !with.token.empty()));
  std::unique_ptr<http_server> out{new http_server};
  try { // Of Asio: no descriptor, or no thread, is left.
    out->engine_ = std::make_unique<engine>(std::move(with), place);
    GRAPHMILL_TRY(const auto bound, out->engine_->bind(place.at));
    out->address_ = http_address_text(bound);
    out->engine_->start();
  } catch (const std::exception& reason) {
    return fail(ec::unavailable, "cannot answer HTTP: {}", reason.what());
  }
  return out;
}

result<void> check_http_address(const std::string& listen, bool has_token) {
  GRAPHMILL_TRYV(http_place_of(listen, has_token));
  return ok();
}

} // namespace graphmill
