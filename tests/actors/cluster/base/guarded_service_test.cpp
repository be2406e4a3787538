#include "actors/cluster/base/guarded_service.hpp"

#include "tests/support/catch.hpp"

#include <optional>
#include <stdexcept>
#include <string>

using namespace graphmill;
using namespace std::chrono_literals;

namespace {

/// A request, and what becomes of it.
struct guarded_request {
  std::optional<result<payload>> answer{};
  std::string logged{};
  bool served = false;

  template <class Serve>
  void pass(std::chrono::milliseconds left, Serve&& serve) {
    incoming_request request;
    request.method = method::drain;
    request.deadline = std::chrono::steady_clock::now() + left;
    request.reply =
      responder{[this](result<payload> came) { answer = std::move(came); }};
    complaint_log complaints{
      [this](const std::string& line) { logged += line; }};
    guarded_service(request, complaints,
                    [this, &serve](const incoming_request& in) {
                      served = true;
                      serve(in);
                    });
  }
};

} // namespace

CATCH_TEST_CASE("a request whose sender waits is served", "[cluster]") {
  guarded_request it;
  it.pass(1h, [](const incoming_request& in) { in.reply.reply(payload{}); });
  CATCH_CHECK(it.served);
  CATCH_REQUIRE(it.answer);
  CATCH_CHECK(it.answer->has_value());
}

CATCH_TEST_CASE("a request that its sender has given up is not begun",
                "[cluster]") {
  guarded_request it;
  it.pass(-1ms, [](const incoming_request&) {});
  CATCH_CHECK_FALSE(it.served);
  CATCH_REQUIRE(it.answer);
  CATCH_CHECK(it.answer->error().code == ec::timeout);
  CATCH_CHECK(it.answer->error().message == "`drain` was not begun in time");
}

CATCH_TEST_CASE("what serving a request throws is answered and logged",
                "[cluster]") {
  guarded_request it;
  it.pass(1h, [](const incoming_request&) {
    throw std::runtime_error("no such row");
  });
  CATCH_REQUIRE(it.answer);
  CATCH_CHECK(it.answer->error().code == ec::internal);
  CATCH_CHECK(it.logged == "cannot serve `drain`: no such row");
}
