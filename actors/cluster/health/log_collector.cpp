#include "actors/cluster/health/log_collector.hpp"

#include "actors/process/logs/log_lines.hpp"
#include "messages/base/pluralized.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

bool log_collector::due(clock::time_point now) const {
  const auto nobody_waits =
    is_answered_ || std::ranges::all_of(sources_, [](const auto& one) {
      return one.second.open == 0;
    });
  return to_ && nobody_waits && now - last_ >= (is_wanted_ ? hurried : usual);
}

/// Who has left the cluster is forgotten.
void log_collector::renew(const std::vector<daemon_status>& daemons,
                          const std::string& self) {
  std::map<std::string, source> known;
  for (const auto& daemon : daemons)
    if (daemon.name != self) {
      auto& one = known[daemon.name] = sources_[daemon.name];
      one.is_lost = daemon.state == daemon_state::lost;
    }
  sources_ = std::move(known);
}

/// Those who are behind and may be asked now.
std::set<std::string> log_collector::turns() const {
  std::size_t under_way = 0;
  std::vector<std::pair<std::uint64_t, std::string>> waiting;
  for (const auto& [name, one] : sources_)
    if (one.is_behind && one.open != 0)
      ++under_way;
    else if (one.is_behind && !one.is_lost)
      waiting.emplace_back(one.asked, name);
  std::ranges::sort(waiting);
  const auto places = most_behind - std::min(most_behind, under_way);
  std::set<std::string> out;
  for (auto& [asked, name] : waiting)
    if (out.size() < places)
      out.insert(std::move(name));
  return out;
}

std::vector<log_collector::question>
log_collector::begin(const std::vector<daemon_status>& daemons,
                     const std::string& self, clock::time_point now) {
  last_ = now;
  is_wanted_ = false;
  is_answered_ = false;
  ++begun_;
  renew(daemons, self);
  const auto in_turn = turns();
  std::vector<question> out;
  for (const auto& daemon : daemons) {
    const auto found = sources_.find(daemon.name);
    if (found == sources_.end())
      continue; // Its own.
    auto& one = found->second;
    if (one.is_lost || one.open != 0
        || (one.is_behind && !in_turn.contains(daemon.name)))
      continue;
    one.open = begun_;
    one.asked = begun_;
    out.push_back({daemon.name, daemon.address, begun_, {.after = one.next}});
  }
  note_collected();
  return out;
}

void log_collector::answered(const question& asked, result<log_reply> answer) {
  is_answered_ = true;
  const auto found = sources_.find(asked.daemon);
  // It was started anew meanwhile, if that is another question.
  if (found == sources_.end() || found->second.open != asked.round)
    return;
  auto& from = found->second;
  from.open = 0;
  // Who always has more is not asked more often for it.
  if (!answer || !answer.value().more)
    from.all = asked.round;
  if (answer)
    take(from, asked.daemon, std::move(answer).value());
  note_collected();
}

void log_collector::note_collected() {
  auto all = begun_;
  for (const auto& [name, one] : sources_)
    if (!one.is_lost)
      all = std::min(all, one.all);
  collected_ = std::max(collected_, all);
}

void log_collector::take(source& from, const std::string& daemon,
                         log_reply page) {
  from.next = page.next;
  from.is_behind = page.more;
  std::vector<log_line> lines;
  lines.reserve(page.lines.size() + 1);
  if (page.missing > 0 && !page.lines.empty())
    lines.push_back(
      {.time = page.lines.front().time,
       .level = log_level::warn,
       .daemon = daemon,
       .module = "daemon",
       .text = fmt::format("{} of its log came too fast to be collected",
                           pluralized(page.missing, "line"))});
  for (auto& line : page.lines) {
    line.daemon = daemon;
    lines.push_back(printable_line(std::move(line)));
  }
  to_->add_all(std::move(lines));
}

} // namespace graphmill
