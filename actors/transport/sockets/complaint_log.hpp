#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace graphmill {

/// Logs what others have done, who must not be able to fill the log: long lines
/// are cut, and of too many lines in a short time some are left out, which the
/// next line says. Used by one thread.
class complaint_log {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::size_t most_complaints = 100; ///< Within `period`.
  static constexpr std::chrono::seconds period{10};
  static constexpr std::size_t most_bytes = 2000; ///< Of a line.

  explicit complaint_log(std::function<void(const std::string&)> log)
    : log_(std::move(log)) {}

  void add(const std::string& sentence, time_point now);

private:
  std::function<void(const std::string&)> log_;
  time_point since_{};
  std::size_t count_ = 0; ///< Since then.
};

} // namespace graphmill
