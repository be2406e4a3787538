#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"

#include <spdlog/logger.h>

#include <utility>

// What a coordinator leaves for whoever asks over HTTP.

namespace graphmill {

namespace {

/// Of former times; more are listed by `graphmill runs`.
constexpr std::uint32_t recalled_runs = 100;

} // namespace

/// Without paths, which may be in what the log says.
std::string coordinator::not_ready() const {
  if (superseded_)
    return "another coordinator leads the cluster";
  if (ending_)
    return "the coordinator is ending";
  if (records_.failure())
    return "what becomes of runs cannot be written to disk";
  return {};
}

void coordinator::leave_figures(clock::time_point now) {
  if (!config_.figures || now < leave_figures_)
    return;
  leave_figures_ = now + timeouts::figures;
  look_at_disk(now);
  cluster_figures out;
  out.taken = now_unix();
  out.unready = not_ready();
  out.address = calls_.net().self().address;
  out.status = status();
  out.over = over_;
  out.disk_free = disk_->free;
  out.disk_size = disk_->size;
  out.several = config_.runs_at_once > 1;
  for (const auto& run : active_.all()) {
    out.runs.push_back({run->record.name, run->attempt, run->record.started,
                        run->health.tell_all(now)});
    if (auto limit =
          run->health.change_of_limit(out.runs.back().health.verdict, now))
      tell(event_kind::limit, {}, std::move(*limit), run->id);
    if (auto news =
          run->health.change_of_silence(out.runs.back().health.silent, now))
      tell(event_kind::trouble, std::move(news->who), std::move(news->text),
           run->id);
  }
  if (config_.feed)
    config_.feed->sample(out);
  for (auto& run : out.runs)
    cut_to_answer(run.health);
  config_.figures->leave(std::move(out));
}

/// On the thread for files: a disk far away may not answer.
void coordinator::look_at_disk(clock::time_point now) {
  if (now < look_at_disk_ || disk_->is_looked_at.exchange(true))
    return;
  look_at_disk_ = now + timeouts::disk_look;
  thread_.post(
    [disk = disk_, folder = config_.runs] {
      std::error_code failed;
      const auto space = std::filesystem::space(folder, failed);
      disk->free = failed ? 0 : space.available;
      disk->size = failed ? 0 : space.capacity;
      disk->is_looked_at = false;
    },
    [disk = disk_](const error&) { disk->is_looked_at = false; });
}

/// What became of runs before this coordinator. Called while it is made.
void coordinator::recall_runs() {
  if (!config_.feed)
    return;
  const auto known = config_.history->list(recalled_runs);
  if (!known) {
    config_.log->warn("{}", known.error().message);
    return;
  }
  config_.feed->recall({known.value().runs, known.value().more});
}

void coordinator::tell_of(const run_record& run) {
  if (config_.feed)
    config_.feed->note(run, now_unix());
}

/// An event of a daemon, or of a run, or of neither.
void coordinator::tell(event_kind kind, const std::string& daemon,
                       std::string text, const std::string& run) {
  if (config_.feed)
    config_.feed->tell({.time = now_unix(),
                        .kind = kind,
                        .who = daemon,
                        .run = run,
                        .text = std::move(text)});
}

/// The same to each run that needs the daemon, which has it among its own
/// events then, or else without a run.
void coordinator::tell_runs(event_kind kind, const std::string& daemon,
                            const std::string& text) {
  auto is_told = false;
  for (const auto& run : active_.all())
    if (run->needs(daemon)) {
      tell(kind, daemon, text, run->id);
      is_told = true;
    }
  if (!is_told)
    tell(kind, daemon, text);
}

/// An event of a daemon that comes or goes, in the log, too. @param what Behind
/// its name.
void coordinator::tell_coming(event_kind kind, const std::string& daemon,
                              const std::string& what) {
  const auto text = fmt::format("daemon {} {}", daemon, what);
  comings_.add(fmt::format("{} {}", to_string(kind), daemon), text,
               clock::now());
  tell(kind, daemon, text);
}

std::function<void(const std::string&)>
checkpoint_teller(const std::shared_ptr<cluster_feed>& feed,
                  const std::string& run) {
  if (!feed)
    return {};
  return [feed, run, quiet = coordinator::clock::time_point{}](
           const std::string& name) mutable {
    if (coordinator::clock::now() < quiet)
      return;
    quiet = coordinator::clock::now() + timeouts::checkpoints_told;
    feed->tell({.time = now_unix(),
                .kind = event_kind::checkpoint,
                .run = run,
                .text = fmt::format("checkpoint {} is written", name)});
  };
}

} // namespace graphmill
