#include "messages/base/random.hpp"
#include "messages/wire/codecs/capnp_frame.hpp"
#include "messages/wire/wire.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <capnp/any.h>

#include <cstring>
#include <limits>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

envelope full_envelope() {
  envelope out;
  out.kind = message_kind::reply;
  out.id = 0x123456789abcdef0ull;
  out.method = method::gather;
  out.attempt = 3;
  out.time_left = 1234ms;
  out.retry_after = 99ms;
  out.failed = true;
  out.failure = fail(ec::no_space, "the disk of {} is full", "x");
  return out;
}

hello_message full_hello() {
  return {"name",
          "0123456789abcdef0123456789abcdef",
          "tcp://h:1",
          "0.1.0",
          1,
          channel::data,
          500ms,
          3000ms,
          "fedcba9876543210fedcba9876543210",
          "00112233445566778899aabbccddeeff",
          5};
}

void check_same(const envelope& a, const envelope& b) {
  CATCH_CHECK(a.version == b.version);
  CATCH_CHECK(a.kind == b.kind);
  CATCH_CHECK(a.id == b.id);
  CATCH_CHECK(a.method == b.method);
  CATCH_CHECK(a.attempt == b.attempt);
  CATCH_CHECK(a.time_left == b.time_left);
  CATCH_CHECK(a.retry_after == b.retry_after);
  CATCH_CHECK(a.failed == b.failed);
  CATCH_CHECK(a.failure.code == b.failure.code);
  CATCH_CHECK(a.failure.message == b.failure.message);
}

void check_same(const hello_message& a, const hello_message& b) {
  CATCH_CHECK(a.name == b.name);
  CATCH_CHECK(a.incarnation == b.incarnation);
  CATCH_CHECK(a.address == b.address);
  CATCH_CHECK(a.software == b.software);
  CATCH_CHECK(a.oldest_version == b.oldest_version);
  CATCH_CHECK(a.channel == b.channel);
  CATCH_CHECK(a.beat_every == b.beat_every);
  CATCH_CHECK(a.lost_after == b.lost_after);
  CATCH_CHECK(a.local_token == b.local_token);
  CATCH_CHECK(a.cluster == b.cluster);
  CATCH_CHECK(a.generation == b.generation);
}

/// The same bytes at an address that is no multiple of 8.
frame misaligned(const frame& from) {
  auto block = std::make_shared<std::vector<std::byte>>(from.size() + 1);
  std::memcpy(block->data() + 1, from.data(), from.size());
  const std::span bytes{block->data() + 1, from.size()};
  return frame::own(std::move(block), bytes);
}

/// The message as a later version would send it: with more fields.
frame grown(const frame& from) {
  capnp::FlatArrayMessageReader message{
    {reinterpret_cast<const capnp::word*>(from.data()),
     from.size() / sizeof(capnp::word)}};
  const auto old = message.getRoot<capnp::AnyStruct>();
  const auto data = old.getDataSection();
  const auto pointers = old.getPointerSection();
  capnp::MallocMessageBuilder builder;
  auto made = builder.getRoot<capnp::AnyPointer>().initAsAnyStruct(
    static_cast<std::uint16_t>(data.size() / 8 + 2),
    static_cast<std::uint16_t>(pointers.size() + 2));
  auto to = made.getDataSection();
  std::memset(to.begin(), 0xff, to.size());
  std::memcpy(to.begin(), data.begin(), data.size());
  for (unsigned i = 0; i < pointers.size(); ++i)
    made.getPointerSection()[i].set(pointers[i]);
  made.getPointerSection()[pointers.size()].setAs<capnp::Text>("news");
  return encode_frame(builder);
}

