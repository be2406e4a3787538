#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/codecs/enum_codec.hpp"
#include "messages/wire/codecs/phase_codec.hpp"
#include "messages/wire/run.capnp.h"
#include "messages/wire/run.hpp"

#include <algorithm>

namespace graphmill {

using namespace wire;

namespace {

static_assert(static_cast<int>(schema::TrainerAction::KEEP_BEST)
              == static_cast<int>(trainer_action::keep_best));
static_assert(static_cast<int>(schema::TrainerAction::RESTORE)
              == static_cast<int>(trainer_action::restore));

result<trainer_action> decode(schema::TrainerAction action) {
  const auto ours =
    known_value(action, trainer_action::keep_best, trainer_action::restore);
  if (!ours)
    return fail(ec::invalid_data, "an unknown order to trainers, {}",
                static_cast<int>(action));
  return *ours;
}

result<member_request> decode(schema::MemberRequest::Reader in) {
  member_request out;
  out.run = text(in.getRun());
  out.attempt = in.getAttempt();
  switch (in.which()) {
  case schema::MemberRequest::BEGIN: {
    const auto begin = in.getBegin();
    out.action = member_action::begin;
    GRAPHMILL_TRY(out.phase, from_wire(begin.getPhase()));
    out.epoch = begin.getEpoch();
    out.steps = begin.getSteps();
    out.learning_rate = begin.getLearningRate();
    out.first_step = begin.getFirstStep();
    GRAPHMILL_TRY(out.from, read_fields<run_position>(begin.getFrom()));
    if (out.epoch < 0 || out.steps < 0 || out.first_step < 0
        || out.first_step > out.steps)
      return fail(ec::invalid_data,
                  "an order to begin epoch {} with step {} of {} steps",
                  out.epoch, out.first_step, out.steps);
    return out;
  }
  case schema::MemberRequest::STOP:
    out.action = member_action::stop;
    return out;
  case schema::MemberRequest::TRAINERS: {
    out.action = member_action::trainers;
    GRAPHMILL_TRY(out.trainers, decode(in.getTrainers()));
    out.restored_steps = in.getSteps();
    if (out.restored_steps < 0)
      return fail(ec::invalid_data, "an order to restore {} steps",
                  out.restored_steps);
    return out;
  }
  case schema::MemberRequest::END:
    out.action = member_action::end;
    return out;
  case schema::MemberRequest::CHECK:
    out.action = member_action::check;
    return out;
  case schema::MemberRequest::FINISH:
    out.action = member_action::finish;
    return out;
  case schema::MemberRequest::LOAD: {
    const auto piece = in.getLoad();
    out.action = member_action::load;
    GRAPHMILL_TRY(out.tensor, read_fields<tensor_shape>(piece.getTensor()));
    out.offset = piece.getOffset();
    return out;
  }
  case schema::MemberRequest::KEEP:
    out.action = member_action::keep;
    return out;
  case schema::MemberRequest::KEPT:
    out.action = member_action::kept;
    return out;
  default:
    return fail(ec::invalid_data, "an unknown order, {}",
                static_cast<int>(in.which()));
  }
}

/// No tensor has more values than fit in memory; so products cannot overflow.
constexpr std::int64_t most_values = std::int64_t{1} << 48;

} // namespace

std::vector<std::uint16_t> owners_of(std::size_t part,
                                     std::span<const std::uint16_t> first,
                                     std::span<const part_replicas> replicas) {
  std::vector<std::uint16_t> out{first[part]};
  if (!replicas.empty())
    out.insert(out.end(), replicas[part].daemons.begin(),
               replicas[part].daemons.end());
  return out;
}

std::vector<std::uint16_t> deployment::owners_of(part_id part) const {
  return graphmill::owners_of(static_cast<std::size_t>(part), owner_of_part,
                              replicas_of_part);
}

std::vector<part_id> deployment::parts_of(std::uint16_t daemon) const {
  std::vector<part_id> out;
  for (part_id part = 0; part < std::ssize(owner_of_part); ++part)
    if (std::ranges::count(owners_of(part), daemon) != 0)
      out.push_back(part);
  return out;
}

result<void> deployment::check() const {
  const auto known = [this](std::uint16_t position) {
    return position < daemons.size();
  };
  if (run.empty() || owner_of_part.empty() || daemon_of_rank.empty()
      || !known(you)
      || !std::all_of(owner_of_part.begin(), owner_of_part.end(), known)
      || !std::all_of(daemon_of_rank.begin(), daemon_of_rank.end(), known)
      || !std::all_of(samplers.begin(), samplers.end(), known)
      || (!daemon_keys.empty() && daemon_keys.size() != daemons.size())
      || (!replicas_of_part.empty()
          && replicas_of_part.size() != owner_of_part.size())
      || !std::ranges::all_of(replicas_of_part, [&known](const auto& of) {
           return std::ranges::all_of(of.daemons, known);
         }))
    return fail(ec::invalid_data,
                "a deployment without parts, ranks or run, with a daemon that "
                "it does not list, with keys of some daemons alone, or with "
                "replicas of some parts alone");
  if (runs_at_once == 0 || runs_at_once > most_runs_at_once
      || beside.size() >= runs_at_once + most_feeds_at_once)
    return fail(ec::invalid_data,
                "a deployment beside {} other runs, where {} and {} feeds may "
                "be on at once",
                beside.size(), runs_at_once, most_feeds_at_once);
  if (feed && daemon_of_rank.size() != 1)
    return fail(ec::invalid_data, "a feed with {} ranks",
                daemon_of_rank.size());
  return ok();
}

GRAPHMILL_LISTED_CODEC(deployment, Deployment, "a deployment")

payload encode(const member_request& request) {
  return body<schema::MemberRequest>(
    [&request](schema::MemberRequest::Builder out) {
      out.setRun(text(request.run));
      out.setAttempt(request.attempt);
      switch (request.action) {
      case member_action::begin: {
        auto begin = out.initBegin();
        begin.setPhase(to_wire(request.phase));
        begin.setEpoch(request.epoch);
        begin.setSteps(request.steps);
        begin.setLearningRate(request.learning_rate);
        begin.setFirstStep(request.first_step);
        run_position::fields(request.from, field_writer{begin.initFrom()});
        break;
      }
      case member_action::stop:
        out.setStop();
        break;
      case member_action::trainers:
        out.setTrainers(static_cast<schema::TrainerAction>(request.trainers));
        out.setSteps(request.restored_steps);
        break;
      case member_action::end:
        out.setEnd();
        break;
      case member_action::check:
        out.setCheck();
        break;
      case member_action::finish:
        out.setFinish();
        break;
      case member_action::load: {
        auto piece = out.initLoad();
        tensor_shape::fields(request.tensor, field_writer{piece.initTensor()});
        piece.setOffset(request.offset);
        break;
      }
      case member_action::keep:
        out.setKeep();
        break;
      case member_action::kept:
        out.setKept();
        break;
      }
    });
}

result<member_request> decode_member_request(const payload& from) {
  return read<schema::MemberRequest>(
    from, "an order",
    [](schema::MemberRequest::Reader in) { return decode(in); });
}

result<void> run_position::check() const {
  if (epoch < 0 || step < 0 || train_steps < step || correct < 0 || seeds < 0)
    return fail(ec::invalid_data,
                "a position in epoch {}, step {}, after {} steps and {} seeds",
                epoch, step, train_steps, seeds);
  return ok();
}

std::uint64_t tensor_shape::size() const {
  std::uint64_t values = 1;
  for (auto length : shape)
    values *= static_cast<std::uint64_t>(length);
  return values;
}

result<void> tensor_shape::check() const {
  std::int64_t values = 1;
  for (auto length : shape) {
    if (length < 0 || (length > 0 && values > most_values / length))
      return fail(ec::invalid_data, "tensor \"{}\" has an impossible shape",
                  name);
    values *= length;
  }
  return ok();
}

GRAPHMILL_LISTED_CODEC(member_reply, MemberReply, "an answer to an order")
GRAPHMILL_LISTED_CODEC(weights_request, WeightsRequest, "a request for weights")

payload encode_weights(std::span<const float> values) {
  return {{}, cut(std::as_bytes(values))};
}

result<void> decode_weights(const payload& from, std::span<float> out) {
  auto to = std::as_writable_bytes(out);
  for (const auto& piece : from.bulk) {
    if (piece.size() > to.size())
      return fail(ec::invalid_data, "an answer brings more weights than asked");
    std::copy_n(piece.data(), piece.size(), to.data());
    to = to.subspan(piece.size());
  }
  if (!to.empty())
    return fail(ec::invalid_data, "an answer brings fewer weights than asked");
  return ok();
}

} // namespace graphmill
