#include "actors/commands/top/top_asker.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/commands/text/run_watcher.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "messages/base/caught.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "pipelines/figures/status_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace graphmill {

namespace {

/// Pages of a run's news that are read in one round: what there is beyond
/// comes a second later.
constexpr int most_news_pages = 16;
/// The same of a log, of which the coordinator looks at 16,384 lines for each.
constexpr int most_log_pages = 64;

/// What is left of a run that is over, in lines.
std::string result_of(const run_record& run) {
  const auto summary = summary_json(run);
  if (!is_over(run.state) || summary.is_null())
    return {};
  auto out = result_text(summary);
  const auto sizes = sizes_in(summary.value("sizes", nlohmann::json{}));
  if (!sizes || sizes->empty())
    return out;
  if (sizes->size() == 1)
    return out + fmt::format("trainers         {}\n", sizes->front().replicas);
  return out
         + fmt::format("trainers         {} (after epochs/steps)\n",
                       sizes_text(*sizes));
}

} // namespace

top_asker::top_asker(cluster_client client, std::string run,
                     std::stop_source stop)
  : client_(std::move(client)), stop_(std::move(stop)),
    published_(std::make_shared<const state>()), looked_at_(std::move(run)),
    thread_([this] { work(); }) {}

top_asker::~top_asker() {
  stop_.request_stop();
}

std::shared_ptr<const top_asker::state> top_asker::now() const {
  const std::lock_guard lock{mutex_};
  return published_;
}

bool top_asker::carry_out(const top_command& command) {
  const std::lock_guard lock{mutex_};
  if (waiting_)
    return false;
  waiting_ = command;
  changed_.notify_all();
  return true;
}

void top_asker::follow(const std::optional<top_log>& log) {
  const std::lock_guard lock{mutex_};
  if (followed_ == log)
    return;
  followed_ = log;
  hurries_ = true;
  changed_.notify_all();
}

void top_asker::look_at(const std::string& run) {
  const std::lock_guard lock{mutex_};
  if (looked_at_ == run)
    return;
  looked_at_ = run;
  hurries_ = true;
  changed_.notify_all();
}

void top_asker::work() {
  const auto stop = stop_.get_token();
  while (!stop.stop_requested()) {
    try {
      if (const auto command = next_command()) {
        known_.outcome = outcome_of(*command);
        ++known_.outcomes;
      }
      conclude_round(ask());
    } catch (...) { // Memory has run out, most likely: the screen must stay.
      quietly([this] { conclude_round(caught("ask the coordinator")); });
    }
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop, timeouts::health_report,
                      [this] { return waiting_.has_value() || hurries_; });
  }
}

void top_asker::conclude_round(const result<void>& asked) {
  known_.data.address = client_.address();
  known_.data.trouble = asked ? std::string{} : asked.error().message;
  known_.failure.reset();
  if (asked)
    known_.answered = clock::now();
  else
    known_.failure = asked.error();
  ++known_.rounds;
  publish();
}

std::optional<top_command> top_asker::next_command() {
  const std::lock_guard lock{mutex_};
  hurries_ = false;
  run_ = looked_at_;
  return std::exchange(waiting_, std::nullopt);
}

/// Who may not do it is told so by the coordinator, in its words.
std::string top_asker::outcome_of(const top_command& command) {
  const auto& name = command.name;
  switch (command.what) {
  case top_command::kind::drain: {
    const auto done = client_.drain({name, false});
    return done ? fmt::format("daemon {} takes no part in new runs", name)
                : fmt::format("daemon {} is not drained: {}", name,
                              done.error().message);
  }
  case top_command::kind::serve_again: {
    const auto done = client_.drain({name, true});
    return done ? fmt::format("daemon {} takes part in new runs again", name)
                : fmt::format("daemon {} is not taken into service: {}", name,
                              done.error().message);
  }
  default: {
    const auto done = client_.cancel({name, false});
    const auto& run = known_.data.run;
    const auto waits =
      run && run->id == name && run->state == run_state::queued;
    return done ? fmt::format("run {} {}", name,
                              waits ? "leaves the queue"
                                    : "ends after this step, with the weights "
                                      "so far")
                : fmt::format("run {} is not cancelled: {}", name,
                              done.error().message);
  }
  }
}

