#include "actors/run/checkpoints/checkpoint_writer.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/process/processors.hpp"
#include "messages/base/pluralized.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

checkpoint_writer::checkpoint_writer(setting how) : how_(std::move(how)) {
  // A copy of the parameters is worth a few milliseconds of a processor, which
  // training would miss where there are few.
  thread_.post(give_way_to_training, [](const error&) {});
}

bool checkpoint_writer::begin(bool last) {
  const std::lock_guard lock{mutex_};
  if (waiting_ == 0 || last)
    return true;
  if (skipped_++ == 0)
    how_.log->info("a checkpoint is left out, for the one before it is still "
                   "being written; so are others, as long as that is so");
  return false;
}

void checkpoint_writer::write(training_state state, metrics_part metrics) {
  auto made = std::make_shared<checkpoint>(how_.about);
  made->state = std::move(state);
  made->told = std::move(metrics);
  made->seconds += std::chrono::duration<double>(clock::now() - began_).count();
  {
    const std::lock_guard lock{mutex_};
    ++waiting_;
  }
  thread_.post(
    [this, made] {
      write_now(*made);
      done();
    },
    [this](const error& reason) {
      complain(reason.message);
      done();
    });
}

void checkpoint_writer::write_now(const checkpoint& made) {
  const auto began = clock::now();
  const auto written = write_checkpoint(how_.folder, made, how_.keep);
  if (!written) {
    complain(written.error().message);
    return;
  }
  const auto took = std::chrono::duration<double>(clock::now() - began).count();
  const auto name = written.value().filename().string();
  how_.log->info("checkpoint {} is written, in {:.3f} s", name, took);
  if (how_.on_written)
    how_.on_written(name);
  const std::lock_guard lock{mutex_};
  failing_ = false;
}

void checkpoint_writer::missed(const error& reason) {
  complain(reason.message);
}

/// Says what is wrong: to the user once, and of those that follow to the log.
void checkpoint_writer::complain(const std::string& sentence) {
  bool known = false;
  {
    const std::lock_guard lock{mutex_};
    known = std::exchange(failing_, true);
  }
  how_.log->log(known ? spdlog::level::info : spdlog::level::warn,
                "no checkpoint: {}; training goes on, and the checkpoints "
                "before it stay",
                sentence);
}

void checkpoint_writer::done() {
  const std::lock_guard lock{mutex_};
  --waiting_;
  written_.notify_all();
}

void checkpoint_writer::finish() {
  std::unique_lock lock{mutex_};
  if (!written_.wait_for(lock, timeouts::last_checkpoint,
                         [this] { return waiting_ == 0; }))
    how_.log->warn(
      "the last checkpoint is not written after {} s: the disk "
      "does not answer",
      std::chrono::round<std::chrono::seconds>(timeouts::last_checkpoint)
        .count());
  if (skipped_ != 0)
    how_.log->info("{} left out, for the disk was slower than they came",
                   pluralized(skipped_, "checkpoint"));
}

} // namespace graphmill
