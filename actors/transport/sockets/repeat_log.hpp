#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace graphmill {

/// Logs what happens over and over, as when somebody with another key tries
/// again every second: each sentence at once, and when it comes again, how
/// often, once in a while. Keeps a bounded number of sentences. Has no clock;
/// used by one thread.
class repeat_log {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds period{60};
  static constexpr std::size_t most_sentences = 64;

  explicit repeat_log(std::function<void(const std::string&)> log)
    : log_(std::move(log)) {}

  void add(const std::string& sentence, time_point now);

  /// Tells what has come again, if it is time.
  void tick(time_point now);

  /// When `tick` has something to do.
  time_point next_tick() const;

private:
  struct line {
    time_point since;       ///< When it was last told.
    std::uint64_t more = 0; ///< How often it has come since.
  };

  std::function<void(const std::string&)> log_;
  std::map<std::string, line> lines_;
  line others_; ///< Of sentences for which there was no room.
};

} // namespace graphmill
