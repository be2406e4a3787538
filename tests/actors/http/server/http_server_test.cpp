#include "actors/http/server/http_server.hpp"
#include "tests/actors/http/raw_client.hpp"
#include "tests/actors/http/served_page.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

const std::string get_page = request_for("/page");

} // namespace

CATCH_TEST_CASE("a server answers GET and HEAD", "[http_server]") {
  auto options = options_with_page();
  const auto counts = options.counts;
  const auto server = started(std::move(options));
  raw_client client{*server};
  auto got = client.ask(get_page);
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK(got.body == "hello\n");
  CATCH_CHECK_THAT(got.head, contains("Content-Type: text/plain"));
  CATCH_CHECK_THAT(got.head, !contains("Access-Control"));
  CATCH_CHECK_THAT(got.head, !contains("Connection: close"));
  // On the same connection, and two at once.
  CATCH_CHECK(client.ask("GET /page?x=1 HTTP/1.1\r\nHost: [::1]:1\r\n\r\n").body
              == "hello\n");
  client.say(request_for("/page", {}, "HEAD") + get_page);
  got = client.hear(false);
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK_THAT(got.head, contains("Content-Length: 6\r\n"));
  CATCH_CHECK(client.hear().body == "hello\n");
  CATCH_CHECK(client.ask(request_for("/")).status == 404);
  CATCH_CHECK(client.ask(request_for("/page", {}, "DELETE")).status == 405);
  CATCH_CHECK(client.ask(get_page).status == 200);
  CATCH_CHECK(counts->answered == 5);
  CATCH_CHECK(counts->refused == 2);
  CATCH_CHECK(counts->connections == 1);
}

CATCH_TEST_CASE("a server lets runs go first", "[http_server]") {
  auto options = options_with_page();
  options.pages["/nice"] = [](const http_request&) {
    return http_sentence(200, fmt::format( // 0 is the calling thread.
                                "{} {}", ::getpriority(PRIO_PROCESS, 0),
                                ::sched_getscheduler(0) == SCHED_BATCH));
  };
  const auto own = ::getpriority(PRIO_PROCESS, 0);
  const auto server = started(std::move(options));
  raw_client client{*server};
  CATCH_CHECK(client.ask(request_for("/nice")).body
              == fmt::format("{} true\n", std::min(own + 5, 19)));
  CATCH_CHECK(::getpriority(PRIO_PROCESS, 0) == own);
}