/// Runs `decode` on every prefix, and on copies with random bytes in places.
/// Whatever it returns, it returns.
template <class Decode>
void torment(const frame& good, Decode decode) {
  for (std::size_t size = 0; size < good.size(); ++size)
    CATCH_CHECK_FALSE(decode(frame::copy(good.bytes().first(size))));
  random_stream draws{stream_key(3, purpose::generate, 0, 0), 0};
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes{good.bytes().begin(), good.bytes().end()};
    for (auto hits = 1 + draws.below(4); hits != 0; --hits)
      bytes[draws.below(static_cast<std::uint32_t>(bytes.size()))] =
        std::byte(draws.next());
    (void)decode(frame::copy(bytes));
  }
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(8 * (1 + draws.below(20)));
    for (auto& byte : bytes)
      byte = std::byte(draws.next());
    if (round % 2 == 0) // One segment of the right size.
      for (std::size_t i = 0; i < 8; ++i)
        bytes[i] = i == 4 ? std::byte(bytes.size() / 8 - 1) : std::byte{0};
    (void)decode(frame::copy(bytes));
  }
}

} // namespace

CATCH_TEST_CASE("envelopes and handshakes come back as they were",
                "[messages][wire]") {
  check_same(value_of(decode_envelope(encode_envelope(full_envelope()))),
             full_envelope());
  check_same(value_of(decode_hello(encode_hello(full_hello()))), full_hello());
  auto plain = full_envelope();
  plain.failed = false;
  plain.failure = {};
  const auto back = value_of(decode_envelope(encode_envelope(plain)));
  CATCH_CHECK_FALSE(back.failed);
}

