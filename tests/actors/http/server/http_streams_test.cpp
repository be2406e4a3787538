#include "actors/http/server/http_server.hpp"
#include "tests/actors/http/raw_client.hpp"
#include "tests/actors/http/served_page.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// /counted tells the numbers from that behind `Last-Event-ID`, or 0, on.
http_server::options http_of_streams() {
  auto out = options_with_page();
  out.most.stream_pace = std::chrono::milliseconds{1};
  out.streams["/counted"] =
    [](const http_request& asked) -> http_stream_source {
    return [at = asked.last_event_id.empty()
                   ? 0
                   : std::stoi(asked.last_event_id) + 1]() mutable {
      return std::make_shared<const std::string>(fmt::format("{};", at++));
    };
  };
  return out;
}

} // namespace

CATCH_TEST_CASE("a stream goes on until its reader leaves", "[http_streams]") {
  auto options = http_of_streams();
  const auto counts = options.counts;
  const auto server = started(std::move(options));
  {
    raw_client client{*server};
    client.say(request_for("/counted"));
    const auto head = client.hear_until("\r\n\r\n");
    CATCH_CHECK_THAT(head, contains("HTTP/1.1 200 OK\r\n"));
    CATCH_CHECK_THAT(head, contains("Content-Type: text/event-stream\r\n"));
    CATCH_CHECK_THAT(head, contains("Cache-Control: no-store\r\n"));
    CATCH_CHECK_THAT(head, contains("Content-Security-Policy: default-src"));
    CATCH_CHECK_THAT(head, contains("X-Content-Type-Options: nosniff\r\n"));
    CATCH_CHECK(client.hear_until("12;") == "0;1;2;3;4;5;6;7;8;9;10;11;12;");
    // Others get their answers meanwhile.
    raw_client other{*server};
    CATCH_CHECK(other.ask(request_for("/page")).body == "hello\n");
    CATCH_CHECK(counts->closed == 0);
  }
  CATCH_CHECK(comes_about([&] { return counts->closed == 2; }));
  CATCH_CHECK(counts->streams == 1);
  CATCH_CHECK(counts->slow_streams == 0);
}

CATCH_TEST_CASE("a stream goes on where its reader was", "[http_streams]") {
  const auto server = started(http_of_streams());
  raw_client client{*server};
  client.say(request_for("/counted", "Last-Event-ID: 41\r\n"));
  client.hear_until("\r\n\r\n");
  CATCH_CHECK(client.hear_until("44;") == "42;43;44;");
}

CATCH_TEST_CASE("who does not read a stream is dropped", "[http_streams]") {
  auto options = http_of_streams();
  options.most.patience = std::chrono::milliseconds{50};
  options.streams["/large"] = [](const http_request&) -> http_stream_source {
    // More than the system keeps on the way, in a few of them.
    return [text = std::make_shared<const std::string>(1 << 20, 'x')] {
      return text;
    };
  };
  const auto counts = options.counts;
  const auto server = started(std::move(options));
  // Should this thread be slow, the server does not wait for the request.
  std::unique_ptr<raw_client> client;
  CATCH_CHECK(comes_about([&] {
    client = std::make_unique<raw_client>(*server);
    client->say(request_for("/large"));
    return !client->is_ended();
  }));
  CATCH_CHECK(comes_about([&] { return counts->slow_streams == 1; }));
  CATCH_CHECK(
    comes_about([&] { return counts->closed == counts->connections; }));
  CATCH_CHECK(counts->streams == 1);
}

CATCH_TEST_CASE("streams have places", "[http_streams]") {
  auto options = http_of_streams();
  options.most.streams = 1;
  options.most.stream_pace = std::chrono::hours{1};
  const auto server = started(std::move(options));
  auto first = std::make_unique<raw_client>(*server);
  first->say(request_for("/counted"));
  first->hear_until("0;");
  raw_client second{*server};
  CATCH_CHECK(second.ask(request_for("/counted")).status == 503);
  const auto has_place = [&server] {
    auto next = std::make_unique<raw_client>(*server);
    next->say(request_for("/counted"));
    return next->hear_until("\r\n").starts_with("HTTP/1.1 200 ")
             ? std::move(next)
             : nullptr;
  };
  // Who has left is missed at once, and so is who says something more.
  first.reset();
  std::unique_ptr<raw_client> next;
  CATCH_CHECK(comes_about([&] { return (next = has_place()) != nullptr; }));
  next->say("x");
  CATCH_CHECK(comes_about([&] { return has_place() != nullptr; }));
}

CATCH_TEST_CASE("who may not ask gets no stream", "[http_streams]") {
  auto options = http_of_streams();
  options.token = "0123456789abcdef";
  const auto server = started(std::move(options));
  raw_client client{*server};
  CATCH_CHECK(client.ask(request_for("/counted")).status == 401);
  const auto shown = "Authorization: Bearer 0123456789abcdef\r\n";
  client.say(request_for("/counted", shown, "HEAD"));
  const auto refused = client.hear(false);
  CATCH_CHECK(refused.status == 405);
  CATCH_CHECK_THAT(refused.head, contains("Allow: GET\r\n"));
  client.say(request_for("/counted", shown));
  CATCH_CHECK(client.hear_until("\r\n").starts_with("HTTP/1.1 200 "));
}

CATCH_TEST_CASE("a server ends with its streams open", "[http_streams]") {
  auto server = started(http_of_streams());
  raw_client client{*server};
  client.say(request_for("/counted"));
  client.hear_until("5;");
  server.reset();
  const auto rest = client.hear_rest();
  CATCH_CHECK((rest.empty() || rest.ends_with(';')));
}
