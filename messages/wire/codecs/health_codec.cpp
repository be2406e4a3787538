#include "messages/wire/codecs/codec_support.hpp"
#include "messages/wire/codecs/health_values.hpp"
#include "messages/wire/health.capnp.h"
#include "messages/wire/health.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace graphmill {

using namespace wire;

namespace {

// Figures of others must not upset those who add and compare them.

bool are_amounts(std::initializer_list<double> figures) {
  return std::ranges::all_of(figures, [](double figure) {
    return figure >= 0 && std::isfinite(figure);
  });
}

bool are_shares(std::initializer_list<double> figures) {
  return std::ranges::all_of(
    figures, [](double figure) { return figure >= 0 && figure <= 1; });
}

bool sound_figures(const actor_health& actor) {
  // Averages are taken of it, in floating point.
  constexpr auto longest_queue = std::uint64_t{1} << 53;
  return actor.queue <= longest_queue
         && are_shares({actor.busy, actor.starved, actor.stalled, actor.waiting,
                        actor.down})
         && are_amounts({actor.in_state, actor.items_per_second,
                         actor.bytes_per_second, actor.mean_latency,
                         actor.median_latency, actor.p90_latency,
                         actor.p99_latency});
}

bool short_texts(const actor_health& actor) {
  return std::max(
           {actor.peer.size(), actor.why.size(), actor.last_error.size()})
         <= health_limits::text;
}

} // namespace

std::string_view to_string(actor_kind kind) {
  switch (kind) {
  case actor_kind::sampling_service:
    return "sampling service";
  case actor_kind::sampler:
    return "sampler";
  case actor_kind::batch_proxy:
    return "sampler proxy";
  case actor_kind::feature_service:
    return "feature service";
  case actor_kind::fetcher:
    return "fetcher";
  case actor_kind::batcher:
    return "batcher";
  case actor_kind::trainer:
    return "trainer";
  case actor_kind::gradient_group:
    return "gradient group";
  case actor_kind::dispatcher:
    return "dispatcher";
  case actor_kind::sampling_proxy:
    return "sampling proxy";
  case actor_kind::feature_proxy:
    return "feature proxy";
  case actor_kind::batch_link:
    return "batches of a daemon";
  case actor_kind::cache_filler:
    return "cache filler";
  case actor_kind::conductor:
    return "conductor";
  }
  return "unknown";
}

std::string_view to_string(actor_state state) {
  switch (state) {
  case actor_state::starting:
    return "starting";
  case actor_state::running:
    return "running";
  case actor_state::starved:
    return "starved";
  case actor_state::stalled:
    return "stalled";
  case actor_state::waiting:
    return "waiting";
  case actor_state::restarting:
    return "restarting";
  case actor_state::failed:
    return "failed";
  case actor_state::stopped:
    return "stopped";
  }
  return "unknown";
}

result<void> daemon_health::check() const {
  if (actors.size() > health_limits::actors
      || peers.size() > health_limits::peers
      || std::max(daemon.size(), run.size()) > health_limits::text)
    return fail(ec::invalid_data,
                "a report of health with {} actors and {} peers is too large",
                actors.size(), peers.size());
  for (const auto& actor : actors)
    if (!sound_figures(actor) || !short_texts(actor))
      return fail(ec::invalid_data,
                  "a report of health says of a {} what cannot be",
                  to_string(actor.kind));
  for (const auto& peer : peers)
    if (std::max(peer.name.size(), peer.why.size()) > health_limits::text
        || !are_amounts({peer.mean_round_trip, peer.sent_per_second,
                         peer.received_per_second, peer.asked_per_second,
                         peer.served_per_second, peer.gradients_sent_per_second,
                         peer.gradients_received_per_second, peer.in_state}))
      return fail(ec::invalid_data,
                  "a report of health says of a peer what cannot be");
  if (long_work.size() > health_limits::long_work
      || std::ranges::any_of(long_work, [](const auto& sentence) {
           return sentence.size() > health_limits::text;
         }))
    return fail(ec::invalid_data,
                "a report of health tells too much of long work");
  if (!daemon_load::check() || !are_amounts({window, age})
      || !are_shares({cache_offer_spared}))
    return fail(ec::invalid_data,
                "a report of health says of a daemon what cannot be");
  return ok();
}

GRAPHMILL_LISTED_CODEC(daemon_health, DaemonHealth, "a report of health")
GRAPHMILL_LISTED_CODEC(health_request, HealthRequest,
                       "a request for the health of a run")
GRAPHMILL_LISTED_CODEC(run_health, RunHealth, "the health of a run")

} // namespace graphmill
