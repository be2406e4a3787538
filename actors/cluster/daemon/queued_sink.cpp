#include "actors/cluster/daemon/queued_sink.hpp"

#include "actors/process/logger.hpp"
#include "messages/base/caught.hpp"

#include <spdlog/logger.h>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

/// What may wait; a few thousand lines.
constexpr std::size_t most_bytes = std::size_t{1} << 20;
/// Somebody who reads at all has read the rest by then.
constexpr std::chrono::seconds flush_patience{2};

/// Waits as long as it takes. Whoever has gone away misses nothing.
void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(to, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Another process has made the terminal they share non-blocking.
      pollfd waited{to, POLLOUT, 0};
      ::poll(&waited, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return;
    }
  }
}

} // namespace

/// Shared with the thread, which may outlive the sink.
struct queued_sink::backlog {
  std::mutex mutex;
  std::condition_variable filled;
  std::condition_variable idle;
  std::deque<std::string> lines;
  std::size_t bytes = 0; ///< Of `lines`.
  std::size_t lost = 0;  ///< Lines dropped and not yet told of.
  bool writing = false;
  bool stop = false;

  bool is_done() const { return lines.empty() && !writing; }

  void push(std::string line) {
    {
      const std::lock_guard lock{mutex};
      lines.push_back(std::move(line));
      bytes += lines.back().size(); // Not of one for which there is no room.
      for (; bytes > most_bytes && lines.size() > 1; ++lost)
        take_first();
    }
    filled.notify_one();
  }

  bool await_end() {
    std::unique_lock lock{mutex};
    return idle.wait_for(lock, flush_patience, [this] { return is_done(); });
  }

  void write_lines(const outlet& to) {
    std::unique_lock lock{mutex};
    for (;;) {
      filled.wait(lock, [this] { return stop || !lines.empty(); });
      if (lines.empty())
        return;
      auto text = take_first();
      const auto untold = std::exchange(lost, 0);
      auto written = false;
      writing = true;
      lock.unlock();
      quietly([&text, &to, &written, untold] {
        if (untold > 0)
          text.insert(0, to.notice(untold));
        to.write(text);
        written = true;
      });
      lock.lock();
      writing = false;
      if (!written) // There is no memory for it.
        lost += untold + 1;
      if (is_done())
        idle.notify_all();
    }
  }

private:
  std::string take_first() {
    auto out = std::move(lines.front());
    lines.pop_front();
    bytes -= out.size();
    return out;
  }
};

queued_sink::queued_sink(outlet to)
  : formatter_(line_formatter()), backlog_(std::make_shared<backlog>()),
    thread_(
      [to = std::move(to), lines = backlog_] { lines->write_lines(to); }) {}

std::function<void(std::string_view)> queued_sink::to_console(int descriptor) {
  return [descriptor](std::string_view text) { write_all(descriptor, text); };
}

queued_sink::~queued_sink() {
  const auto written = backlog_->await_end();
  {
    const std::lock_guard lock{backlog_->mutex};
    backlog_->stop = true;
  }
  backlog_->filled.notify_one();
  if (written)
    thread_.join();
  else
    thread_.detach();
}

void queued_sink::log(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  {
    const std::lock_guard lock{formatting_};
    formatter_->format(message, line);
  }
  backlog_->push({line.data(), line.size()});
}

void queued_sink::flush() {
  backlog_->await_end();
}

void queued_sink::set_pattern(const std::string& pattern) {
  set_formatter(line_formatter(pattern));
}

void queued_sink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  const std::lock_guard lock{formatting_};
  formatter_ = std::move(formatter);
}

} // namespace graphmill
