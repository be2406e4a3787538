#pragma once

#include "actors/launch/output_tail.hpp"
#include "messages/base/error.hpp"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// A program to start.
struct process_command {
  std::string name;                   ///< For people.
  std::vector<std::string> arguments; ///< The first: a path, or found by PATH.
  /// Environment variables that it does not get, by name.
  std::span<const char* const> hidden{};
};

/// A child process in a process group of its own, so that Ctrl-C does not reach
/// it. It is killed when its parent ends, however that ends. The end of
/// what it prints is kept for errors. To be used on the thread that started it:
/// when that thread ends, the kernel kills the child.
class child_process {
public:
  static result<child_process> start(process_command command);

  /// Kills it, if it still runs.
  ~child_process();
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;

  const std::string& name() const { return name_; }
  pid_t id() const { return id_; }

  /// Whether it still runs.
  bool running();

  /// To be called after its end: says how it ended, and what it printed last.
  error obituary() const;

  /// After its end: how that came, as in "daemon-1 was ended by signal 9".
  std::string end_text() const;

  /// After its end: whether it ended as one that was told to, with code 0.
  bool ended_well() const;

  /// The last whole lines of what it printed.
  std::string last_words() const;

  void signal(int number);

private:
  child_process() = default;

  std::string name_;
  pid_t id_ = -1; ///< -1: gone.
  int status_ = 0;
  std::unique_ptr<output_tail> output_;
};

/// Ends children: waits for them to end by themselves, then asks, then kills.
/// @param patience For each of the first two.
/// @returns whether all ended by themselves.
bool end_all(std::vector<child_process>& children,
             std::chrono::milliseconds patience);

} // namespace graphmill
