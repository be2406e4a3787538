#include "actors/cluster/base/background_log.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <utility>

namespace graphmill {

namespace {

/// What waits at the end of the process is given that long to be written.
constexpr std::chrono::seconds last_moment{2};

} // namespace

background_log::background_log(log_file::setting file, std::size_t most)
  : complain_(file.complain), most_(most), file_(std::move(file)) {}

background_log::~background_log() {
  // It may be waited for no longer than this: the disk may be stuck.
  const auto done = std::make_shared<std::promise<void>>();
  auto written = done->get_future();
  thread_.post([done] { done->set_value(); }, [](const error&) {});
  (void)written.wait_for(last_moment);
}

void background_log::write(std::string text, std::size_t lines) {
  const std::lock_guard lock{mutex_};
  if (thread_.waiting() >= most_) {
    dropped_ += lines;
    return;
  }
  thread_.post(
    [this, text = std::move(text), dropped = std::exchange(dropped_, 0)] {
      file_.miss(dropped);
      file_.write(text);
    },
    [this](const error& reason) { complain_(reason.message); });
}

} // namespace graphmill
