#include "actors/run/replicas.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>

namespace graphmill {

std::optional<error> difference(const std::vector<trainer_answer>& replicas) {
  std::map<std::string, std::size_t> counts;
  for (const auto& replica : replicas)
    ++counts[replica.state.digest];
  if (counts.size() < 2)
    return std::nullopt;
  const auto& usual =
    std::max_element(replicas.begin(), replicas.end(),
                     [&counts](const auto& a, const auto& b) {
                       return counts[a.state.digest] < counts[b.state.digest];
                     })
      ->state;
  std::vector<rank_id> odd;
  for (const auto& replica : replicas)
    if (replica.state.digest != usual.digest)
      odd.push_back(replica.state.rank);
  return fail(ec::internal,
              "after {} training steps the weights of rank {} differ from "
              "those of rank {}: all trainers of a run need the same build of "
              "Graphmill; a faulty machine also causes this",
              usual.steps, fmt::join(odd, ", "), usual.rank);
}

std::optional<error> odd_among(const std::vector<trainer_answer>& replicas,
                               rank_id ranks, bool equal) {
  if (std::cmp_not_equal(replicas.size(), ranks))
    return fail(ec::unavailable, "{} of {} trainers answer", replicas.size(),
                ranks);
  return equal ? difference(replicas) : std::nullopt;
}

void sort_by_steps(std::vector<trainer_answer>& replicas) {
  std::stable_sort(replicas.begin(), replicas.end(),
                   [](const trainer_answer& a, const trainer_answer& b) {
                     return a.state.steps > b.state.steps;
                   });
}

std::optional<std::size_t> weight_search::next(const member_answers& members) {
  while (!replicas_.empty() && !replicas_.front().state.parameters) {
    const auto member = replicas_.front().member;
    if (!members.is_lost(member) && asked_.insert(member).second)
      return member;
    replicas_.erase(replicas_.begin());
  }
  return std::nullopt;
}

void weight_search::take(const std::vector<trainer_answer>& answers) {
  for (const auto& answer : answers)
    if (!replicas_.empty() && answer.state.parameters)
      replicas_.front().state.parameters = answer.state.parameters;
}

void weight_search::tell(run_outcome& end) const {
  const auto* kept = found();
  if (kept == nullptr)
    return;
  end.digest = kept->digest;
  end.parameters = kept->parameters;
  end.train_steps = kept->steps;
}

const trainer_state* weight_search::found() const {
  return replicas_.empty() || !replicas_.front().state.parameters
           ? nullptr
           : &replicas_.front().state;
}

} // namespace graphmill
