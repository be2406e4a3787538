#include "messages/wire/codec_support.hpp"
#include "messages/wire/phase_codec.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"

namespace graphmill {

using namespace wire;

namespace {

result<step_done> decode(schema::StepDone::Reader in) {
  step_done out;
  TRY(out.key.phase, from_wire(in.getPhase()));
  out.key.epoch = in.getEpoch();
  out.key.step = in.getStep();
  out.key.rank = in.getRank();
  out.loss_sum = in.getLossSum();
  out.correct = in.getCorrect();
  out.seeds = in.getSeeds();
  out.original_seeds = get_list<node_id>(in.getOriginalSeeds());
  if (out.key.step < 0 || out.key.rank < 0)
    return fail(ec::invalid_data, "step {} of rank {} is none", out.key.step,
                out.key.rank);
  return out;
}

result<run_events> decode(schema::RunEvents::Reader in) {
  run_events out;
  out.run = text(in.getRun());
  out.sequence = in.getSequence();
  TRY(out.steps,
      get_structs<step_done>(in.getSteps(), [](schema::StepDone::Reader one) {
        return decode(one);
      }));
  out.stopped = get_list<rank_id>(in.getStopped());
  if (in.getFailure().size() != 0) {
    const auto code = in.getFailureCode();
    out.failure = error{code >= 1 && code <= static_cast<int>(ec::internal)
                          ? static_cast<ec>(code)
                          : ec::internal,
                        text(in.getFailure())};
  }
  return out;
}

std::string bytes_of(capnp::Data::Reader from) {
  const auto chars = from.asChars();
  return {chars.begin(), chars.end()};
}

capnp::Data::Reader data_of(const std::string& from) {
  return {reinterpret_cast<const capnp::byte*>(from.data()), from.size()};
}

} // namespace

payload encode(const run_events& what) {
  return body<schema::RunEvents>([&what](schema::RunEvents::Builder out) {
    out.setRun(what.run);
    out.setSequence(what.sequence);
    put_structs(out.initSteps(what.steps.size()), what.steps,
                [](const step_done& from, schema::StepDone::Builder to) {
                  to.setPhase(to_wire(from.key.phase));
                  to.setEpoch(from.key.epoch);
                  to.setStep(from.key.step);
                  to.setRank(from.key.rank);
                  to.setLossSum(from.loss_sum);
                  to.setCorrect(from.correct);
                  to.setSeeds(from.seeds);
                  put_list(to.initOriginalSeeds(from.original_seeds.size()),
                           from.original_seeds);
                });
    put_list(out.initStopped(what.stopped.size()), what.stopped);
    if (what.failure) {
      out.setFailure(what.failure->message);
      out.setFailureCode(static_cast<std::uint16_t>(what.failure->code));
    }
  });
}

result<run_events> decode_run_events(const payload& from) {
  return read<schema::RunEvents>(
    from, "events of a run",
    [](schema::RunEvents::Reader in) { return decode(in); });
}

payload encode(const rendezvous_request& what) {
  return body<schema::RendezvousRequest>(
    [&what](schema::RendezvousRequest::Builder out) {
      out.setRun(what.run);
      out.setKey(what.key);
      out.setSet(what.value.has_value());
      if (what.value)
        out.setValue(data_of(*what.value));
      out.setWait(static_cast<std::uint32_t>(what.wait.count()));
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
