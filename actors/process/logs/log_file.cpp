#include "actors/process/logs/log_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace graphmill {

void log_file::write(std::string_view lines) {
  std::string whole;
  if (missing_ > 0)
    whole = with_.notice(missing_);
  whole += lines;
  if (const auto done = with_.file.append(whole); !done) {
    missing_ += static_cast<std::size_t>(std::ranges::count(lines, '\n'));
    if (!std::exchange(broken_, true))
      with_.complain(fmt::format("{}; {}", done.error().message, with_.stops));
    return;
  }
  missing_ = 0;
  if (std::exchange(broken_, false))
    with_.complain(with_.goes_on);
}

} // namespace graphmill
