#include "actors/run/run_reporter.hpp"

#include "actors/base/phase_steps.hpp"
#include "actors/process/say.hpp"
#include "actors/run/class_report.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace graphmill {

namespace {

/// "nan" has a sign on some CPUs, which means nothing.
double without_sign_if_nan(double loss) {
  return std::isnan(loss) ? std::numeric_limits<double>::quiet_NaN() : loss;
}

/// Seconds since 1970.
double wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// What `phase_result::quality` was, by the line of a validation: nothing if it
/// is damaged or was no number.
std::optional<double> quality_in(const nlohmann::json& line) {
  const auto name =
    line.value("metric", nlohmann::json("accuracy")); // Braces make a list.
  if (!name.is_string())
    return std::nullopt;
  const auto metric = metric_called(name.get<std::string>());
  const auto value = line.value(name.get<std::string>(), nlohmann::json{});
  if (!metric || !value.is_number())
    return std::nullopt;
  const auto number = value.get<double>();
  return metric->is_loss() ? -number : number;
}

/// Errors of numbers and ranks may be of any size, other metrics not.
std::string value_text(const metric_choice& of,
                       const std::optional<double>& value) {
  if (!value)
    return "-";
  const auto any_size =
    is_of_values(of.which) || of.which == evaluation_metric::mean_rank;
  return any_size ? fmt::format("{:.4g}", *value)
                  : fmt::format("{:.4f}", *value);
}

std::string value_text(const phase_result& done) {
  return value_text(done.metric, done.value());
}

/// Whether the phase measured links. Their table shows two metrics.
bool is_of_links(const phase_result& done) {
  return done.metric.form == outcome_form::ranks;
}

/// What people see beside the loss: nothing of a training on numbers or links.
std::string measure_text(const phase_result& done) {
  auto out = done.metric.has_accuracy()
               ? fmt::format(", accuracy {:.4f}", done.metrics.accuracy())
               : std::string{};
  if (done.phase == phase::train)
    return out;
  if (done.metric.which != evaluation_metric::loss
      && done.metric.which != evaluation_metric::accuracy && done.value())
    out += format_printable(", {} {}", done.metric.name, value_text(done));
  if (is_of_links(done) && done.value_beside())
    out += fmt::format(", {} {}", done.beside().name,
                       value_text(done.beside(), done.value_beside()));
  return out;
}

/// The same in a table.
std::string shown_measure(const phase_result& done) {
  if (done.metric.has_accuracy())
    return fmt::format("{:.4f}", done.metrics.accuracy());
  return value_text(done);
}

/// How a table calls the metric.
std::string metric_name(const phase_result& done) {
  return done.metric.which == evaluation_metric::loss ? "val. loss"
                                                      : done.metric.name;
}

/// A column of the table between the loss and the learning rate.
struct measure_column {
  std::string title;
  std::string text;
  std::size_t width; ///< At the least.
};

/// Of links the metric and the one beside it. Of others both accuracies or
/// errors, and, beside accuracies, another metric that chooses the best epoch.
std::vector<measure_column>
columns_of(const phase_result& train,
           const std::optional<phase_result>& validation) {
  if (is_of_links(train))
    return {{metric_name(train), validation ? value_text(*validation) : "-", 8},
            {train.beside().name,
             validation ? value_text(train.beside(), validation->value_beside())
                        : "-",
             10}};
  std::vector<measure_column> out{
    {"train", shown_measure(train), 8},
    {"validation", validation ? shown_measure(*validation) : "-", 10}};
  if (train.metric.has_accuracy()
      && train.metric.which != evaluation_metric::accuracy)
    out.push_back(
      {metric_name(train), validation ? value_text(*validation) : "-", 9});
  return out;
}

} // namespace

