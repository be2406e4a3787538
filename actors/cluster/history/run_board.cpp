#include "actors/cluster/history/run_board.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

void run_board::add(const std::string& run, run_news news) {
  auto& history = runs_.try_emplace(run, lines{first_, {}}).first->second;
  const auto is_progress = [](const run_news& news) {
    return news.metrics.empty();
  };
  // A progress is of no use once there is something newer.
  if (!history.news.empty() && is_progress(history.news.back().news))
    history.news.pop_back();
  history.news.push_back({history.next++, std::move(news)});
  if (history.news.size() > most_news)
    history.news.pop_front();
}

void run_board::recall(const std::string& run, std::vector<run_news> before) {
  const auto [it, fresh] = runs_.try_emplace(run, lines{first_, {}});
  if (!fresh)
    return;
  const auto kept = std::min<std::uint64_t>({before.size(), most_news, first_});
  for (std::uint64_t position = 0; position < kept; ++position)
    it->second.news.push_back(
      {position, std::move(before[before.size() - kept + position])});
}

std::pair<std::uint64_t, std::vector<run_news>>
run_board::since(const std::string& run, std::uint64_t position) const {
  const auto it = runs_.find(run);
  if (it == runs_.end())
    return {position, {}};
  const auto& news = it->second.news;
  auto from = std::lower_bound(
    news.begin(), news.end(), position,
    [](const entry& one, std::uint64_t at) { return one.position < at; });
  std::pair<std::uint64_t, std::vector<run_news>> out{position, {}};
  for (; from != news.end() && out.second.size() < most_at_once; ++from) {
    out.second.push_back(from->news);
    out.first = from->position + 1;
  }
  return out;
}

void run_board::over(const std::string& run) {
  over_.push_back(run);
  if (over_.size() <= most_runs)
    return;
  runs_.erase(over_.front());
  over_.pop_front();
}

} // namespace graphmill
