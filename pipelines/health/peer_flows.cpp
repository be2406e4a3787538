#include "pipelines/health/peer_flows.hpp"

#include "pipelines/health/health_sampler.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Null: there is no room for it.
peer_health* peer_named(std::vector<peer_health>& peers,
                        const std::string& name) {
  const auto known = std::ranges::find(peers, name, &peer_health::name);
  if (known != peers.end())
    return &*known;
  if (peers.size() >= health_limits::peers)
    return nullptr;
  peers.emplace_back().name = name;
  return &peers.back();
}

void add_rates(peer_health& peer, const peer_flow& before, const peer_flow& now,
               double seconds) {
  const auto rate = [&before, &now, seconds](counter peer_flow::*what) {
    return double(std::uint64_t{now.*what} - std::uint64_t{before.*what})
           / seconds;
  };
  peer.asked_per_second += rate(&peer_flow::asked);
  peer.served_per_second += rate(&peer_flow::served);
  peer.gradients_sent_per_second += rate(&peer_flow::gradients_sent);
  peer.gradients_received_per_second += rate(&peer_flow::gradients_received);
  peer.sent_per_second +=
    rate(&peer_flow::gradients_sent) + rate(&peer_flow::data_sent);
  peer.received_per_second +=
    rate(&peer_flow::gradients_received) + rate(&peer_flow::data_received);
}

} // namespace

bool peer_flow::is_empty() const {
  return asked + served + gradients_sent + gradients_received + data_sent
           + data_received
         == 0;
}

void peer_flows::begin(const std::string& run,
                       const std::vector<std::string>& daemons,
                       const std::vector<std::string>& beside,
                       clock::time_point now) {
  std::lock_guard lock{mutex_};
  std::erase_if(daemons_, [&](const auto& known) {
    return known.first == run
           || std::ranges::find(beside, known.first) == beside.end();
  });
  auto before = std::exchange(flows_, {});
  if (daemons_.empty()) {
    begun_ = now;
    before.clear();
  }
  daemons_[run] = daemons;
  for (const auto& [id, names] : daemons_)
    for (const auto& name : names) {
      auto& flow = flows_[name];
      if (const auto known = before.find(name); !flow && known != before.end())
        flow = known->second;
      if (!flow)
        flow = std::make_shared<peer_flow>();
    }
}

std::shared_ptr<peer_flow> peer_flows::to(std::string_view daemon) const {
  std::lock_guard lock{mutex_};
  const auto known = flows_.find(daemon);
  return known == flows_.end() ? nullptr : known->second;
}

peer_flows::reading peer_flows::read(clock::time_point now) const {
  std::lock_guard lock{mutex_};
  reading out{begun_, now, {}};
  for (const auto& [name, flow] : flows_)
    out.flows.emplace(name, *flow);
  return out;
}

void peer_flow_sampler::add_to(std::vector<peer_health>& peers,
                               const peer_flows& flows,
                               peer_flows::clock::time_point now) {
  auto reading = flows.read(now);
  // Another attempt counts anew: its first window goes back to its begin.
  if (readings_.empty() || readings_.front().begun != reading.begun) {
    readings_.clear();
    readings_.push_back({reading.begun, reading.begun, {}});
  }
  const auto& before = readings_.front();
  const auto seconds = std::chrono::duration<double>(now - before.at).count();
  for (const auto& [name, flow] : reading.flows) {
    if (seconds <= 0 || flow.is_empty())
      continue;
    const auto old = before.flows.find(name);
    if (auto* peer = peer_named(peers, name.substr(0, health_limits::text)))
      add_rates(*peer, old == before.flows.end() ? peer_flow{} : old->second,
                flow, seconds);
  }
  readings_.push_back(std::move(reading));
  if (readings_.size() > health_sampler::span)
    readings_.pop_front();
}

} // namespace graphmill
