#include "actors/cluster/recovery/run_recovery.hpp"

#include "messages/base/pluralized.hpp"

#include <fmt/chrono.h>

#include <tuple>
#include <utility>

namespace graphmill {

std::optional<error> run_recovery::broken(const error& reason, bool trained,
                                          clock::time_point now) {
  lost_ = reason;
  fruitless_ = trained ? 0 : fruitless_ + 1;
  if (fruitless_ >= how_.attempts)
    return fail(reason.code,
                "{}; {} in a row {} trained nothing, and `recovery.attempts` "
                "allows no more",
                reason.message, pluralized(fruitless_, "attempt"),
                fruitless_ == 1 ? "has" : "have");
  until_ = now + std::chrono::seconds{how_.wait};
  return std::nullopt;
}

void run_recovery::left(error reason, clock::time_point now) {
  lost_ = std::move(reason);
  until_ = now + std::chrono::seconds{how_.wait};
}

std::string
run_recovery::says(const error& missing, clock::time_point now,
                   std::chrono::system_clock::time_point wall) const {
  const auto left = until_.value_or(now) - now;
  const auto end =
    wall
    + std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
  return fmt::format(
    "has ended an attempt: {}; it waits until {:%H:%M:%S} UTC to go on: {}",
    lost_.message, fmt::gmtime(std::chrono::system_clock::to_time_t(end)),
    missing.message);
}

error run_recovery::gave_up(const error& missing) const {
  return fail(lost_.code,
              "{}; nobody has taken its place within {} (`recovery.wait`): {}",
              lost_.message, pluralized(how_.wait, "second"), missing.message);
}

result<void> check_given(const kept_offer& offer, const std::string& digest) {
  if (digest != offer.digest)
    return fail(
      ec::invalid_data,
      "daemon \"{}\" has kept weights with the digest {}, as it says, "
      "but those that it gives have {}",
      offer.daemon, offer.digest, digest);
  return ok();
}

bool is_further(const run_position& at, const run_position& than) {
  return std::tie(at.epoch, at.step) > std::tie(than.epoch, than.step);
}

result<std::optional<std::size_t>>
furthest_of(const std::vector<kept_offer>& offers) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (!best || is_further(offers[i].at, offers[*best].at))
      best = i;
  for (const auto& offer : offers)
    if (!is_further(offers[*best].at, offer.at)
        && offer.digest != offers[*best].digest)
      return fail(ec::internal,
                  "daemons \"{}\" and \"{}\" have kept other weights after the "
                  "same step, with digests {} and {}",
                  offers[*best].daemon, offer.daemon, offers[*best].digest,
                  offer.digest);
  return best;
}

} // namespace graphmill
