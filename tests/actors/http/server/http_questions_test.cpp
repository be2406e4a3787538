#include "actors/http/server/http_server.hpp"
#include "tests/actors/http/raw_client.hpp"
#include "tests/actors/http/served_page.hpp"
#include "tests/support/catch.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Where questions lie until a test answers them.
struct open_questions {
  std::mutex mutex;
  std::vector<http_reply> replies;

  std::size_t size() {
    const std::lock_guard lock{mutex};
    return replies.size();
  }
  http_reply last() {
    const std::lock_guard lock{mutex};
    return replies.back();
  }
};

http_server::options
options_with_questions(const std::shared_ptr<open_questions>& open) {
  auto out = options_with_page();
  out.most.patience = std::chrono::minutes{10};
  out.most.question_patience = std::chrono::minutes{10};
  out.action_token = "0123456789abcdef";
  const http_question lies = [open](const http_request&,
                                    const http_reply& reply) {
    const std::lock_guard lock{open->mutex};
    open->replies.push_back(reply);
  };
  out.questions["/open"] = lies;
  out.questions["/echo/"] = [](const http_request& asked,
                               const http_reply& reply) {
    reply(http_sentence(200, asked.path + " of " + asked.from));
    reply(http_sentence(500, "once is enough"));
  };
  out.actions["/act/"] = [](const http_request& asked,
                            const http_reply& reply) {
    reply(http_sentence(200, "done: " + asked.path));
  };
  return out;
}

const std::string question_token = "Graphmill-Token: 0123456789abcdef\r\n";

} // namespace

CATCH_TEST_CASE("somebody else answers", "[http_questions]") {
  const auto open = std::make_shared<open_questions>();
  const auto server = started(options_with_questions(open));
  raw_client client{*server};
  CATCH_CHECK(client.ask(request_for("/echo/a")).body
              == "/echo/a of 127.0.0.1\n");
  client.say(request_for("/open") + request_for("/page"));
  CATCH_REQUIRE(comes_about([&] { return open->size() == 1; }));
  // Others get their answers meanwhile.
  raw_client other{*server};
  CATCH_CHECK(other.ask(request_for("/page")).body == "hello\n");
  std::thread{[reply = open->last()] {
    reply(http_sentence(200, "later"));
  }}.join();
  CATCH_CHECK(client.hear().body == "later\n");
  CATCH_CHECK(client.hear().body == "hello\n");
}

CATCH_TEST_CASE("questions have places", "[http_questions]") {
  const auto open = std::make_shared<open_questions>();
  auto options = options_with_questions(open);
  options.most.questions = 1;
  const auto server = started(std::move(options));
  raw_client first{*server};
  first.say(request_for("/open"));
  CATCH_REQUIRE(comes_about([&] { return open->size() == 1; }));
  raw_client second{*server};
  CATCH_CHECK(second.ask(request_for("/open")).status == 503);
  // Who acts has a place of its own.
  CATCH_CHECK(second.ask(request_for("/act/a", question_token, "POST")).body
              == "done: /act/a\n");
  open->last()(http_sentence(200, "later"));
  CATCH_CHECK(first.hear().body == "later\n");
  CATCH_CHECK(second.ask(request_for("/echo/a")).status == 200);
}

CATCH_TEST_CASE("who gets no answer is told so", "[http_questions]") {
  const auto open = std::make_shared<open_questions>();
  auto options = options_with_questions(open);
  options.most.question_patience = std::chrono::milliseconds{50};
  const auto server = started(std::move(options));
  raw_client client{*server};
  CATCH_CHECK(client.ask(request_for("/open")).status == 504);
  open->last()(http_sentence(200, "too late"));
  CATCH_CHECK(client.ask(request_for("/page")).body == "hello\n");
}

CATCH_TEST_CASE("a server ends before its questions do", "[http_questions]") {
  const auto open = std::make_shared<open_questions>();
  auto server = started(options_with_questions(open));
  raw_client client{*server};
  client.say(request_for("/open"));
  CATCH_REQUIRE(comes_about([&] { return open->size() == 1; }));
  server.reset();
  CATCH_CHECK(client.is_ended());
  open->last()(http_sentence(200, "for nobody"));
}

CATCH_TEST_CASE("actions are posted, with their token", "[http_questions]") {
  const auto server =
    started(options_with_questions(std::make_shared<open_questions>()));
  raw_client client{*server};
  const auto post = [&client](const std::string& path,
                              const std::string& more) {
    return client.ask(request_for(path, more, "POST")).status;
  };
  const auto got = client.ask(
    request_for("/act/a", question_token + "Content-Length: 0\r\n", "POST"));
  CATCH_CHECK(got.status == 200);
  CATCH_CHECK(got.body == "done: /act/a\n");
  CATCH_CHECK_THAT(got.head, !contains("Access-Control"));
  CATCH_CHECK(post("/act/a", {}) == 401);
  // A browser asks nobody for a password, for there is none.
  CATCH_CHECK_THAT(client.ask(request_for("/act/a", {}, "POST")).head,
                   !contains("Basic"));
  CATCH_CHECK(post("/act/a", "Graphmill-Token: 0123456789abcdeX\r\n") == 401);
  CATCH_CHECK(post("/act/a", question_token + question_token) == 401);
  CATCH_CHECK(post("/act/a", question_token + "Origin: http://evil\r\n")
              == 403);
  CATCH_CHECK(post("/act/a", question_token + "Sec-Fetch-Site: same-site\r\n")
              == 403);
  CATCH_CHECK(post("/act/a", question_token + "Sec-Fetch-Site: same-origin\r\n")
              == 200);
  for (const auto* path : {"/act", "/page", "/echo/a", "/none"})
    CATCH_CHECK(post(path, question_token) == 405);
  CATCH_CHECK(client.ask(request_for("/act/a", question_token)).status == 404);
  CATCH_CHECK(
    client.ask(request_for("/act/a", question_token, "OPTIONS")).status == 405);
  CATCH_CHECK(
    client
      .ask(
        request_for("/act/a", question_token + "Content-Length: 1\r\n", "POST")
        + "x")
      .status
    == 413);
}
