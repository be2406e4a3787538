#include "actors/cluster/health/log_collector.hpp"

#include "actors/process/logs/log_lines.hpp"
#include "messages/base/pluralized.hpp"

#include <utility>

namespace graphmill {

bool log_collector::due(clock::time_point now) const {
  return to_ && open_ == 0 && now - last_ >= (is_wanted_ ? hurried : usual);
}

std::vector<log_collector::question>
log_collector::begin(const std::vector<daemon_status>& daemons,
                     const std::string& self, clock::time_point now) {
  last_ = now;
  is_wanted_ = false;
  ++begun_;
  std::vector<question> out;
  std::map<std::string, std::uint64_t> known;
  for (const auto& daemon : daemons) {
    if (daemon.name == self)
      continue;
    const auto next = next_.find(daemon.name);
    const auto after = next == next_.end() ? 0 : next->second;
    known[daemon.name] = after;
    if (daemon.state != daemon_state::lost)
      out.push_back({daemon.name, daemon.address, {.after = after}});
  }
  next_ = std::move(known); // Who has left the cluster is forgotten.
  open_ = out.size();
  has_more_ = false;
  end_if_done();
  return out;
}

void log_collector::answered(const question& asked,
                             const result<log_reply>& answer) {
  --open_;
  take(asked, answer);
  end_if_done();
}

/// Who always has more is not asked more often for it.
void log_collector::end_if_done() {
  if (open_ == 0 && !has_more_)
    collected_ = begun_;
}

void log_collector::take(const question& asked,
                         const result<log_reply>& answer) {
  const auto next = next_.find(asked.daemon);
  // It was started anew meanwhile, if the cursor is another one.
  if (!answer || next == next_.end() || next->second != asked.request.after)
    return;
  const auto& page = answer.value();
  next->second = page.next;
  has_more_ = has_more_ || page.more;
  if (page.missing > 0 && !page.lines.empty())
    to_->add({.time = page.lines.front().time,
              .level = log_level::warn,
              .daemon = asked.daemon,
              .module = "daemon",
              .text = fmt::format("{} of its log came too fast to be collected",
                                  pluralized(page.missing, "line"))});
  for (auto line : page.lines) {
    line.daemon = asked.daemon;
    to_->add(printable_line(std::move(line)));
  }
}

} // namespace graphmill
