#pragma once

#include "actors/process/logs/rotated_file.hpp"
#include "messages/base/error.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

/// Writes lines to a rotated file. While the disk does not take them it tells
/// so once, and nobody is stopped; how many lines are missing is in the file as
/// soon as there is room. Used by one thread.
class log_file {
public:
  struct setting {
    rotated_file file;
    /// A line, with its end, that says how many are missing.
    std::function<std::string(std::size_t)> notice;
    /// Is told when lines cannot be written, and when they can again.
    std::function<void(const std::string&)> complain;
    std::string stops;   ///< Told behind the reason: what is not done now.
    std::string goes_on; ///< What is told when it is done again.
  };
  explicit log_file(setting with) : with_(std::move(with)) {}

  /// Opens the file. For those to whom a path that was mistyped is no disk that
  /// is full; others write without, and are told.
  result<void> open() { return with_.file.append({}); }

  /// Lines were left out before the next that is written.
  void miss(std::size_t lines) { missing_ += lines; }

  /// Appends whole lines.
  void write(std::string_view lines);

private:
  setting with_;
  std::size_t missing_ = 0; ///< Lines that are not in the file.
  bool broken_ = false;     ///< It could not be written the last time.
};

} // namespace graphmill
