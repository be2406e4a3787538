#include "actors/cluster/recovery/kept_offers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// After one step, by the digests of the weights.
using offers_by_digest = std::map<std::string, std::vector<kept_offer>>;

std::string dispute_of(const std::vector<kept_offer>& a,
                       const std::vector<kept_offer>& b, bool is_settled) {
  return fmt::format("daemons \"{}\" and \"{}\" have kept different weights "
                     "after the same step, with digests {} and {}: {}",
                     a.front().daemon, b.front().daemon, a.front().digest,
                     b.front().digest,
                     is_settled ? "more daemons have the former, which is used"
                                : "neither is used");
}

/// What is believed about one step is added to `out`.
void settle(offers_by_digest by_digest, preferred_offers& out) {
  std::vector<std::vector<kept_offer>> sides;
  for (auto& [digest, side] : by_digest)
    sides.push_back(std::move(side));
  std::ranges::stable_sort(
    sides, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  const auto is_settled =
    sides.size() == 1 || sides[0].size() > sides[1].size();
  for (std::size_t i = 1; i < sides.size(); ++i)
    out.disputes.push_back(dispute_of(sides[0], sides[i], is_settled));
  if (is_settled)
    for (auto& offer : sides[0])
      out.offers.push_back(std::move(offer));
}

} // namespace

result<void> check_position(const run_position& at, const known_course& of) {
  GRAPHMILL_TRYV(at.check());
  const auto refused =
    fail(ec::invalid_data,
         "the run cannot be in epoch {} after step {}, with {} steps in all",
         std::int64_t{at.epoch} + 1, at.step, at.train_steps);
  if (at.epoch > of.epochs_told || at.step > of.steps_per_epoch)
    return refused;
  if (of.is_resumed)
    return ok();
  if (at.epoch > of.epochs || (at.epoch == of.epochs && at.step != 0))
    return refused;
  auto steps = at.epoch * of.steps_per_epoch + at.step;
  if (of.max_steps != 0 && steps > of.max_steps) {
    if (at.step != 0)
      return refused;
    steps = of.max_steps; // The last epoch was cut.
  }
  return at.train_steps == steps ? ok() : result<void>{refused};
}

result<void> check_offer(const kept_offer& offer, const known_course& of) {
  if (of.only_attempt != 0 && offer.attempt != of.only_attempt)
    return fail(ec::invalid_data,
                "it is of attempt {}, and attempt {} may have had another "
                "number of trainers",
                offer.attempt, of.only_attempt);
  return check_position(offer.at, of);
}

result<void> check_given(const kept_offer& offer, const std::string& digest) {
  if (digest != offer.digest)
    return fail(
      ec::invalid_data,
      "it reported weights with the digest {}, but sent weights with {}",
      offer.digest, digest);
  return ok();
}

bool is_further(const run_position& at, const run_position& than) {
  return std::tie(at.epoch, at.step) > std::tie(than.epoch, than.step);
}

preferred_offers by_preference(std::vector<kept_offer> offers) {
  std::ranges::stable_sort(offers, [](const auto& a, const auto& b) {
    return is_further(a.at, b.at);
  });
  preferred_offers out;
  for (auto it = offers.begin(); it != offers.end();) {
    const auto end = std::find_if(it, offers.end(), [at = it->at](auto& offer) {
      return is_further(at, offer.at);
    });
    offers_by_digest here;
    for (; it != end; ++it)
      here[it->digest].push_back(std::move(*it));
    settle(std::move(here), out);
  }
  return out;
}

} // namespace graphmill
