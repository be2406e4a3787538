#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace graphmill {

/// Logs what others have done, who must not fill the log with it: lines that
/// are long are cut, and of many in a short time some are left out, which a
/// line says. For one thread.
class complaint_log {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::size_t most_complaints = 100; ///< Within a period,
  static constexpr std::chrono::seconds period{10};   ///< which is so long.
  static constexpr std::size_t most_bytes = 2000;     ///< Of a line.

  explicit complaint_log(std::function<void(const std::string&)> log)
    : log_(std::move(log)) {}

  void add(const std::string& sentence, time_point now);

private:
  std::function<void(const std::string&)> log_;
  time_point since_{};
  std::size_t count_ = 0; ///< Since then.
};

} // namespace graphmill