CATCH_TEST_CASE("every kind, method and error code crosses the wire",
                "[messages][wire]") {
  auto sent = full_envelope();
  for (std::uint16_t kind = 1; kind <= 5; ++kind)
    for (std::uint16_t which = 1; which < method_count; ++which) {
      sent.kind = static_cast<message_kind>(kind);
      sent.method = static_cast<method>(which);
      check_same(value_of(decode_envelope(encode_envelope(sent))), sent);
      const auto obsolete = which == 6 || which == 15;
      CATCH_CHECK(is_known(sent.method) != obsolete);
      CATCH_CHECK((to_string(sent.method) == "unknown") == obsolete);
    }
  for (int code = 1; code <= static_cast<int>(ec::superseded); ++code) {
    sent.failure.code = static_cast<ec>(code);
    check_same(value_of(decode_envelope(encode_envelope(sent))), sent);
  }
  // Unknown ones are told from known ones.
  sent.failure.code = static_cast<ec>(200);
  sent.method = static_cast<method>(999);
  const auto got = value_of(decode_envelope(encode_envelope(sent)));
  CATCH_CHECK(got.failure.code == ec::internal);
  CATCH_CHECK_FALSE(is_known(got.method));
  CATCH_CHECK_FALSE(is_known(method::unset));
  CATCH_CHECK(traits_of(got.method).server == method_server::coordinator);
  sent.kind = static_cast<message_kind>(6);
  CATCH_CHECK(error_of(decode_envelope(encode_envelope(sent))).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("times beyond the field's range end at its end",
                "[messages][wire]") {
  auto sent = full_envelope();
  sent.time_left = -5ms;
  CATCH_CHECK(value_of(decode_envelope(encode_envelope(sent))).time_left
              == 0ms);
  sent.time_left = std::chrono::hours{10000};
  CATCH_CHECK(
    value_of(decode_envelope(encode_envelope(sent))).time_left
    == std::chrono::milliseconds{std::numeric_limits<std::uint32_t>::max()});
}

CATCH_TEST_CASE("misaligned frames are read", "[messages][wire]") {
  check_same(
    value_of(decode_envelope(misaligned(encode_envelope(full_envelope())))),
    full_envelope());
  check_same(value_of(decode_hello(misaligned(encode_hello(full_hello())))),
             full_hello());
}

CATCH_TEST_CASE("fields of newer versions are passed over",
                "[messages][wire]") {
  check_same(value_of(decode_envelope(grown(encode_envelope(full_envelope())))),
             full_envelope());
  check_same(value_of(decode_hello(grown(encode_hello(full_hello())))),
             full_hello());
}

CATCH_TEST_CASE("another protocol version is refused with a sentence",
                "[messages][wire]") {
  auto sent = full_envelope();
  sent.version = protocol_version + 1;
  sent.kind = static_cast<message_kind>(77); // Who knows what it is there.
  const auto newer = value_of(decode_envelope(encode_envelope(sent)));
  CATCH_CHECK(newer.id == sent.id);
  CATCH_CHECK(newer.method == sent.method);
  const auto reason = error_of(check_version(newer, "peer"));
  CATCH_CHECK(reason.code == ec::version_mismatch);
  CATCH_CHECK(reason.message
              == "peer speaks protocol 6, this side only 5: use the same "
                 "version of graphmill on both");
  CATCH_CHECK(check_version(full_envelope(), "peer"));
  sent = full_envelope();
  sent.version = oldest_protocol_version - 1;
  const auto older = value_of(decode_envelope(encode_envelope(sent)));
  CATCH_CHECK(error_of(check_version(older, "peer")).message
              == "peer speaks protocol 4, this side 5 and not before 5: use "
                 "the same version of graphmill on both");
  sent.version = 0;
  CATCH_CHECK_FALSE(decode_envelope(encode_envelope(sent)));
}

CATCH_TEST_CASE("handshakes are checked", "[messages][wire]") {
  const auto refused = [](hello_message hello) {
    return error_of(decode_hello(encode_hello(hello))).code == ec::invalid_data;
  };
  auto hello = full_hello();
  hello.name = std::string(max_hello_text + 1, 'n');
  CATCH_CHECK(refused(hello));
  hello = full_hello();
  hello.address = std::string(max_hello_text + 1, 'n');
  CATCH_CHECK(refused(hello));
  hello = full_hello();
  hello.local_token = std::string(max_hello_text + 1, 'n');
  CATCH_CHECK(refused(hello));
  hello = full_hello();
  hello.cluster = std::string(max_hello_text + 1, 'n');
  CATCH_CHECK(refused(hello));
  for (const auto* wrong : {"", "0", "0123456789abcdef0123456789abcdeg",
                            "0123456789ABCDEF0123456789ABCDEF"}) {
    hello = full_hello();
    hello.incarnation = wrong;
    CATCH_CHECK(refused(hello));
  }
  CATCH_CHECK_FALSE(decode_hello(frame{}));
}

CATCH_TEST_CASE("broken envelopes and handshakes are errors",
                "[messages][wire]") {
  torment(encode_envelope(full_envelope()), decode_envelope);
  torment(encode_hello(full_hello()), decode_hello);
}

CATCH_TEST_CASE("an error's sentence has an end", "[messages][wire]") {
  auto sent = full_envelope();
  sent.failure.message = std::string(100000, 'x');
  CATCH_CHECK(value_of(decode_envelope(encode_envelope(sent))).failure.message
              == std::string(max_failure_text, 'x'));
}

CATCH_TEST_CASE("frames share their bytes and keep them alive",
                "[messages][frame]") {
  auto block = std::make_shared<std::vector<std::byte>>(100, std::byte{7});
  const std::weak_ptr<const void> watched = block;
  auto first = frame::own(block, *block);
  block.reset();
  auto second = first;
  first = {};
  CATCH_CHECK_FALSE(watched.expired());
  CATCH_CHECK(second.size() == 100);
  CATCH_CHECK(second.data()[99] == std::byte{7});
  const auto copied = frame::copy(second.bytes());
  CATCH_CHECK(copied.data() != second.data());
  second = {};
  CATCH_CHECK(watched.expired());
  CATCH_CHECK(copied.data()[99] == std::byte{7});
  CATCH_CHECK(frame::copy({}).empty());
  const payload both{copied, {copied, frame{}}};
  CATCH_CHECK(both.byte_size() == 200);
}
