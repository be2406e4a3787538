#include "messages/wire/gradients.hpp"

#include "messages/base/random.hpp"
#include "messages/wire/data.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

gradient_message some_piece() {
  return {"run-1", 3, 5, 7, gradient_purpose::piece, 11, 8192, 20'000};
}

/// A message that decodes keeps to what is promised of it.
void check_sound(const payload& from) {
  const auto got = decode_gradient_message(from);
  if (!got) {
    CATCH_CHECK(!got.error().message.empty());
    return;
  }
  const auto& head = got.value();
  const auto is_piece = head.purpose == gradient_purpose::piece;
  CATCH_CHECK(from.bulk.size() == (is_piece ? 1 : 0));
  if (!is_piece)
    return;
  const auto size = from.bulk.front().size();
  CATCH_CHECK(size > 0);
  CATCH_CHECK(head.offset <= head.total);
  CATCH_CHECK(size <= head.total - head.offset);
}

} // namespace

CATCH_TEST_CASE("messages between ranks survive the wire",
                "[messages][gradients]") {
  const std::vector<std::byte> bytes(5000, std::byte{9});
  const auto sent = encode(some_piece(), frame::copy(bytes));
  const auto got = value_of(decode_gradient_message(sent));
  CATCH_CHECK(got.run == "run-1");
  CATCH_CHECK(got.generation == 3);
  CATCH_CHECK(got.from == 5);
  CATCH_CHECK(got.to == 7);
  CATCH_CHECK(got.purpose == gradient_purpose::piece);
  CATCH_CHECK(got.transfer == 11);
  CATCH_CHECK(got.offset == 8192);
  CATCH_CHECK(got.total == 20'000);
  const auto brought = sent.bulk.at(0).bytes();
  CATCH_CHECK(
    std::equal(brought.begin(), brought.end(), bytes.begin(), bytes.end()));
  auto question = some_piece();
  question.purpose = gradient_purpose::farewell;
  const auto asked = encode(question, {});
  CATCH_CHECK(asked.bulk.empty());
  CATCH_CHECK(value_of(decode_gradient_message(asked)).purpose
              == gradient_purpose::farewell);
}

CATCH_TEST_CASE("messages between ranks that claim too much are refused",
                "[messages][gradients]") {
  const auto refused = [](auto change, std::size_t size) {
    auto head = some_piece();
    change(head);
    auto what = encode(head, frame::copy(std::vector<std::byte>(size)));
    return error_of(decode_gradient_message(what)).code == ec::invalid_data;
  };
  CATCH_CHECK(refused([](auto& head) { head.offset = 15'001; }, 5000));
  CATCH_CHECK(refused([](auto& head) { head.offset = ~std::uint64_t{0}; }, 1));
  CATCH_CHECK(refused([](auto& head) { head.total = 8191; }, 5000));
  CATCH_CHECK(refused([](auto&) {}, 0));
  CATCH_CHECK(refused([](auto&) {}, least_piece - 1));
  CATCH_CHECK(
    refused([](auto& head) { head.purpose = gradient_purpose::unset; }, 5000));
  CATCH_CHECK(
    refused([](auto& head) { head.purpose = gradient_purpose(99); }, 5000));
  CATCH_CHECK(refused(
    [](auto& head) { head.run = std::string(max_run_name + 1, 'x'); }, 5000));
  auto twice = encode(some_piece(), frame::copy(std::vector<std::byte>(5000)));
  twice.bulk.push_back(twice.bulk.front());
  CATCH_CHECK_FALSE(decode_gradient_message(twice));
  twice.bulk.clear();
  CATCH_CHECK_FALSE(decode_gradient_message(twice));
  // The last piece may be short.
  auto last = some_piece();
  last.offset = last.total - 1;
  CATCH_CHECK(decode_gradient_message(
    encode(last, frame::copy(std::vector<std::byte>(1)))));
}

CATCH_TEST_CASE("cut and random messages between ranks are refused or make "
                "sense",
                "[messages][gradients]") {
  const auto good =
    encode(some_piece(), frame::copy(std::vector<std::byte>(5000)));
  for (std::size_t size = 0; size < good.body.size(); ++size) {
    auto cut = good;
    cut.body = frame::copy(good.body.bytes().first(size));
    check_sound(cut);
  }
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 1};
    std::vector<std::byte> body{good.body.bytes().begin(),
                                good.body.bytes().end()};
    for (std::uint32_t i = 0; i < 1 + draws.below(6); ++i)
      body[draws.below(static_cast<std::uint32_t>(body.size()))] =
        static_cast<std::byte>(draws.below(256));
    auto message = good;
    message.body = frame::copy(body);
    check_sound(message);
  }
}
