#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.capnp.h"
#include "messages/wire/codecs/codec_support.hpp"

#include <array>

namespace graphmill {

using namespace wire;

// Ours lack the `unset` of the schema.
static_assert(static_cast<int>(schema::ChaosKind::DISK)
              == static_cast<int>(chaos_kind::disk) + 1);
static_assert(static_cast<int>(schema::ChaosMoment::DRAIN)
              == static_cast<int>(moment::drain) + 1);

namespace {

constexpr std::array<std::string_view, chaos_kind_count> chaos_kind_names{
  "kill", "stop", "delay", "cut", "corrupt", "disk"};

/// Whether a time is there if it is needed, and is not too long.
result<void> check_time(const chaos_request& request, const char* what,
                        std::chrono::milliseconds time, bool needed,
                        std::chrono::milliseconds most) {
  if (time.count() < (needed ? 1 : 0) || time > most)
    return fail(ec::invalid_argument,
                "chaos of the kind {} with {} of {} ms: it must lie within {} "
                "and {}",
                to_string(request.kind), what, time.count(), needed ? 1 : 0,
                most.count());
  return ok();
}

} // namespace

std::string_view to_string(chaos_kind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < chaos_kind_names.size() ? chaos_kind_names[at] : "unknown";
}

std::optional<chaos_kind> chaos_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < chaos_kind_names.size(); ++i)
    if (chaos_kind_names[i] == name)
      return static_cast<chaos_kind>(i);
  return std::nullopt;
}

result<void> chaos_request::check() const {
  const auto is_delay = kind == chaos_kind::delay;
  const auto takes_time =
    is_delay || kind == chaos_kind::stop || kind == chaos_kind::disk;
  GRAPHMILL_TRYV(check_time(*this, "a time to wait for its moment", wait,
                            at != moment::at_once, longest_wait));
  GRAPHMILL_TRYV(
    check_time(*this, "a time that it lasts", lasts, takes_time, longest));
  GRAPHMILL_TRYV(
    check_time(*this, "a time for each message", each, is_delay, longest_each));
  if (messages > most_messages
      || (kind == chaos_kind::corrupt && messages == 0))
    return fail(ec::invalid_argument,
                "chaos that corrupts {} messages: it must be 1 to {}", messages,
                most_messages);
  return ok();
}

GRAPHMILL_LISTED_CODEC(chaos_request, ChaosRequest, "a request for chaos")

std::string sentence_of(const chaos_request& request) {
  const auto whom =
    request.peer.empty() ? std::string{"all others"} : request.peer;
  const auto lasts = request.lasts.count();
  std::string out;
  switch (request.kind) {
  case chaos_kind::kill:
    out = fmt::format("kill {}", request.daemon);
    break;
  case chaos_kind::stop:
    out = fmt::format("stop {} for {} ms", request.daemon, lasts);
    break;
  case chaos_kind::delay:
    out = fmt::format("delay messages of {} to {} by {} ms for {} ms",
                      request.daemon, whom, request.each.count(), lasts);
    break;
  case chaos_kind::cut:
    out = fmt::format("cut connections of {} to {}", request.daemon, whom);
    break;
  case chaos_kind::corrupt:
    out = fmt::format("corrupt {} messages of {}", request.messages,
                      request.daemon);
    break;
  case chaos_kind::disk:
    out = fmt::format("fill the disk of {} for {} ms", request.daemon, lasts);
    break;
  }
  if (request.at != moment::at_once)
    out += fmt::format(" at its next {}", to_string(request.at));
  return out;
}

} // namespace graphmill
