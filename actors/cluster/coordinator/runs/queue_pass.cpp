#include "actors/cluster/coordinator/runs/queue_pass.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Whether a run may have a trainer on a daemon.
bool may_train_on(const definition& def, const std::string& daemon) {
  const auto& chosen = def.placement.trainers.empty() ? def.placement.daemons
                                                      : def.placement.trainers;
  return chosen.empty() || std::ranges::find(chosen, daemon) != chosen.end();
}

} // namespace

void take_slots(std::vector<daemon_offer>& offers, const placement& where) {
  for (const auto trains : where.daemon_of_rank) {
    const auto& name = where.daemons[trains].name;
    const auto offer = std::ranges::find(offers, name, &daemon_offer::name);
    if (offer != offers.end() && offer->slots != 0)
      --offer->slots;
  }
}

queue_pass::queue_pass(std::vector<daemon_offer> offers, part_id parts,
                       std::size_t most)
  : offers_(std::move(offers)), free_(offers_), open_(offers_), parts_(parts),
    most_(most) {}

void queue_pass::add(const placement& where) {
  ++on_;
  take_slots(free_, where);
  take_slots(open_, where);
}

result<placement> queue_pass::place(const definition& def, bool was_on) const {
  return graphmill::place(def, parts_, was_on ? free_ : open_);
}

bool queue_pass::waits_for_slots(const definition& def, bool was_on) const {
  return !place(def, was_on) && graphmill::place(def, parts_, offers_);
}

void queue_pass::keep_turn(const definition& def) {
  for (auto& offer : open_)
    if (may_train_on(def, offer.name))
      offer.slots = 0;
}

} // namespace graphmill
