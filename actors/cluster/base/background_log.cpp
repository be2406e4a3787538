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
  : most_(most), writer_(std::make_unique<writer>(std::move(file))) {}

background_log::~background_log() {
  const auto done = std::make_shared<std::promise<void>>();
  auto written = done->get_future();
  writer_->thread.post([done] { done->set_value(); }, [](const error&) {});
  if (written.wait_for(last_moment) != std::future_status::ready)
    (void)writer_.release();
}

void background_log::write(std::string text, std::size_t lines) {
  const std::lock_guard lock{mutex_};
  auto& to = *writer_;
  if (to.thread.waiting() >= most_) {
    missed_ += lines;
    return;
  }
  to.thread.post(
    [&to, text = std::move(text), missed = missed_] {
      to.file.miss(missed);
      to.file.write(text);
      to.is_short_of_memory = false;
    },
    [&to, lines](const error& reason) {
      to.file.miss(lines);
      // To complain may be to write again.
      if (!std::exchange(to.is_short_of_memory, true))
        to.complain(reason.message);
    });
  missed_ = 0;
}

void background_log::miss(std::size_t lines) {
  const std::lock_guard lock{mutex_};
  missed_ += lines;
}

} // namespace graphmill
