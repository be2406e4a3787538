#include "actors/run/member_answers.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

std::optional<trainer_action> order_for(run_course::task next) {
  switch (next) {
  case run_course::task::fill_caches:
    return trainer_action::fill_cache;
  case run_course::task::resume:
    return trainer_action::restore;
  case run_course::task::compare:
    return trainer_action::digest;
  case run_course::task::keep_best:
    return trainer_action::keep_best;
  case run_course::task::restore_best:
    return trainer_action::restore_best;
  case run_course::task::save:
    return trainer_action::snapshot;
  default:
    return std::nullopt;
  }
}

trainer_request request_for(trainer_action action,
                            const std::optional<training_state>& from) {
  if (action != trainer_action::restore || !from)
    return {action};
  return {action, from->tensors, from->at.train_steps};
}

std::vector<std::size_t> member_answers::ask_all() {
  std::vector<std::size_t> out;
  answers_.clear();
  ++request_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    members_[m].owing = !members_[m].lost;
    if (members_[m].owing)
      out.push_back(m);
  }
  return out;
}

void member_answers::ask(std::size_t member) {
  ++request_;
  members_[member].owing = true;
}

void member_answers::keep(std::size_t member, const member_state& answer) {
  for (const auto& trainer : answer.trainers)
    answers_.push_back({member, trainer});
}

bool member_answers::settle(std::size_t member) {
  return std::exchange(members_[member].owing, false);
}

std::size_t member_answers::owing() const {
  return static_cast<std::size_t>(
    std::count_if(members_.begin(), members_.end(),
                  [](const party& one) { return one.owing; }));
}

std::vector<trainer_answer> member_answers::take() {
  auto out = std::exchange(answers_, {});
  std::sort(out.begin(), out.end(),
            [](const trainer_answer& a, const trainer_answer& b) {
              return a.state.rank < b.state.rank;
            });
  return out;
}

} // namespace graphmill