nlohmann::json metrics_json(const phase_result& done) {
  nlohmann::json out{
    {"phase", to_string(done.phase)},
    {"epoch", done.epoch + 1},
    {"steps", done.steps},
    {"seeds", done.metrics.seeds},
    {"loss", done.metrics.loss()},
    {"learning_rate", done.learning_rate},
    {"seconds", done.seconds},
  };
  if (done.metric.has_accuracy())
    out["accuracy"] = done.metrics.accuracy();
  if (done.classes)
    add_class_metrics(out, *done.classes);
  const auto named = done.metric.which != evaluation_metric::accuracy;
  if (named)
    out["metric"] = done.metric.name;
  if (named && !is_of_values(done.metric.which) && done.phase != phase::train)
    add_metric(out, done);
  return out;
}

std::int32_t epochs_in(const nlohmann::json& lines) {
  std::int32_t out = 0;
  for (const auto& line : lines)
    if (line.value("phase", "") == to_string(phase::train))
      out = std::max(out, epoch_of(line));
  return out;
}

nlohmann::json step_json(const step_result& done) {
  return {
    {"phase", to_string(done.key.phase)},
    {"epoch", done.key.epoch + 1},
    {"step", done.key.step + 1},
    {"rank", done.key.rank},
    {"seeds",
     done.original_seeds ? *done.original_seeds : std::vector<node_id>{}},
    {"labelled", done.metrics.seeds},
    {"loss_sum", done.metrics.loss_sum},
    {"correct", done.metrics.correct},
  };
}

run_observer run_reporter::observer() {
  run_observer out;
  out.on_step = [this](const phase_request& work, std::int64_t done,
                       const batch_metrics&) { on_step(work, done); };
  out.on_phase = [this](const phase_result& done) { return on_phase(done); };
  out.on_record = [this](const step_result& done) { return on_record(done); };
  return out;
}

std::optional<batch_metrics> run_reporter::last(phase which) const {
  return last_[static_cast<std::size_t>(which)];
}

void run_reporter::on_step(const phase_request& work, std::int64_t done) {
  if (!bar_)
    return;
  const auto text = work.phase == phase::train
                      ? fmt::format("train epoch {}", work.epoch + 1)
                    : work_.empty() ? std::string{to_string(work.phase)}
                                    : work_;
  progress now;
  now.phase = text;
  now.done = static_cast<std::uint64_t>(done);
  now.total = static_cast<std::uint64_t>(work.steps);
  bar_(now);
}

/// As `early_stopping` takes it: the first of equals, and no number never.
void run_reporter::note_validation(const nlohmann::json& line, double quality) {
  if (std::isnan(quality) || (best_epoch_ && quality <= best_quality_))
    return;
  best_epoch_ = epoch_of(line);
  best_quality_ = quality;
  best_line_ = line;
}

/// Such an epoch is not chosen, which nobody would see otherwise.
void run_reporter::warn_without_quality(const phase_result& done) {
  if (log_ && done.phase == phase::validation && std::isnan(done.quality()))
    log_->warn(
      "the validation after epoch {} has no {}, so its weights are not kept as "
      "the best ones: a class has no seeds or is never predicted, a score is "
      "not a number, or a trainer has a version that does not report it",
      done.epoch + 1, done.metric.name);
}

result<void> run_reporter::on_phase(const phase_result& done) {
  hide_bar();
  const auto which = static_cast<std::size_t>(done.phase);
  last_[which] = done.metrics;
  auto line = metrics_json(done);
  if (done.phase == phase::test && best_epoch_)
    line["epoch"] = *best_epoch_; // Whose weights are tested.
  if (done.phase == phase::train)
    epochs_ = done.epoch + 1;
  told_[which] = evaluation_json(done);
  if (done.phase != phase::train)
    for (auto* to : {&line, &told_[which]})
      add_threshold_of(*to, done);
  if (done.phase == phase::validation)
    note_validation(line, done.quality());
  warn_without_quality(done);
  if (table_ != nullptr)
    print_row(done);
  if (log_)
    log_->info("{} epoch {}: loss {:.4f}{}, {} in {:.2f} s",
               to_string(done.phase), epoch_of(line),
               without_sign_if_nan(done.metrics.loss()), measure_text(done),
               pluralized(done.steps, "step"), done.seconds);
  if (folder_ != nullptr) {
    line["ended"] = wall_time();
    GRAPHMILL_TRYV(folder_->add_metrics(line));
    tell_events(line);
  }
  return ok();
}

