#include "actors/cluster/client/chaos_plan.hpp"

#include "messages/base/random.hpp"

#include <algorithm>
#include <array>

namespace graphmill {

namespace {

using std::chrono::milliseconds;

/// When a daemon may be killed. Not at each moment, for some come once in a
/// run, or not to it. (One trainer copies its state for checkpoints; which one,
/// the coordinator knows.)
std::vector<moment> kill_moments(const std::string& daemon,
                                 const chaos_wishes& wishes) {
  std::vector out{moment::at_once, moment::mid_epoch};
  if (std::ranges::find(wishes.trainers, daemon) != wishes.trainers.end())
    out.insert(out.end(),
               {moment::exchange, moment::epoch_edge, moment::evaluation});
  if (daemon == wishes.coordinator)
    out.push_back(moment::checkpoint);
  return out;
}

constexpr milliseconds wait_for_moment{10'000};
/// Short ones, and one for which a daemon is lost if --lost-after is shorter.
constexpr std::array stop_times{milliseconds{1'000}, milliseconds{3'000},
                                milliseconds{10'000}};
constexpr std::uint32_t most_corrupt = 2;

template <class List>
const auto& one_of(const List& list, random_stream& draws) {
  return list[draws.below(static_cast<std::uint32_t>(list.size()))];
}

milliseconds between(std::uint32_t least, std::uint32_t most,
                     random_stream& draws) {
  return milliseconds{least + draws.below(most - least + 1)};
}

void fill_in(chaos_request& request, const chaos_wishes& wishes,
             random_stream& draws) {
  switch (request.kind) {
  case chaos_kind::kill:
    request.at = one_of(kill_moments(request.daemon, wishes), draws);
    if (request.at != moment::at_once)
      request.wait = wait_for_moment;
    break;
  case chaos_kind::stop:
    request.lasts = one_of(stop_times, draws);
    break;
  case chaos_kind::delay:
    request.each = between(20, 200, draws);
    request.lasts = between(1'000, 5'000, draws);
    break;
  case chaos_kind::cut: // To itself: to all.
    if (const auto& peer = one_of(wishes.daemons, draws);
        peer != request.daemon)
      request.peer = peer;
    break;
  case chaos_kind::corrupt:
    request.messages = 1 + draws.below(most_corrupt);
    break;
  case chaos_kind::disk:
    request.lasts = between(1'000, 5'000, draws);
    break;
  }
}

} // namespace

std::vector<planned_fault> plan_chaos(const chaos_wishes& wishes) {
  const auto every = static_cast<std::uint32_t>(wishes.every.count());
  std::vector<planned_fault> out;
  for (std::uint32_t i = 0; i < wishes.faults; ++i) {
    random_stream draws{mix64(wishes.seed), i};
    auto& fault = out.emplace_back();
    fault.after = between(every / 2, every / 2 + every, draws);
    fault.request.kind = one_of(wishes.kinds, draws);
    fault.request.daemon = one_of(wishes.daemons, draws);
    fill_in(fault.request, wishes, draws);
  }
  return out;
}

} // namespace graphmill
