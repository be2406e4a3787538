#include "actors/process/logs/log_ring.hpp"

#include "actors/process/logs/log_lines.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

bool is_wanted(const log_line& line, const log_request& asked) {
  return line.level >= asked.level
         && (asked.run.empty() || line.run == asked.run)
         && (asked.daemon.empty() || line.daemon == asked.daemon);
}

/// It keeps fields, and no text of lines: there is nothing to format or flush.
class ring_keeper final : public spdlog::sinks::sink {
public:
  ring_keeper(std::shared_ptr<log_ring> to, std::string daemon, std::string run)
    : to_(std::move(to)), daemon_(std::move(daemon)), run_(std::move(run)) {}

  void log(const spdlog::details::log_msg& message) override {
    auto line = line_of(message, daemon_);
    if (!run_.empty()) {
      line.run = run_;
      line.module = "run";
    }
    to_->add(std::move(line));
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

private:
  std::shared_ptr<log_ring> to_;
  std::string daemon_;
  std::string run_; ///< Empty: what the logger says.
};

} // namespace

void log_ring::begin(std::uint64_t first) {
  const std::lock_guard lock{mutex_};
  next_ = first + (next_ - begin_);
  begin_ = first;
}

void log_ring::add(log_line line) {
  const std::lock_guard lock{mutex_};
  keep(std::move(line));
}

void log_ring::add_all(std::vector<log_line> lines) {
  const std::lock_guard lock{mutex_};
  for (auto& line : lines)
    keep(std::move(line));
}

/// @pre the mutex is held
void log_ring::keep(log_line line) {
  bytes_ += line.bytes();
  lines_.push_back(std::move(line));
  ++next_;
  for (; bytes_ > most_ && lines_.size() > 1; lines_.pop_front())
    bytes_ -= lines_.front().bytes();
}

log_reply log_ring::since(const log_request& asked) const {
  const std::lock_guard lock{mutex_};
  const auto oldest = next_ - lines_.size();
  const auto known = asked.after >= begin_ && asked.after <= next_;
  const auto from = known ? std::max(asked.after, oldest) : oldest;
  log_reply out;
  // Who asks for the first time has missed nothing that was promised.
  if (known && asked.after != 0 && asked.after < oldest)
    out.missing = oldest - asked.after;
  std::size_t bytes = 0;
  const auto until = std::min(next_, from + log_limits::looked_at);
  auto at = from;
  for (; at < until; ++at) {
    const auto& line = lines_[static_cast<std::size_t>(at - oldest)];
    if (!is_wanted(line, asked))
      continue;
    if (out.lines.size() == log_limits::lines || bytes >= log_limits::answer)
      break;
    bytes += line.bytes();
    out.lines.push_back(line);
  }
  out.next = at;
  out.more = at < next_;
  return out;
}

spdlog::sink_ptr ring_sink(std::shared_ptr<log_ring> to, std::string daemon,
                           std::string run) {
  return std::make_shared<ring_keeper>(std::move(to), std::move(daemon),
                                       std::move(run));
}

} // namespace graphmill
