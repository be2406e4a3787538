#include "partition/sampling/request_round.hpp"

#include <numeric>
#include <utility>

namespace graphmill {

namespace {

asked_nodes piece(const asked_nodes& nodes, std::size_t from,
                  std::size_t count) {
  const auto some = [from, count](auto values) {
    return values.empty() ? values : values.subspan(from, count);
  };
  return {nodes.ids.subspan(from, count), some(nodes.rows), some(nodes.until)};
}

} // namespace

void dealt_nodes::deal(const partitioned_graph& graph, node_type_id type,
                       asked_nodes dealt, bool with_places) {
  nodes = dealt;
  const auto parts = static_cast<std::size_t>(graph.part_count());
  cuts.assign(parts + 1, 0);
  if (parts == 1) {
    cuts[1] = nodes.size();
    return;
  }
  owners.resize(nodes.size());
  by_part.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    owners[i] = graph.owner(type, nodes.ids[i]);
    ++cuts[owners[i] + 1];
  }
  std::partial_sum(cuts.begin(), cuts.end(), cuts.begin());
  auto next = cuts;
  places.resize(with_places ? nodes.size() : 0);
  rows.resize(nodes.rows.size());
  until.resize(nodes.until.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto place = next[owners[i]]++;
    by_part[place] = nodes.ids[i];
    if (!rows.empty())
      rows[place] = nodes.rows[i];
    if (!until.empty())
      until[place] = nodes.until[i];
    if (!places.empty())
      places[i] = place;
  }
}

void request_round::clear() {
  requests_.clear();
  numbers_.clear();
  answers_.clear();
  excluded_.clear();
}

time_limits request_round::limits_of(edge_type_id type,
                                     const asked_nodes& some) const {
  time_limits out;
  out.rows = some.rows;
  const auto& time = scheme_.time;
  if (!time.used || !graph_.info().edge_types[type].timed)
    return out;
  out.until = some.until.empty() ? until_ : some.until;
  out.inclusive = time.inclusive;
  out.latest = time.latest;
  out.window = time.window;
  return out;
}

void request_round::ask(const node_question& question, const dealt_nodes& nodes,
                        std::span<const shortened_list> lists,
                        const excluded_edges* excluded) {
  const auto all = nodes.dealt();
  auto next = lists.begin();
  for (part_id p = 0; p < graph_.part_count(); ++p) {
    const auto from = nodes.cuts[p];
    const auto size = nodes.cuts[p + 1] - from;
    if (size == 0)
      continue;
    const auto some = piece(all, from, size);
    auto& without = excluded_.emplace_back();
    for (; next != lists.end() && shortened_place(*next) < from + size; ++next)
      without.add(shortened_place(*next) - from,
                  excluded->of_destination(shortened_number(*next)));
    neighbour_request request{key_,
                              question.hop,
                              question.type,
                              question.rule,
                              question.edge_ids,
                              some.ids,
                              question.weights,
                              without.view(),
                              scheme_.level,
                              limits_of(question.type, some),
                              question.places,
                              question.ages};
    request.among = question.among;
    numbers_.push_back(question.number);
    requests_.push_back({requests_.size(), p, request});
  }
  answers_.resize(requests_.size());
}

result<void> request_round::accept(std::size_t slot, neighbour_reply reply) {
  if (slot >= answers_.size())
    return fail(ec::invalid_argument, "there is no slot {} of {}", slot,
                answers_.size());
  auto& answer = answers_[slot];
  if (answer.there)
    return ok();
  const auto& asked = requests_[slot];
  GRAPHMILL_TRY(answer.sources,
                check_reply(graph_.info(), asked.part, asked.request, reply));
  answer.reply = std::move(reply);
  answer.there = true;
  return ok();
}

result<void> request_round::check_complete() const {
  for (const auto& asked : requests_)
    if (!answers_[asked.slot].there)
      return fail(ec::internal,
                  "hop {} ends without the answer of part {} for edge type {}",
                  asked.request.hop, asked.part, asked.request.edge_type);
  return ok();
}

std::int64_t request_round::sources(edge_type_id type) const {
  std::int64_t sum = 0;
  for (const auto& asked : requests_)
    if (asked.request.edge_type == type)
      sum += answers_[asked.slot].sources;
  return sum;
}

reply_merge request_round::merge_of(std::size_t number,
                                    const dealt_nodes& nodes) const {
  reply_merge merge{nodes.nodes.size(), nodes.owners.span(), {}};
  merge.replies.resize(static_cast<std::size_t>(graph_.part_count()));
  for (const auto& asked : requests_)
    if (numbers_[asked.slot] == number)
      merge.replies[asked.part] = &answers_[asked.slot].reply;
  return merge;
}

void request_round::release(std::size_t number) {
  for (const auto& asked : requests_)
    if (numbers_[asked.slot] == number)
      answers_[asked.slot].reply = {};
}

} // namespace graphmill