result<void> top_asker::ask() {
  auto& data = known_.data;
  GRAPHMILL_TRY(data.cluster, client_.status());
  GRAPHMILL_TRYV(ask_for_log());
  auto run = ask_for_run();
  if (!run && run.error().code == ec::not_found && run_.empty()) {
    forget_run(); // There has been none yet, or it is not remembered any more.
    return ok();
  }
  if (!run)
    return std::move(run).error();
  if (!data.run || data.run->id != run.value().id)
    forget_run();
  data.run = std::move(run).value();
  data.result = result_of(*data.run);
  GRAPHMILL_TRYV(ask_for_health());
  return ask_for_news();
}

void top_asker::forget_run() {
  auto& data = known_.data;
  data.run.reset();
  data.health.reset();
  data.result.clear();
  data.rates.clear();
  data.losses.clear();
  data.validations.clear();
  data.metric = "accuracy";
  cursor_ = 0;
  all_told_ = false;
}

/// Of the run that the user wants to see. Without a wish the one that was on
/// last stays, until another one is.
result<run_record> top_asker::ask_for_run() {
  const auto& data = known_.data;
  if (!run_.empty())
    return client_.run(run_);
  if (!data.cluster->running.empty())
    return client_.run(data.cluster->running);
  return client_.run(data.run ? data.run->id : std::string{});
}

result<void> top_asker::ask_for_health() {
  auto& data = known_.data;
  if (data.run->state != run_state::running) {
    data.health.reset();
    return ok();
  }
  auto health = client_.health({data.run->id, {}});
  if (!health && health.error().code == ec::not_found) {
    data.health.reset(); // It has just ended.
    return ok();
  }
  if (!health)
    return std::move(health).error();
  data.health = std::move(health).value();
  if (data.health->progress)
    remember_value(data.rates, data.health->progress->seeds_per_second);
  return ok();
}

/// Phases of the run that have ended since the last round.
result<void> top_asker::ask_for_news() {
  auto& data = known_.data;
  for (int page = 0; page < most_news_pages && !all_told_; ++page) {
    GRAPHMILL_TRY(const auto news, client_.watch({data.run->id, cursor_, {}}));
    if (!news.events.empty() && news.next <= cursor_)
      return fail(ec::invalid_data,
                  "the coordinator sent news before {} once more", cursor_);
    cursor_ = news.next;
    for (const auto& event : news.events) {
      if (event.metrics.empty())
        continue;
      GRAPHMILL_TRY(const auto done, read_metrics(event.metrics));
      if (done.phase == phase::train)
        remember_value(data.losses, done.metrics.loss());
      else if (const auto value = done.value();
               value && done.phase == phase::validation) {
        data.metric = done.metric.name;
        remember_value(data.validations, *value);
      }
    }
    all_told_ = is_over(news.record.state) && news.events.empty();
    if (news.events.empty())
      break;
  }
  return ok();
}

/// What is new of the log that is followed. There may be more than a round
/// reads: the next one goes on.
result<void> top_asker::ask_for_log() {
  auto& data = known_.data;
  {
    const std::lock_guard lock{mutex_};
    if (data.followed != followed_) {
      data.followed = followed_;
      data.log.clear();
      log_cursor_ = 0;
    }
  }
  if (!data.followed)
    return ok();
  for (int page = 0; page < most_log_pages; ++page) {
    log_request asked{.after = log_cursor_,
                      .run = data.followed->run,
                      .daemon = data.followed->daemon};
    GRAPHMILL_TRY(auto news, client_.logs(asked));
    if (news.anew) // Another coordinator has all of them to tell.
      data.log.clear();
    std::ranges::move(news.lines, std::back_inserter(data.log));
    if (data.log.size() > most_top_lines)
      data.log.erase(data.log.begin(),
                     data.log.end()
                       - static_cast<std::ptrdiff_t>(most_top_lines));
    const auto stands = news.next == log_cursor_;
    log_cursor_ = news.next;
    if (!news.more || stands)
      break;
  }
  return ok();
}

void top_asker::publish() {
  auto copy = std::make_shared<const state>(known_);
  const std::lock_guard lock{mutex_};
  published_ = std::move(copy);
}

} // namespace graphmill
