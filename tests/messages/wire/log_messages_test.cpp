#include "messages/wire/log.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

namespace graphmill::test {

CATCH_TEST_CASE("lines of logs come there and back", "[messages][logs]") {
  const auto asked = value_of(
    decode_log_request(encode(log_request{7, "r", "d", log_level::warn})));
  CATCH_CHECK(asked.after == 7);
  CATCH_CHECK(asked.run == "r");
  CATCH_CHECK(asked.daemon == "d");
  CATCH_CHECK(asked.level == log_level::warn);
  log_reply sent;
  sent.next = 9;
  sent.more = true;
  sent.missing = 3;
  sent.lines = {{unix_time{1700000000123}, log_level::critical, "d", "r",
                 "batch", "run", "text"},
                {}};
  sent.begun = 5;
  sent.collected = 4;
  sent.anew = true;
  const auto got = value_of(decode_log_reply(encode(sent)));
  CATCH_CHECK(got.next == 9);
  CATCH_CHECK(got.more);
  CATCH_CHECK(got.missing == 3);
  CATCH_CHECK(got.lines == sent.lines);
  CATCH_CHECK(got.begun == 5);
  CATCH_CHECK(got.collected == 4);
  CATCH_CHECK(got.anew);
}

CATCH_TEST_CASE("more lines than an answer may have are refused",
                "[messages][logs]") {
  log_reply page;
  page.lines.resize(log_limits::lines);
  CATCH_CHECK(decode_log_reply(encode(page)));
  page.lines.resize(log_limits::lines + 1);
  CATCH_CHECK(error_of(decode_log_reply(encode(page))).code
              == ec::invalid_data);
  page.lines.resize(1);
  page.lines[0].text.assign(log_limits::text + 1, 'x');
  CATCH_CHECK_FALSE(decode_log_reply(encode(page)));
  page.lines[0].text.clear();
  page.lines[0].batch.assign(log_limits::name + 1, 'x');
  CATCH_CHECK_FALSE(decode_log_reply(encode(page)));
}

CATCH_TEST_CASE("events come there and back", "[messages][logs]") {
  const auto asked =
    value_of(decode_events_request(encode(events_request{8, "r"})));
  CATCH_CHECK(asked.after == 8);
  CATCH_CHECK(asked.run == "r");
  const auto got = value_of(decode_events_reply(encode(
    events_reply{12, true, {{11, unix_time{5}, "lost", "d", "r", "t"}}})));
  CATCH_CHECK(got.next == 12);
  CATCH_CHECK(got.more);
  CATCH_REQUIRE(got.events.size() == 1);
  const auto& event = got.events[0];
  CATCH_CHECK(event.seq == 11);
  CATCH_CHECK(event.time == unix_time{5});
  CATCH_CHECK(event.kind == "lost");
  CATCH_CHECK(event.who == "d");
  CATCH_CHECK(event.run == "r");
  CATCH_CHECK(event.text == "t");
}

} // namespace graphmill::test
