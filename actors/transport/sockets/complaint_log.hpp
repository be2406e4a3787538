#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace graphmill {

/// Logs what others have done, who must not be able to fill the log. Long lines
/// are cut. Of sentences that differ in numbers alone, such as those of refused
/// connections, the first few within a period are logged, and how many came
/// beside them is said at its end. Those that go on in the next period are only
/// counted there, until one has gone by without them. Of too many kinds, some
/// are left out. Used by one thread.
class complaint_log {
public:
  using time_point = std::chrono::steady_clock::time_point;

  static constexpr std::size_t most_kinds = 100; ///< Within `period`.
  static constexpr std::size_t most_alike = 3;   ///< Lines of a kind.
  static constexpr std::chrono::seconds period{10};
  static constexpr std::size_t most_bytes = 2000; ///< Of a line.

  /// @param kinds That are told of within `period`.
  explicit complaint_log(std::function<void(const std::string&)> log,
                         std::size_t kinds = most_kinds)
    : log_(std::move(log)), kinds_told_(kinds) {}

  void add(const std::string& sentence, time_point now);

  /// The same for sentences that are alike if their `kind` is the same,
  /// whatever else they say: where names count, which may differ in numbers
  /// alone.
  void add(std::string kind, const std::string& sentence, time_point now);

  /// Says what a period that is over has kept back. To be called now and then:
  /// else it is said with the next complaint.
  void look(time_point now);

private:
  struct kind {
    std::string last; ///< As it was logged.
    std::size_t count = 0;
  };

  std::function<void(const std::string&)> log_;
  std::size_t kinds_told_;
  time_point since_{};
  std::map<std::string, kind> kinds_; ///< Since then, or before; by sentence.
  std::size_t left_out_ = 0;          ///< Of other kinds.
};

} // namespace graphmill
