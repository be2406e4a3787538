#include "messages/wire/codecs/capnp_frame.hpp"
#include "messages/wire/wire.capnp.h"
#include "messages/wire/wire.hpp"

#include <algorithm>
#include <limits>

namespace graphmill {

namespace {

// -- our enumerations are the schema's

template <class Wire, class Ours>
constexpr bool same(Wire wire, Ours ours) {
  return static_cast<int>(wire) == static_cast<int>(ours);
}
static_assert(protocol_version == schema::PROTOCOL_VERSION);
static_assert(oldest_protocol_version == schema::OLDEST_VERSION);
static_assert(same(schema::Kind::FAREWELL, message_kind::farewell));
static_assert(same(schema::Method::DEPLOY, method::deploy));
static_assert(same(schema::Method::RUNS, method::runs));
static_assert(same(schema::Method::CONTRIBUTE, method::contribute));
static_assert(same(schema::Method::PROVE, method::prove));
static_assert(same(schema::Method::CHAOS, method::chaos));
static_assert(same(schema::FailureCode::SUPERSEDED, ec::superseded));
static_assert(same(schema::Channel::DATA, static_cast<int>(channel::data) + 1));
// These are cast before they are checked: another version may know more of
// them.
static_assert(sizeof(message_kind) == sizeof(schema::Kind));
static_assert(sizeof(method) == sizeof(schema::Method));

std::uint32_t wire_time(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
    time.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

ec code_of(schema::FailureCode wire) {
  const auto raw = static_cast<std::uint16_t>(wire);
  return raw <= static_cast<std::uint16_t>(ec::superseded)
           ? static_cast<ec>(raw)
           : ec::internal;
}

result<std::string> bounded(capnp::Text::Reader text, const char* field) {
  if (text.size() > max_hello_text)
    return fail(ec::invalid_data, "a handshake's {} has {} bytes, at most {}",
                field, text.size(), max_hello_text);
  return std::string{text.begin(), text.end()};
}

bool is_incarnation(const std::string& text) {
  return text.size() == 32
         && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// -- decoding

result<envelope> envelope_fields(schema::Envelope::Reader in) {
  envelope out;
  out.version = in.getVersion();
  out.kind = static_cast<message_kind>(in.getKind());
  out.id = in.getId();
  out.method = static_cast<method>(in.getMethod());
  if (out.version == 0)
    return fail(ec::invalid_data, "an envelope without version");
  if (out.version > protocol_version)
    return out; // The rest may mean something else there.
  if (out.kind == message_kind::unset || out.kind > message_kind::farewell)
    return fail(ec::invalid_data, "an envelope of unknown kind {}",
                static_cast<int>(out.kind));
  out.attempt = in.getAttempt();
  out.time_left = std::chrono::milliseconds{in.getTimeLeft()};
  out.retry_after = std::chrono::milliseconds{in.getRetryAfter()};
  const auto failure = in.getFailure();
  out.failed = failure.getCode() != schema::FailureCode::UNSET;
  if (out.failed)
    out.failure = {code_of(failure.getCode()),
                   {failure.getMessage().begin(), failure.getMessage().end()}};
  return out;
}

result<hello_message> decode_fields(schema::Hello::Reader in) {
  hello_message out;
  GRAPHMILL_TRY(out.name, bounded(in.getName(), "name"));
  GRAPHMILL_TRY(out.incarnation, bounded(in.getIncarnation(), "incarnation"));
  GRAPHMILL_TRY(out.address, bounded(in.getAddress(), "address"));
  GRAPHMILL_TRY(out.software, bounded(in.getSoftware(), "version"));
  if (!is_incarnation(out.incarnation))
    return fail(ec::invalid_data,
                "a handshake's incarnation is '{}', must "
                "have 32 hexadecimal digits",
                out.incarnation);
  if (in.getChannel() != schema::Channel::CONTROL
      && in.getChannel() != schema::Channel::DATA)
    return fail(ec::invalid_data, "a handshake on unknown channel {}",
                static_cast<int>(in.getChannel()));
  out.channel =
    in.getChannel() == schema::Channel::DATA ? channel::data : channel::control;
  out.oldest_version = in.getOldestVersion();
  out.beat_every = std::chrono::milliseconds{in.getBeatEvery()};
  out.lost_after = std::chrono::milliseconds{in.getLostAfter()};
  GRAPHMILL_TRY(out.local_token, bounded(in.getLocalToken(), "token"));
  GRAPHMILL_TRY(out.cluster, bounded(in.getCluster(), "cluster"));
  out.generation = in.getGeneration();
  return out;
}

} // namespace

frame encode_envelope(const envelope& from) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::Envelope>();
  out.setVersion(from.version);
  out.setKind(static_cast<schema::Kind>(from.kind));
  out.setId(from.id);
  out.setMethod(static_cast<schema::Method>(from.method));
  out.setAttempt(from.attempt);
  out.setTimeLeft(wire_time(from.time_left));
  out.setRetryAfter(wire_time(from.retry_after));
  if (from.failed) {
    auto failure = out.initFailure();
    failure.setCode(static_cast<schema::FailureCode>(from.failure.code));
    failure.setMessage(
      {from.failure.message.data(),
       std::min(from.failure.message.size(), max_failure_text)});
  }
  return encode_frame(message);
}

result<envelope> decode_envelope(const frame& from) {
  if (from.empty())
    return fail(ec::invalid_data, "an empty envelope");
  return decode_frame<schema::Envelope>(from, "an envelope", envelope_fields);
}

result<void> check_version(const envelope& from, std::string_view peer) {
  if (from.version > protocol_version)
    return fail(ec::version_mismatch,
                "{} speaks protocol {}, this side only {}: use the same "
                "version of graphmill on both",
                peer, from.version, protocol_version);
  if (from.version < oldest_protocol_version)
    return fail(ec::version_mismatch,
                "{} speaks protocol {}, this side {} and not before {}: use "
                "the same version of graphmill on both",
                peer, from.version, protocol_version, oldest_protocol_version);
  return ok();
}

frame encode_hello(const hello_message& from) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::Hello>();
  out.setName(from.name);
  out.setIncarnation(from.incarnation);
  out.setAddress(from.address);
  out.setSoftware(from.software);
  out.setOldestVersion(from.oldest_version);
  out.setChannel(from.channel == channel::data ? schema::Channel::DATA
                                               : schema::Channel::CONTROL);
  out.setBeatEvery(wire_time(from.beat_every));
  out.setLostAfter(wire_time(from.lost_after));
  out.setLocalToken(from.local_token);
  out.setCluster(from.cluster);
  out.setGeneration(from.generation);
  return encode_frame(message);
}

result<hello_message> decode_hello(const frame& from) {
  return decode_frame<schema::Hello>(from, "a handshake", decode_fields);
}

} // namespace graphmill
