#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace graphmill {

/// The end of what a process prints. A thread reads the pipe that the process
/// writes to and keeps the last `kept_bytes`, so that the process never waits
/// for us, and nothing grows however much it prints.
class output_tail {
public:
  static constexpr std::size_t kept_bytes = 4096;

  static result<std::unique_ptr<output_tail>> open();
  ~output_tail();
  output_tail(const output_tail&) = delete;
  output_tail& operator=(const output_tail&) = delete;

  /// Where the process is to write; -1 after `begin`.
  int write_end() const { return write_end_.get(); }

  /// Begins to read. To be called once, when the process has been started.
  void begin();

  /// What is kept by now.
  std::string text() const;

  /// Waits until all writers are gone and all is read.
  bool wait_for_end(std::chrono::milliseconds patience) const;

private:
  output_tail() = default;
  void read();
  void keep(std::string_view more);

  unique_fd read_end_;
  unique_fd write_end_;
  unique_fd stop_; ///< An event: the thread is to end.
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::string kept_;
  bool ended_ = false;
  std::thread thread_;
};

} // namespace graphmill