CATCH_TEST_CASE("what is no request that a server knows", "[http_server]") {
  const auto server = started(options_with_page());
  const auto huge = "GET /page HTTP/1.1\r\nHost: localhost\r\nX: ";
  const std::vector<std::pair<std::string, unsigned>> said{
    {"garbage\r\n\r\n", 400},
    {std::string("\0\1\2\3\r\n\r\n", 8), 400},
    {"GET /page HTTP/9.9\r\nHost: localhost\r\n\r\n", 400},
    {"GET /page HTTP/1.1\r\n\r\n", 400},
    {"GET /page HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
    {"GET /page HTTP/1.1\r\nHost: rebound.example.org\r\n\r\n", 421},
    {"GET /page HTTP/1.1\r\nHost: 127.example.org\r\n\r\n", 421},
    {"GET http://rebound.example.org/page HTTP/1.1\r\nHost: localhost\r\n"
     "\r\n",
     421},
    {"GET http:///page HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
    {"GET http://localhost/page HTTP/1.1\r\n\r\n", 400},
    {"GET ftp://localhost/page HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
    {"POST /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
     405},
    {"GET /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
     413},
    {"GET /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999"
     "\r\n\r\nx",
     413},
    {"GET /page HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked"
     "\r\n\r\n1\r\nx\r\n",
     413},
    {"GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
    {huge + std::string(8192, 'x'), 431},
  };
  for (const auto& [text, status] : said) {
    CATCH_INFO(text.substr(0, 80));
    raw_client client{*server};
    CATCH_CHECK(client.ask(text).status == status);
  }
  raw_client client{*server};
  CATCH_CHECK(client.ask(get_page).status == 200);
}

CATCH_TEST_CASE("nobody is made a WebSocket", "[http_server]") {
  const auto server = started(options_with_page());
  const std::string upgrade =
    "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";
  // A masked frame that says to be of 2^63 - 1 bytes, and noise behind it.
  auto noise = std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10);
  for (unsigned i = 0; i < 4096; ++i)
    noise += static_cast<char>(i * 2654435761U >> 24U);
  for (int round = 0; round < 20; ++round) {
    raw_client client{*server};
    // Whoever only asks for it gets the page, by HTTP.
    const auto got = client.ask(upgrade);
    CATCH_CHECK(got.status == 200);
    CATCH_CHECK_THAT(got.head, !contains("Upgrade"));
    const auto answer = client.ask(noise + "\r\n\r\n");
    CATCH_CHECK((answer.status == 400 || answer.status == 0));
    raw_client other{*server};
    CATCH_CHECK(other.ask(get_page).status == 200);
  }
}

CATCH_TEST_CASE("who sends a long body hears why it is refused",
                "[http_server]") {
  auto options = options_with_page();
  options.most.patience = std::chrono::minutes{10};
  const auto server = started(std::move(options));
  const std::string body(4 << 20, 'x'); // More than sockets hold.
  raw_client client{*server};
  CATCH_CHECK(client.say("GET /page HTTP/1.1\r\nHost: localhost\r\n"
                         "Content-Length: 4194304\r\n\r\n"
                         + body));
  const auto got = client.hear();
  CATCH_CHECK(got.status == 413);
  CATCH_CHECK_THAT(got.head, contains("Connection: close"));
  client.finish();
  CATCH_CHECK(client.is_ended_in_order());
}

CATCH_TEST_CASE("who goes on with a body is left in the end", "[http_server]") {
  auto options = options_with_page();
  options.most.patience = std::chrono::milliseconds{50};
  const auto server = started(std::move(options));
  raw_client client{*server};
  client.say("GET /page HTTP/1.1\r\nHost: localhost\r\n"
             "Content-Length: 99999999999\r\n\r\n");
  const std::string more(1 << 16, 'x');
  // More than the server can read in that time; it reads at its own pace.
  int said = 0;
  constexpr int most = 1 << 18;
  while (said < most && client.say(more))
    ++said;
  CATCH_CHECK(said < most);
}

CATCH_TEST_CASE("who has said all may close its half", "[http_server]") {
  const auto server = started(options_with_page());
  raw_client client{*server};
  client.say(get_page);
  client.finish();
  CATCH_CHECK(client.hear().body == "hello\n");
  CATCH_CHECK(client.is_ended_in_order());
}

CATCH_TEST_CASE("a request that does not come in time ends its connection",
                "[http_server]") {
  auto options = options_with_page();
  options.most.patience = std::chrono::milliseconds{50};
  const auto server = started(std::move(options));
  raw_client silent{*server};
  CATCH_CHECK(silent.is_ended());
  raw_client slow{*server};
  slow.say("GET /page HT");
  CATCH_CHECK(slow.is_ended());
}

CATCH_TEST_CASE("who has waited longest makes room", "[http_server]") {
  auto options = options_with_page();
  options.most.connections = 2;
  options.most.patience = std::chrono::minutes{10};
  const auto counts = options.counts;
  const auto server = started(std::move(options));
  raw_client first{*server};
  CATCH_CHECK(first.ask(get_page).status == 200);
  raw_client second{*server};
  CATCH_CHECK(second.ask(get_page).status == 200);
  raw_client third{*server};
  CATCH_CHECK(third.ask(get_page).status == 200);
  CATCH_CHECK(first.is_ended());
  CATCH_CHECK(second.ask(get_page).status == 200);
  CATCH_CHECK(counts->crowded_out == 1);
}

CATCH_TEST_CASE("a thousand connections of somebody else", "[http_server]") {
  // Both ends of each are this process's.
  rlimit descriptors{};
  CATCH_REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  descriptors.rlim_cur = std::max<rlim_t>(
    descriptors.rlim_cur, std::min<rlim_t>(descriptors.rlim_max, 4096));
  CATCH_REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const auto many = std::min<rlim_t>(descriptors.rlim_cur / 2, 1000);
  auto options = options_with_page();
  const auto most = options.most.connections;
  const auto counts = options.counts;
  const auto server = started(std::move(options));
  std::vector<std::unique_ptr<raw_client>> others;
  for (rlim_t i = 0; i < many; ++i) {
    others.push_back(std::make_unique<raw_client>(*server));
    others.back()->say(i % 2 == 0 ? "GET /pa" : std::string(500, '\xff'));
  }
  raw_client client{*server};
  CATCH_CHECK(client.ask(get_page).body == "hello\n");
  // Those that have said what is no request may have ended by themselves.
  CATCH_CHECK(counts->connections - counts->closed <= most);
}

CATCH_TEST_CASE("a connection has so many requests", "[http_server]") {
  auto options = options_with_page();
  options.most.requests = 2;
  const auto server = started(std::move(options));
  raw_client client{*server};
  CATCH_CHECK(client.ask(get_page).status == 200);
  const auto last = client.ask(get_page);
  CATCH_CHECK(last.status == 200);
  CATCH_CHECK_THAT(last.head, contains("Connection: close"));
  CATCH_CHECK(client.is_ended());
}

CATCH_TEST_CASE("a server with a token", "[http_server]") {
  auto options = options_with_page();
  options.token = "0123456789abcdef";
  const auto server = started(std::move(options));
  raw_client client{*server};
  const auto refused = client.ask(get_page);
  CATCH_CHECK(refused.status == 401);
  CATCH_CHECK_THAT(refused.head, contains("WWW-Authenticate: Bearer"));
  CATCH_CHECK_THAT(refused.head,
                   contains("WWW-Authenticate: Basic realm=\"graphmill\""));
  CATCH_CHECK_THAT(refused.body, !contains("0123456789abcdef"));
  CATCH_CHECK(
    client
      .ask(request_for("/page", "Authorization: Bearer 0123456789abcdef\r\n"))
      .status
    == 200);
}

CATCH_TEST_CASE("where a server may listen", "[http_server]") {
  CATCH_CHECK(error_of(check_http_address("0.0.0.0:0", false)).code
              == ec::permission);
  CATCH_CHECK(error_of(check_http_address("10.1.2.3:7880", false)).code
              == ec::permission);
  for (const auto* broken : {"", "7880", "127.0.0.1", "127.0.0.1:x", ":1"})
    CATCH_CHECK(error_of(check_http_address(broken, true)).code
                == ec::invalid_argument);
  value_of(check_http_address("*:0", true));
  value_of(check_http_address("127.0.0.1:7880", false));
  auto options = options_with_page();
  const auto server = started(options_with_page());
  options.listen = server->address();
  const auto taken = error_of(http_server::start(std::move(options)));
  CATCH_CHECK_THAT(taken.message, contains(server->address()));
}

CATCH_TEST_CASE("who has a page already is told so", "[http_server]") {
  auto options = options_with_page();
  options.pages["/kept"] = [](const http_request&) {
    auto page = http_sentence(200, "kept");
    page.etag = "\"4711\"";
    return page;
  };
  const auto server = started(std::move(options));
  raw_client client{*server};
  auto got = client.ask(request_for("/kept"));
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK_THAT(got.head, contains("ETag: \"4711\"\r\n"));
  CATCH_CHECK_THAT(got.head, contains("Cache-Control: no-cache\r\n"));
  for (const auto* known : {"\"4711\"", "\"1\", W/\"4711\"", "*"}) {
    client.say(
      request_for("/kept", std::string{"If-None-Match: "} + known + "\r\n"));
    got = client.hear(false);
    CATCH_CHECK(got.status == 304);
    CATCH_CHECK_THAT(got.head, contains("ETag: \"4711\"\r\n"));
  }
  // What follows is where it is expected.
  got = client.ask(request_for("/kept", "If-None-Match: \"47\"\r\n"));
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK(got.body == "kept\n");
  got = client.ask(request_for("/page", "If-None-Match: *\r\n"));
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK_THAT(got.head, contains("Cache-Control: no-store\r\n"));
}

CATCH_TEST_CASE("browsers are told what they may do with an answer",
                "[http_server]") {
  const auto server = started(options_with_page());
  raw_client client{*server};
  for (const auto* path : {"/page", "/none"}) {
    const auto got = client.ask(request_for(path));
    for (const auto* line :
         {"Content-Security-Policy: default-src 'self'; frame-ancestors "
          "'none'\r\n",
          "X-Content-Type-Options: nosniff\r\n",
          "Referrer-Policy: no-referrer\r\n",
          "Cross-Origin-Resource-Policy: same-origin\r\n"})
      CATCH_CHECK_THAT(got.head, contains(line));
  }
}

CATCH_TEST_CASE("a page of all paths below its own", "[http_server]") {
  auto options = options_with_page();
  options.pages["/"] = [](const http_request&) {
    return http_sentence(200, "index");
  };
  options.pages["/runs/"] = [](const http_request& asked) {
    return http_sentence(200, asked.path + " " + asked.query);
  };
  const auto server = started(std::move(options));
  raw_client client{*server};
  const auto ask = [&client](const std::string& path) {
    return client.ask(request_for(path));
  };
  CATCH_CHECK(ask("/").body == "index\n");
  CATCH_CHECK(ask("/runs/r-1?since=2").body == "/runs/r-1 since=2\n");
  CATCH_CHECK(ask("/runs/").body == "/runs/ \n");
  CATCH_CHECK(ask("/runs/..").body == "/runs/.. \n"); // It opens no file.
  for (const auto* path : {"/runs", "/r", "/runs/a/b", "/runs/../page",
                           "/page/../runs/a", "//", "/%72uns/a"}) {
    CATCH_INFO(path);
    CATCH_CHECK(ask(path).status == 404);
  }
}

CATCH_TEST_CASE("a page may be asked for by its whole address",
                "[http_server]") {
  auto options = options_with_page();
  options.pages["/"] = [](const http_request& asked) {
    return http_sentence(200, asked.path + " " + asked.query);
  };
  const auto server = started(std::move(options));
  raw_client client{*server};
  const auto ask = [&client](const std::string& target) {
    return client.ask("GET " + target
                      + " HTTP/1.1\r\nHost: rebound.example.org\r\n\r\n");
  };
  CATCH_CHECK(ask("http://localhost:80/page").body
              == ask("HTTP://[::1]/page").body);
  CATCH_CHECK(ask("http://localhost/page").status == 200);
  CATCH_CHECK(ask("http://127.0.0.1").body == "/ \n");
  CATCH_CHECK(ask("http://127.0.0.1/?x=/y").body == "/ x=/y\n");
  CATCH_CHECK(ask("http://127.0.0.1?x=http://y").body == "/ x=http://y\n");
  CATCH_CHECK(ask("/?x=http://localhost/").status == 421);
}