/// A test takes the threshold that was tuned in the best epoch, if there is
/// one.
void run_reporter::add_threshold_of(nlohmann::json& to,
                                    const phase_result& done) const {
  if (done.phase == phase::validation || !done.threshold
      || done.threshold->fixed) {
    add_threshold(to, done);
    return;
  }
  const auto tuned = best_line_.is_object()
                       ? best_line_.value("threshold", nlohmann::json{})
                       : nlohmann::json{};
  if (tuned.is_number())
    add_threshold(to, done, tuned.get<double>());
}

/// A copy of the metrics: the run does not end for it.
void run_reporter::tell_events(const nlohmann::json& line) {
  const auto told = folder_->add_events(line);
  if (!told && !events_fail_ && log_)
    log_->warn("the curves for TensorBoard lack the last epoch: {}. Training "
               "goes on; the next successful write completes them",
               told.error().message);
  events_fail_ = !told;
}

void run_reporter::go_on_after(const nlohmann::json& lines) {
  last_ = {};
  told_ = {};
  epochs_ = epochs_in(lines);
  best_epoch_.reset();
  best_line_ = nullptr;
  for (const auto& line : lines) {
    const auto which = line.value("phase", "");
    const auto seeds = integer_of(line.value("seeds", nlohmann::json{}));
    const auto accuracy = line.value("accuracy", nlohmann::json{});
    // Numbers and links have none, and always name their metric.
    const auto without = line.contains("metric") && !line.contains("accuracy");
    if (which != to_string(phase::validation) || !seeds
        || !(without || accuracy.is_number()))
      continue;
    if (const auto quality = quality_in(line))
      note_validation(line, *quality);
    if (without)
      continue;
    batch_metrics told;
    told.seeds = *seeds;
    told.correct = std::llround(accuracy.get<double>() * double(*seeds));
    last_[static_cast<std::size_t>(phase::validation)] = told;
  }
}

result<void> run_reporter::on_record(const step_result& done) {
  return folder_ == nullptr ? ok() : folder_->add_step(step_json(done));
}

void run_reporter::print_row(const phase_result& done) {
  if (done.phase == phase::train) {
    flush_row();
    training_ = done;
    if (!std::isfinite(done.metrics.loss())) // The run ends with this row.
      flush_row();
    return;
  }
  if (done.phase == phase::test) {
    flush_row();
    return;
  }
  flush_row(done);
}

/// Prints the training row that waits, with its validation if there is one.
void run_reporter::flush_row(const std::optional<phase_result>& validation) {
  if (!training_)
    return;
  const auto train = *std::exchange(training_, std::nullopt);
  std::string titles;
  std::string texts;
  for (const auto& [title, text, least] : columns_of(train, validation)) {
    const auto width = std::max(title.size(), least);
    titles += format_printable("  {:>{}}", title, width);
    texts += format_printable("  {:>{}}", text, width);
  }
  if (!std::exchange(header_, true))
    say(table_, "\n{:>5}  {:>10}{}  {:>13}  {:>8}\n", "epoch", "loss", titles,
        "learning rate", "s");
  say(table_, "{:>5}  {:>10.4f}{}  {:>13.3g}  {:>8.2f}\n", train.epoch + 1,
      without_sign_if_nan(train.metrics.loss()), texts, train.learning_rate,
      train.seconds + (validation ? validation->seconds : 0));
  std::fflush(table_);
}

} // namespace graphmill
