#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"

#include <optional>
#include <string>

namespace graphmill {

using namespace wire;

namespace {

static_assert(static_cast<int>(schema::RunPhase::TEST)
              == static_cast<int>(phase::test) + wire_offset<phase>);

/// A code that this version does not know is an internal error.
std::optional<error> failure_of(schema::RunEvents::Reader in) {
  if (in.getFailure().size() == 0)
    return std::nullopt;
  const auto code = in.getFailureCode();
  return error{code >= 1 && code <= static_cast<int>(ec::superseded)
                 ? static_cast<ec>(code)
                 : ec::internal,
               text(in.getFailure())};
}

std::string bytes_of(capnp::Data::Reader from) {
  const auto chars = from.asChars();
  return {chars.begin(), chars.end()};
}

capnp::Data::Reader data_of(const std::string& from) {
  return {reinterpret_cast<const capnp::byte*>(from.data()), from.size()};
}

} // namespace

result<void> step_done::check() const {
  if (key.step < 0 || key.rank < 0)
    return fail(ec::invalid_data, "step {} of rank {} is none", key.step,
                key.rank);
  return ok();
}

payload encode(const run_events& events) {
  return body<schema::RunEvents>([&events](schema::RunEvents::Builder out) {
    run_events::fields(events, field_writer{out});
    if (events.failure) {
      out.setFailure(text(events.failure->message));
      out.setFailureCode(static_cast<std::uint16_t>(events.failure->code));
    }
  });
}

result<run_events> decode_run_events(const payload& from) {
  return read<schema::RunEvents>(
    from, "events of a run",
    [](schema::RunEvents::Reader in) -> result<run_events> {
      GRAPHMILL_TRY(auto out, read_fields<run_events>(in));
      out.failure = failure_of(in);
      return out;
    });
}

payload encode(const rendezvous_request& request) {
  return body<schema::RendezvousRequest>(
    [&request](schema::RendezvousRequest::Builder out) {
      out.setRun(text(request.run));
      out.setKey(text(request.key));
      out.setSet(request.value.has_value());
      if (request.value)
        out.setValue(data_of(*request.value));
      out.setWait(static_cast<std::uint32_t>(request.wait.count()));
    });
}

result<rendezvous_request> decode_rendezvous_request(const payload& from) {
  return read<schema::RendezvousRequest>(
    from, "a rendezvous",
    [](schema::RendezvousRequest::Reader in) -> result<rendezvous_request> {
      rendezvous_request out;
      out.run = text(in.getRun());
      out.key = text(in.getKey());
      if (in.getSet())
        out.value = bytes_of(in.getValue());
      out.wait = std::chrono::milliseconds{in.getWait()};
      return out;
    });
}

payload encode_rendezvous_value(const std::optional<std::string>& value) {
  return body<schema::RendezvousReply>(
    [&value](schema::RendezvousReply::Builder out) {
      out.setFound(value.has_value());
      if (value)
        out.setValue(data_of(*value));
    });
}

result<std::optional<std::string>>
decode_rendezvous_value(const payload& from) {
  return read<schema::RendezvousReply>(from, "the answer to a rendezvous",
                                       [](schema::RendezvousReply::Reader in)
                                         -> result<std::optional<std::string>> {
                                         if (!in.getFound())
                                           return std::optional<std::string>{};
                                         return std::optional{
                                           bytes_of(in.getValue())};
                                       });
}

} // namespace graphmill
