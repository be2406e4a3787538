#include "actors/run/member_answers.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

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
