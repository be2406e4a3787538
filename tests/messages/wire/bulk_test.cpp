#include "messages/base/random.hpp"
#include "messages/wire/bulk.hpp"
#include "messages/wire/data.hpp"
#include "tests/messages/wire/numbers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>

using namespace graphmill;
using namespace graphmill::test;

namespace {

numbers random_numbers(random_stream& draws, std::size_t size,
                       std::int64_t least, std::uint64_t range) {
  numbers out(size);
  for (auto& value : out)
    value = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(least)
      + ((std::uint64_t{draws.next()} << 32 | draws.next()) % range));
  return out;
}

} // namespace

CATCH_TEST_CASE("whole numbers take 4 bytes if their range allows",
                "[messages][data]") {
  constexpr auto far = std::int64_t{1} << 40;
  struct row {
    numbers values;
    element type;
    std::int64_t base;
  };
  const auto max = std::numeric_limits<std::int64_t>::max();
  const auto min = std::numeric_limits<std::int64_t>::min();
  for (const auto& [values, type, base] :
       std::vector<row>{{{0, 2147483647}, element::int32, 0},
                        {{-1, 44}, element::int32, -1},
                        {{far, far + 2147483647}, element::int32, far},
                        {{0, 2147483648}, element::int64, 0},
                        {{min, max}, element::int64, 0},
                        {{max, max - 1}, element::int32, max - 1},
                        {{}, element::unset, 0}}) {
    bulk_writer arrays;
    const auto array = arrays.add_integers(values);
    CATCH_CHECK(array.type == type);
    CATCH_CHECK(array.base == base);
    const payload sent{{}, arrays.take()};
    CATCH_CHECK(read(array, sent) == values);
  }
}

CATCH_TEST_CASE("counts take what the greatest needs", "[messages][data]") {
  for (const auto& [greatest, type] :
       std::vector<std::pair<std::int32_t, element>>{{255, element::uint8},
                                                     {256, element::uint16},
                                                     {65536, element::int32}}) {
    const std::vector<std::int32_t> counts{0, greatest, 3};
    bulk_writer arrays;
    const auto array = arrays.add_counts(counts);
    CATCH_CHECK(array.type == type);
    const payload sent{{}, arrays.take()};
    std::vector<std::int32_t> back(3);
    value_of(read_integers(array, sent.bulk, back.data()));
    CATCH_CHECK(back == counts);
    CATCH_CHECK(!read_integers(array, sent.bulk, back.data(), 0, 254));
  }
}

CATCH_TEST_CASE("arrays of all sizes fit into the frames of a message",
                "[messages][data]") {
  // Seed 0 is the worst for sharing: arrays a little over half a frame.
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 0};
    bulk_writer arrays;
    std::vector<numbers> sent;
    sample_request request{"r", 0, 0, 1, {}};
    for (;;) {
      const auto size =
        seed == 0 ? (std::size_t{513} << 10) / 4
                  : std::size_t{draws.below(1U << (4 + draws.below(17)))};
      auto values = random_numbers(draws, size, -5, 1'000'000'000);
      if (arrays.byte_size() + size * 4 > max_bulk_bytes
          || sent.size() == max_queries)
        break;
      request.queries.push_back({0, {1}, false, arrays.add_integers(values)});
      sent.push_back(std::move(values));
    }
    const auto message = value_of(encode(request, std::move(arrays)));
    CATCH_CHECK(message.bulk.size() <= max_bulk_frames);
    for (const auto& part : message.bulk)
      CATCH_CHECK(part.size() <= max_frame_bytes);
    const auto back = value_of(decode_sample_request(message));
    CATCH_REQUIRE(back.queries.size() == sent.size());
    auto same = true;
    for (std::size_t i = 0; i < sent.size(); ++i)
      same &= read(back.queries[i].destinations, message) == sent[i];
    CATCH_CHECK(same);
  }
}

CATCH_TEST_CASE("large arrays are cut, not copied", "[messages][data]") {
  const auto values = std::make_shared<numbers>(300'000, std::int64_t{1} << 40);
  values->back() = -1;
  bulk_writer arrays;
  const auto array = arrays.add_integers(*values, values);
  const payload sent{{}, arrays.take()};
  CATCH_REQUIRE(sent.bulk.size() == 3);
  CATCH_CHECK(sent.bulk[0].data()
              == reinterpret_cast<const std::byte*>(values->data()));
  CATCH_CHECK(sent.bulk[2].size() == 300'000 * 8 - 2 * max_frame_bytes);
  CATCH_CHECK(read(array, sent) == *values);
}

CATCH_TEST_CASE("a message that is too large is not made", "[messages][data]") {
  bulk_writer arrays;
  const numbers values(1 << 20, std::int64_t{1} << 40);
  gather_reply reply;
  for (int i = 0; i < 4; ++i)
    reply.values.push_back(
      arrays.add(element::int64, std::as_bytes(std::span{values})));
  const auto reason = error_of(encode(reply, std::move(arrays)));
  CATCH_CHECK(reason.code == ec::invalid_argument);
}

CATCH_TEST_CASE("arrays with false claims are refused", "[messages][data]") {
  const std::vector<std::byte> bytes(64);
  const std::vector<frame> frames{frame::copy(bytes), frame::copy(bytes)};
  const bulk_array good{element::int32, 16, 0, 0, 0};
  const auto refused = [&frames](bulk_array array) {
    return !bulk_check{frames}.array(array);
  };
  CATCH_CHECK(!refused(good));
  CATCH_CHECK(refused({static_cast<element>(99), 1, 0, 0, 0}));
  CATCH_CHECK(refused({element::unset, 1, 0, 0, 0}));
  CATCH_CHECK(refused({element::int32, 17, 0, 0, 0})); // behind its frame
  CATCH_CHECK(refused({element::int32, 16, 0, 2, 0}));
  CATCH_CHECK(refused({element::int32, 1, 0, 0, 4})); // not aligned
  CATCH_CHECK(refused({element::int32, 1, 0, 0, 64}));
  CATCH_CHECK(refused({element::int32, 1, 0, 0, 4'000'000'000}));
  CATCH_CHECK(refused({element::int32, 1, 0, 4'000'000'000, 0}));
  CATCH_CHECK(refused({element::int64, std::uint64_t{1} << 61, 0, 0, 0}));
  CATCH_CHECK(refused({element::float32, 1, 5, 0, 0})); // base
  // The same bytes again and again.
  bulk_check check{frames};
  CATCH_CHECK(check.array(good));
  CATCH_CHECK(check.array(good));
  CATCH_CHECK(!check.array(good));
}
