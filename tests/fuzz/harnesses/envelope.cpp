#include "messages/wire/wire.hpp"
#include "tests/fuzz/harnesses/codecs.hpp"
#include "tests/fuzz/registry.hpp"

#include <chrono>

// The first frame of every message, and what connections begin with.

namespace graphmill::fuzz {

namespace {

using namespace std::chrono_literals;

void read_envelope(std::string_view input) {
  const payload from{frame_of(input), {}};
  const auto decode = [](const payload& in) {
    return decode_envelope(in.body);
  };
  if (const auto got = decode(from);
      got && got.value().version > protocol_version) {
    require(!check_version(got.value(), "a peer"),
            "the envelope of another version passes for one of ours");
    return; // Its other fields are not read, and so not written.
  }
  there_and_back(from, decode, [](const envelope& head) {
    return payload{encode_envelope(head), {}};
  });
}

std::vector<std::string> envelopes() {
  envelope request;
  request.kind = message_kind::request;
  request.id = 7;
  request.method = method::gather;
  request.attempt = 2;
  request.time_left = 1500ms;
  auto refused = request;
  refused.kind = message_kind::reply;
  refused.failed = true;
  refused.failure = fail(ec::no_space, "the disk is full");
  refused.retry_after = 20ms;
  auto beat = request;
  beat.kind = message_kind::beat;
  return {text_of(encode_envelope(request)), text_of(encode_envelope(refused)),
          text_of(encode_envelope(beat))};
}

void read_hello(std::string_view input) {
  there_and_back(
    {frame_of(input), {}},
    [](const payload& in) { return decode_hello(in.body); },
    [](const hello_message& hello) {
      require(hello.name.size() <= max_hello_text
                && hello.address.size() <= max_hello_text
                && hello.software.size() <= max_hello_text
                && hello.local_token.size() <= max_hello_text
                && hello.cluster.size() <= max_hello_text
                && hello.incarnation.size() == 32,
              "a handshake with texts beyond their limits");
      return payload{encode_hello(hello), {}};
    });
}

std::vector<std::string> hellos() {
  hello_message client;
  client.name = "client";
  client.incarnation = std::string(32, 'a');
  client.software = "0.1.0";
  client.lost_after = 3s;
  auto daemon = client;
  daemon.address = "tcp://10.0.0.1:7800";
  daemon.channel = channel::data;
  daemon.beat_every = 500ms;
  daemon.local_token = std::string(32, 'b');
  return {text_of(encode_hello(client)), text_of(encode_hello(daemon))};
}

} // namespace

const harness envelope_harness{"envelope", "envelopes of messages",
                               read_envelope, envelopes, 8000};
const harness hello_harness{"hello", "handshakes", read_hello, hellos, 8000};

} // namespace graphmill::fuzz
