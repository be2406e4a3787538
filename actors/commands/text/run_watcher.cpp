#include "actors/commands/text/run_watcher.hpp"

#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/text/summary_text.hpp"
#include "actors/process/say.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/task/task_traits.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <thread>

namespace graphmill {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// How long the coordinator may keep an answer back until there is news.
constexpr auto news_wait = 2s;

/// Before asking again after a failure.
constexpr auto retry_pause = 200ms;

std::optional<phase> phase_named(const std::string& name) {
  for (const auto which : {phase::train, phase::validation, phase::test})
    if (to_string(which) == name)
      return which;
  return {};
}

/// JSON has no number for what diverged: null stands for it.
double read_number(const nlohmann::json& in) {
  return in.is_null() ? std::numeric_limits<double>::quiet_NaN()
                      : in.get<double>();
}

/// By which metric a run goes, and what it came to.
void read_metric(const nlohmann::json& in, phase_result& out) {
  const auto name = in.value("metric", out.metric.name);
  if (auto metric = metric_called(name)) {
    out.metric = *std::move(metric);
    const auto value = in.value(name, nlohmann::json{});
    if (value.is_number() && out.metric.which != evaluation_metric::accuracy)
      out.told = value.get<double>();
  }
  // Some metrics are of classes, and of links, which have no accuracy.
  if (!in.contains("accuracy") && in.contains("metric")
      && task_of(outcome_form::ranks).has(out.metric.which))
    out.metric.form = outcome_form::ranks;
  const auto beside = in.value(out.beside().name, nlohmann::json{});
  if (beside.is_number())
    out.told_beside = beside.get<double>();
}

} // namespace

bool may_pass(const error& reason) {
  return reason.code == ec::unavailable || reason.code == ec::timeout;
}

result<phase_result> read_metrics(const std::string& line) {
  GRAPHMILL_TRY(const auto in,
                parse_json(line, "what the coordinator sent of a phase"));
  try {
    const auto which = phase_named(in.at("phase").get<std::string>());
    if (!which)
      return fail(ec::invalid_data, "news of an unknown phase: {}", line);
    phase_result out;
    out.phase = *which;
    const auto epoch = integer_of(in.at("epoch")).value_or(-1);
    const auto seeds_told = integer_of(in.at("seeds")).value_or(-1);
    if (epoch < 0 || epoch > std::numeric_limits<std::int32_t>::max()
        || seeds_told < 0)
      return fail(ec::invalid_data,
                  "the coordinator sent damaged metrics: epoch {}, seeds {}",
                  in.at("epoch").dump(), in.at("seeds").dump());
    out.epoch = static_cast<std::int32_t>(epoch - 1);
    out.steps = integer_of(in.value("steps", nlohmann::json{})).value_or(0);
    out.metrics.seeds = seeds_told;
    const auto seeds = double(out.metrics.seeds);
    out.metrics.loss_sum = read_number(in.at("loss")) * seeds;
    read_metric(in, out);
    if (out.metric.has_accuracy())
      out.metrics.correct =
        std::llround(in.at("accuracy").get<double>() * seeds);
    out.learning_rate = in.value("learning_rate", 0.0);
    out.seconds = in.value("seconds", 0.0);
    return out;
  } catch (const nlohmann::json::exception& wrong) {
    return fail(ec::invalid_data, "the coordinator sent damaged metrics: {}",
                wrong.what());
  }
}

run_watcher::run_watcher(cluster_client& client, settings with)
  : client_(client), with_(std::move(with)), bar_(show_progress(with_.quiet)),
    reporter_(with_.table, {}, nullptr), observer_(reporter_.observer()) {}

/// Before anything else is printed.
void run_watcher::hide_bar() const {
  if (bar_)
    bar_({});
}

result<void> run_watcher::show(const watch_reply& news) {
  if (news.record.state == run_state::queued && bar_) {
    bar_({"queued"});
    const auto& now = news.record.message;
    if (!now.empty() && now != waits_) {
      hide_bar();
      say(stderr, "graphmill: run {} {}\n", news.record.id, now);
    }
    waits_ = now;
  }
  for (const auto& event : news.events) {
    if (!event.metrics.empty()) {
      GRAPHMILL_TRY(const auto done, read_metrics(event.metrics));
      hide_bar();
      GRAPHMILL_TRYV(observer_.on_phase(done));
    } else if (!event.label.empty() && bar_) {
      bar_({event.label, event.done, event.total});
    }
  }
  return ok();
}

/// Asks for news until there is an answer, or for too long: since the first
/// failure, for before it this process may have been stopped for hours.
result<watch_reply> run_watcher::ask(std::chrono::milliseconds wait) {
  std::optional<clock::time_point> failing;
  for (auto told = false;;) {
    if (with_.check)
      GRAPHMILL_TRYV(with_.check());
    auto got = client_.watch({with_.run, cursor_, wait});
    if (got || !may_pass(got.error()))
      return got;
    const auto now = clock::now();
    const auto since = failing.value_or(now);
    failing = since;
    if (now - since >= with_.patience)
      return got;
    if (!std::exchange(told, true) && !with_.quiet) {
      hide_bar();
      say(stderr, "graphmill: {}; trying again\n", got.error().message);
    }
    std::this_thread::sleep_for(retry_pause);
  }
}

result<run_record> run_watcher::follow() {
  for (auto wait = 0ms;; wait = news_wait) {
    GRAPHMILL_TRY(auto news, ask(wait));
    if (!news.events.empty() && news.next <= cursor_)
      return fail(ec::invalid_data,
                  "the coordinator sent news before {} once more", cursor_);
    cursor_ = news.next;
    GRAPHMILL_TRYV(show(news));
    // What a reply has no room for comes with the next one.
    if (is_over(news.record.state) && news.events.empty()) {
      hide_bar();
      reporter_.end_table();
      return std::move(news.record);
    }
  }
}

namespace {

int say_failed(const run_record& run) {
  std::fflush(stdout);
  say(stderr, "graphmill: run {} failed: {}\n", run.id, run.message);
  return 1;
}

} // namespace

result<int> conclude_run(const run_record& run, bool json, bool quiet) {
  auto parsed = parse_json(run.summary, "a summary");
  auto summary = parsed ? std::move(parsed).value() : nlohmann::json{};
  const auto failed = run.state == run_state::failed;
  if (!summary.is_object()) // It has not begun.
    summary = {{"run", run.id},
               {"error", run.message.empty() ? nlohmann::json()
                                             : nlohmann::json(run.message)}};
  else if (!quiet && !failed)
    say_lines(json ? stderr : stdout, summary_text(summary));
  if (json)
    say("{}\n", one_line(summary));
  if (failed)
    return say_failed(run);
  if (run.state == run_state::cancelled)
    return say_failure(fail(ec::cancelled, "run {} was cancelled{}{}", run.id,
                            run.message.empty() ? "" : ": ", run.message));
  return 0;
}

} // namespace graphmill
