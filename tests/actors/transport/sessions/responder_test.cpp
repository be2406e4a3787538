#include "actors/transport/sessions/responder.hpp"

#include "tests/support/catch.hpp"

#include <new>
#include <optional>

using namespace graphmill;

namespace {

/// Takes answers, but throws for the first `throws` of them.
struct answer_sink {
  int throws = 0;
  int taken = 0;
  std::optional<result<payload>> last{};

  responder::sink take() {
    return [this](result<payload> answer) {
      if (throws-- > 0)
        throw std::bad_alloc{};
      ++taken;
      last = std::move(answer);
    };
  }
};

} // namespace

CATCH_TEST_CASE("a request is answered once", "[transport][session]") {
  answer_sink sink;
  {
    const responder reply{sink.take()};
    reply.reply(payload{});
    reply.reply(fail(ec::internal, "too late"));
  }
  CATCH_CHECK(sink.taken == 1);
  CATCH_REQUIRE(sink.last);
  CATCH_CHECK(sink.last->has_value());
}

CATCH_TEST_CASE("whose answer could not be given may still be told why",
                "[transport][session]") {
  answer_sink sink{1};
  const auto told = GENERATE(false, true);
  {
    const responder reply{sink.take()};
    CATCH_CHECK_THROWS_AS(reply.reply(payload{}), std::bad_alloc);
    CATCH_CHECK(sink.taken == 0);
    if (told)
      reply.reply(fail(ec::out_of_memory, "no memory for the answer"));
  } // Else the last copy says that there was none.
  CATCH_CHECK(sink.taken == 1);
  CATCH_REQUIRE(sink.last);
  CATCH_CHECK(sink.last->error().code
              == (told ? ec::out_of_memory : ec::internal));
}

CATCH_TEST_CASE("an answer that cannot be given at the end ends no process",
                "[transport][session]") {
  answer_sink sink{100};
  { const responder reply{sink.take()}; }
  CATCH_CHECK(sink.taken == 0);
  CATCH_CHECK(sink.throws == 99);
}
