#include "messages/wire/cluster.capnp.h"
#include "messages/wire/cluster.hpp"
#include "messages/wire/codec_support.hpp"

namespace graphmill {

using namespace wire;

namespace {

static_assert(static_cast<int>(schema::DaemonState::DAMAGED)
              == static_cast<int>(daemon_state::damaged));

result<join_request> decode(schema::JoinRequest::Reader in) {
  join_request out;
  out.dataset = text(in.getDataset());
  out.dataset_digest = text(in.getDatasetDigest());
  out.part_digests = get_texts(in.getPartDigests());
  out.parts = get_list<part_id>(in.getParts());
  out.slots = in.getSlots();
  out.host = text(in.getHost());
  out.cuda_devices = in.getCudaDevices();
  out.fault = text(in.getFault());
  out.arithmetic = text(in.getArithmetic());
  out.arithmetic_digest = text(in.getArithmeticDigest());
  for (std::size_t i = 0; i < out.parts.size(); ++i)
    if (out.parts[i] < 0 || out.parts[i] >= std::ssize(out.part_digests)
        || (i > 0 && out.parts[i] <= out.parts[i - 1]))
      return fail(ec::invalid_data,
                  "a daemon says that it serves part {} of {}", out.parts[i],
                  out.part_digests.size());
  return out;
}

result<daemon_status> decode(schema::DaemonStatus::Reader in) {
  daemon_status out;
  out.name = text(in.getName());
  out.address = text(in.getAddress());
  out.state = static_cast<daemon_state>(in.getState());
  if (out.state < daemon_state::ready || out.state > daemon_state::damaged)
    return fail(ec::invalid_data, "daemon \"{}\" is in an unknown state",
                out.name);
  out.parts = get_list<part_id>(in.getParts());
  out.slots = in.getSlots();
  out.host = text(in.getHost());
  out.note = text(in.getNote());
  out.cuda_devices = in.getCudaDevices();
  return out;
}

void fill(const daemon_status& from, schema::DaemonStatus::Builder to) {
  to.setName(from.name);
  to.setAddress(from.address);
  to.setState(static_cast<schema::DaemonState>(from.state));
  put_list(to.initParts(from.parts.size()), from.parts);
  to.setSlots(from.slots);
  to.setHost(from.host);
  to.setNote(from.note);
  to.setCudaDevices(from.cuda_devices);
}

} // namespace

std::string_view to_string(daemon_state what) {
  switch (what) {
  case daemon_state::ready:
    return "ready";
  case daemon_state::draining:
    return "draining";
  case daemon_state::lost:
    return "lost";
  case daemon_state::damaged:
    return "damaged";
  }
  return "unknown";
}

payload encode(const join_request& what) {
  return body<schema::JoinRequest>([&what](schema::JoinRequest::Builder out) {
    out.setDataset(what.dataset);
    out.setDatasetDigest(what.dataset_digest);
    put_list(out.initPartDigests(what.part_digests.size()), what.part_digests);
    put_list(out.initParts(what.parts.size()), what.parts);
    out.setSlots(what.slots);
    out.setHost(what.host);
    out.setCudaDevices(what.cuda_devices);
    out.setFault(what.fault);
    out.setArithmetic(what.arithmetic);
    out.setArithmeticDigest(what.arithmetic_digest);
  });
}

result<join_request> decode_join_request(const payload& from) {
  return read<schema::JoinRequest>(
    from, "a daemon's registration",
    [](schema::JoinRequest::Reader in) { return decode(in); });
}

payload encode(const join_reply& what) {
  return body<schema::JoinReply>([&what](schema::JoinReply::Builder out) {
    out.setCoordinator(what.coordinator);
  });
}

payload encode(const status_reply& what) {
  return body<schema::StatusReply>([&what](schema::StatusReply::Builder out) {
    out.setCoordinator(what.coordinator);
    out.setDataset(what.dataset);
    out.setParts(what.parts);
    put_structs(out.initDaemons(what.daemons.size()), what.daemons,
                [](const daemon_status& from,
                   schema::DaemonStatus::Builder to) { fill(from, to); });
    out.setRunning(what.running);
    out.setNote(what.note);
    put_list(out.initQueued(what.queued.size()), what.queued);
  });
}

result<status_reply> decode_status_reply(const payload& from) {
  return read<schema::StatusReply>(
    from, "the state of the cluster",
    [](schema::StatusReply::Reader in) -> result<status_reply> {
      status_reply out;
      out.coordinator = text(in.getCoordinator());
      out.dataset = text(in.getDataset());
      out.parts = in.getParts();
      TRY(out.daemons, get_structs<daemon_status>(
                         in.getDaemons(), [](schema::DaemonStatus::Reader one) {
                           return decode(one);
                         }));
      out.running = text(in.getRunning());
      out.note = text(in.getNote());
      out.queued = get_texts(in.getQueued());
      return out;
    });
}

payload encode(const node_request& what) {
  return body<schema::NodeRequest>([&what](schema::NodeRequest::Builder out) {
    out.setName(what.name);
    out.setBack(what.back);
  });
}

result<node_request> decode_node_request(const payload& from) {
  return read<schema::NodeRequest>(
    from, "a request about a daemon",
    [](schema::NodeRequest::Reader in) -> result<node_request> {
      return node_request{text(in.getName()), in.getBack()};
    });
}

} // namespace graphmill
