#include "actors/cluster/base/chaos_tool.hpp"

#include "actors/process/self_stop.hpp"
#include "messages/base/moments.hpp"
#include "partition/files/full_disk.hpp"

#include <spdlog/logger.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

/// The answer leaves before harm is done, also where others have the
/// processors; later, if messages are held back.
constexpr std::chrono::milliseconds until_answered{300};

link_fault fault_of(const chaos_request& asked) {
  const auto what = asked.kind == chaos_kind::cut ? link_fault::kind::cut
                    : asked.kind == chaos_kind::delay
                      ? link_fault::kind::delay
                      : link_fault::kind::corrupt;
  return {what, asked.peer, asked.each, asked.lasts, asked.messages};
}

void act(const chaos_tool::settings& on, const chaos_request& asked) {
  on.log->warn("chaos: {}", sentence_of(asked));
  switch (asked.kind) {
  case chaos_kind::kill:
    on.log->flush(); // Nobody could say afterwards who has done it.
    ::kill(::getpid(), SIGKILL);
    break;
  case chaos_kind::stop:
    if (auto done = stop_this_process(asked.lasts); !done)
      on.log->warn("chaos: {}", done.error().message);
    break;
  case chaos_kind::delay:
  case chaos_kind::cut:
  case chaos_kind::corrupt:
    on.net->disturb(fault_of(asked));
    break;
  case chaos_kind::disk:
    fill_disk(on.state, std::chrono::steady_clock::now() + asked.lasts);
    break;
  }
}

/// What is thrown at a moment must not reach whoever is there.
void act_safely(const chaos_tool::settings& on, const chaos_request& asked) {
  try {
    act(on, asked);
  } catch (...) { // No memory, even for a line in the log.
  }
}

} // namespace

chaos_tool::chaos_tool(settings with) : with_(std::move(with)) {
  watch_moments();
}

chaos_tool::~chaos_tool() {
  thread_.reset(); // It may be about to wait for a moment.
  forget_moments();
}

void chaos_tool::carry_out_at(clock::time_point when,
                              std::function<void()> job) {
  thread_->post(
    [when, job = std::move(job)] {
      std::this_thread::sleep_until(when);
      job();
    },
    [](const error&) {});
}

void chaos_tool::inflict(const chaos_request& asked) {
  auto run = [on = with_, asked] { act_safely(on, asked); };
  const auto now = clock::now();
  const auto pause =
    until_answered
    + (now < held_until_ ? held_for_ : std::chrono::milliseconds{0});
  if (asked.kind == chaos_kind::delay) {
    held_until_ = std::max(held_until_, now + pause + asked.wait + asked.lasts);
    held_for_ = std::max(held_for_, asked.each);
  }
  if (asked.at == moment::at_once) {
    carry_out_at(now + pause, std::move(run));
    return;
  }
  with_.log->info("chaos is to come, within {} ms: {}", asked.wait.count(),
                  sentence_of(asked));
  // Whoever asks would not learn that the daemon dies when its moment comes.
  if (asked.kind == chaos_kind::kill)
    carry_out_at(now + pause,
                 [run = std::move(run), at = asked.at,
                  until = now + asked.wait] { await_moment(at, run, until); });
  else
    await_moment(asked.at, std::move(run), now + asked.wait);
}

error refuse_chaos(const std::string& daemon) {
  return fail(ec::permission,
              "daemon \"{}\" does not allow chaos: start it with `graphmill "
              "node --chaos-allowed`",
              daemon);
}

} // namespace graphmill
