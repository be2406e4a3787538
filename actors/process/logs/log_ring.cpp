#include "actors/process/logs/log_ring.hpp"

#include "actors/process/logs/log_lines.hpp"

#include <spdlog/logger.h>

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

/// What is thrown, for want of memory, leaves the ring as it was. @pre the
/// mutex is held
void log_ring::keep(log_line line) {
  const auto bytes = line.bytes();
  std::map<std::uint64_t, log_line> made;
  const auto& kept = made.emplace(added_, std::move(line)).first->second;
  auto& of = shares_[kept.daemon];
  of.numbers.push_back(added_);
  lines_.merge(made); // Which takes no memory, as nothing from here on.
  ++added_;
  of.bytes += bytes;
  bytes_ += bytes;
  while (bytes_ > most_ && lines_.size() > 1)
    forget_one();
}

/// @pre the mutex is held, and there are two lines at least
void log_ring::forget_one() {
  auto most = shares_.end();
  for (auto one = shares_.begin(); one != shares_.end(); ++one) {
    if (one->second.numbers.empty())
      continue; // There was no memory for its only line.
    const auto oldest = one->second.numbers.front();
    if (oldest + 1 == added_)
      continue; // It has the last line alone, which stays.
    if (most == shares_.end() || one->second.bytes > most->second.bytes
        || (one->second.bytes == most->second.bytes
            && oldest < most->second.numbers.front()))
      most = one;
  }
  auto& of = most->second;
  const auto line = lines_.find(of.numbers.front());
  const auto bytes = line->second.bytes();
  lines_.erase(line);
  bytes_ -= bytes;
  of.bytes -= bytes;
  of.numbers.pop_front();
  if (of.numbers.empty())
    shares_.erase(most);
}

log_reply log_ring::since(const log_request& asked) const {
  const std::lock_guard lock{mutex_};
  const auto known = asked.after >= begin_ && asked.after - begin_ <= added_;
  auto at = known ? lines_.lower_bound(asked.after - begin_) : lines_.begin();
  const auto number_at = [this, &at] {
    return at == lines_.end() ? added_ : at->first;
  };
  // Who asks for the first time has missed nothing that was promised.
  const auto from =
    known && asked.after != 0 ? asked.after - begin_ : number_at();
  log_reply out;
  out.anew = !known && asked.after != 0;
  std::size_t bytes = 0;
  std::uint64_t looked_at = 0;
  for (; at != lines_.end() && looked_at < log_limits::looked_at;
       ++at, ++looked_at) {
    const auto& line = at->second;
    if (!is_wanted(line, asked))
      continue;
    if (out.lines.size() == log_limits::lines || bytes >= log_limits::answer)
      break;
    bytes += line.bytes();
    out.lines.push_back(line);
  }
  const auto next = number_at();
  out.missing = next - from - looked_at;
  out.next = begin_ + next;
  out.more = next < added_;
  return out;
}

spdlog::sink_ptr ring_sink(std::shared_ptr<log_ring> to, std::string daemon,
                           std::string run) {
  return std::make_shared<ring_keeper>(std::move(to), std::move(daemon),
                                       std::move(run));
}

} // namespace graphmill
