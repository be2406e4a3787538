#include "actors/cluster/coordinator/runs/run_filing.hpp"

#include "actors/cluster/history/run_journal.hpp"
#include "actors/process/logger.hpp"
#include "actors/run/class_report.hpp"
#include "actors/run/member_setup.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/measured_seeds.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;
using run_journal::is_plain_name;

namespace {

nlohmann::json json_of(const work_report& share) {
  return {{"peak_memory_bytes", share.peak_memory_bytes},
          {"cpu_seconds", share.cpu_seconds},
          {"stages", table_json(table_of(share))}};
}

run_state state_of(const saved_run& run, bool cancelled) {
  if (!run.failure)
    return run_state::finished;
  return cancelled && run.failure->code == ec::cancelled ? run_state::cancelled
                                                         : run_state::failed;
}

} // namespace

result<std::shared_ptr<run_file>>
run_file::create(const fs::path& runs, const definition& def,
                 const run_folder::origin& from) {
  GRAPHMILL_TRY(auto folder,
                run_folder::create(runs, def.name, definition_yaml(def), from));
  return std::shared_ptr<run_file>{new run_file{std::move(folder)}};
}

result<std::shared_ptr<run_file>> run_file::reopen(const fs::path& runs,
                                                   const std::string& id) {
  GRAPHMILL_TRY(auto folder, run_folder::reopen(runs / id));
  std::shared_ptr<run_file> out{new run_file{std::move(folder)}};
  out->read_metrics();
  out->sizes_ = out->folder_.read_sizes();
  return out;
}

/// What cannot be read was not told.
void run_file::read_metrics() {
  const auto lines = folder_.metrics().read();
  for (const auto& line : lines)
    if (const auto took = line.value("seconds", nlohmann::json{});
        took.is_number())
      seconds_before_ += took.get<double>();
  reporter_.go_on_after(lines);
}

/// The lines of the first epochs that are on disk, an array.
nlohmann::json run_file::lines_of(std::int32_t epochs) const {
  auto out = nlohmann::json::array();
  folder_.metrics().each([&out, epochs](nlohmann::json line) {
    if (epoch_of(line) <= epochs && line["phase"] != to_string(phase::test))
      out.push_back(std::move(line));
  });
  return out;
}

std::deque<std::string> run_file::last_lines(std::size_t most) const {
  std::deque<std::string> out;
  folder_.metrics().each([&out, most](const nlohmann::json& line) {
    out.push_back(line.dump());
    if (out.size() > most)
      out.pop_front();
  });
  return out;
}

bool run_file::has_checkpoints() const {
  return !checkpoints_in(folder_.checkpoints()).empty();
}

result<void> run_file::begin_anew(const definition& def) {
  return folder_.go_back(nlohmann::json::array(), {}, definition_yaml(def));
}

result<void> run_file::go_on_from(const checkpoint& before,
                                  const definition& def, bool stays) {
  seconds_before_ = before.seconds;
  if (def.trainer.is_elastic())
    sizes_ = sizes_until(before);
  reporter_.go_on_after(before.metrics);
  GRAPHMILL_TRYV(
    folder_.go_back(before.metrics, before.state.at, definition_yaml(def)));
  // A daemon may be lost before the run has made a checkpoint of its own.
  if (!stays || def.recovery.wait != 0) {
    auto own = before;
    own.definition = definition_yaml(def);
    GRAPHMILL_TRYV(write_checkpoint(folder_.checkpoints(), own,
                                    std::max(1U, def.checkpoint.keep)));
  }
  note_before(before.metrics);
  return ok();
}

namespace {

/// Whether lines tell of all that is behind a state. The last ones may have got
/// lost with the coordinator, also that of a validation, which says how good
/// the best epoch was.
bool are_whole(const nlohmann::json& lines, const course_position& at,
               const definition& def) {
  const auto every =
    static_cast<std::int32_t>(std::max(1U, def.evaluate.every));
  const auto last = static_cast<std::int32_t>(def.train.epochs);
  const auto is_validated =
    at.best_validation && (at.epoch % every == 0 || at.epoch == last);
  return epochs_in(lines) >= at.epoch
         && (!is_validated
             || std::ranges::any_of(lines, [&at](const auto& line) {
                  return line.value("phase", "") == to_string(phase::validation)
                         && epoch_of(line) == at.epoch;
                }));
}

} // namespace

result<std::optional<training_state>>
run_file::go_back(std::optional<training_state> kept, const definition& def,
                  const next_attempt& next) {
  if (!log_) {
    GRAPHMILL_TRYV(begin(next.outlets));
    log_->info("the coordinator was started anew: attempt {} follows",
               next.number);
  }
  finish_checkpoints();
  attempts_ = next.number;
  seconds_before_ += next.seconds_before;
  if (kept && def.train.record_steps && !tells_all_steps(def, kept->at))
    kept.reset(); // A rank was lost before it told of a step.
  auto told = kept ? lines_of(kept->at.epoch) : nlohmann::json::array();
  if (kept && !are_whole(told, kept->at, def))
    kept.reset();
  const auto names = checkpoints_in(folder_.checkpoints());
  std::optional<found_checkpoint> found;
  if (!names.empty() && (!kept || names.front() > checkpoint_name(kept->at)))
    found = newest_whole();
  // The newest one may be damaged, and the one before it behind `kept`.
  if (kept && found && found->name <= checkpoint_name(kept->at))
    found.reset();
  const auto metrics = found  ? std::move(found->content.metrics)
                       : kept ? std::move(told)
                              : nlohmann::json::array();
  if (found) {
    if (!sizes_.empty())
      sizes_ = sizes_until(found->content);
    kept = std::move(found->content.state);
  }
  if (!kept && next.is_resumed)
    return fail(ec::invalid_data,
                "no checkpoint in {} is whole, and without one the run would "
                "not end with its weights: it did not begin as its definition "
                "says, but went on with another one",
                folder_.checkpoints().string());
  reporter_.go_on_after(metrics);
  const auto at = kept ? kept->at : course_position{};
  GRAPHMILL_TRYV(
    remove_checkpoints_after(folder_.checkpoints(), checkpoint_name(at)));
  GRAPHMILL_TRYV(folder_.go_back(metrics, at, definition_yaml(def)));
  note_before(metrics);
  const run_point here{at.epoch, at.step};
  note_size(def, {here, size_at(def, here).value_or(next.trainers)});
  return kept;
}

/// @param metrics Of the epochs that it goes on after, an array.
void run_file::note_before(const nlohmann::json& metrics) {
  before_ = {};
  for (const auto& line : metrics)
    if (const auto loss = line.value("loss", nlohmann::json{});
        loss.is_number() && line.value("phase", "") == to_string(phase::train))
      before_.loss = loss.get<double>();
  const auto names = checkpoints_in(folder_.checkpoints());
  if (names.empty())
    return;
  std::error_code failed;
  const auto made = fs::last_write_time(
    folder_.checkpoints() / names.front() / checkpoint_state_file, failed);
  if (!failed)
    before_.checkpoint =
      std::chrono::steady_clock::now()
      - std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        fs::file_time_type::clock::now() - made);
}

void run_file::note_size(const definition& def, const size_change& now) {
  if (!def.trainer.is_elastic())
    return;
  graphmill::note_size(sizes_, now);
  if (auto written = folder_.write_sizes(sizes_); !written && log_)
    log_->warn("{}", written.error().message);
}

/// Trainers of the last attempt.
rank_id run_file::present_world(const definition& def) const {
  return static_cast<rank_id>(sizes_.empty() ? def.trainer.replicas
                                             : sizes_.back().replicas);
}

/// Whether all ranks have told of all steps that a state has of its epoch.
bool run_file::tells_all_steps(const definition& def,
                               const course_position& at) const {
  return folder_.has_steps_until(
    at, sizes_.empty() ? at.step * std::int64_t{def.trainer.replicas}
                       : parts_until(sizes_, {at.epoch, at.step}));
}

/// Damaged checkpoints are passed over, and told of. @pre the log is open
std::optional<found_checkpoint> run_file::newest_whole() const {
  auto newest = newest_checkpoint(folder_.checkpoints());
  if (!newest) {
    log_->warn("{}", newest.error().message);
    return std::nullopt;
  }
  if (newest.value())
    for (const auto& damage : newest.value()->passed_over)
      log_->warn("{}; the checkpoint before it is used", damage);
  return std::move(newest).value();
}

/// Training steps up to the newest whole checkpoint.
std::int64_t run_file::steps_left() const {
  const auto newest = newest_checkpoint(folder_.checkpoints());
  return newest && newest.value() ? newest.value()->content.state.at.train_steps
                                  : 0;
}

void run_file::leave(const training_state& state, const definition& def,
                     part_id parts) {
  finish_checkpoints();
  const auto names = checkpoints_in(folder_.checkpoints());
  if (def.checkpoint.keep == 0
      || (!names.empty() && names.front() >= checkpoint_name(state.at)))
    return;
  auto last = about(def, present_world(def), parts);
  last.state = state;
  last.metrics = lines_of(state.at.epoch);
  const auto written =
    epochs_in(last.metrics) >= state.at.epoch
      ? write_checkpoint(folder_.checkpoints(), last, def.checkpoint.keep)
      : fail(ec::invalid_data,
             "{} lacks lines of the last epochs, so that what these have "
             "learnt is dropped",
             folder_.metrics_file().string());
  if (!written && log_)
    log_->warn("no last checkpoint: {}{}", written.error().message, way_on());
}

std::string run_file::way_on() {
  finish_checkpoints();
  const auto names = checkpoints_in(folder_.checkpoints());
  if (names.empty())
    return "; it has left no checkpoint to go on from";
  return fmt::format("; `graphmill resume {}` with --cluster goes on from its "
                     "last checkpoint, {}",
                     id(), names.front());
}

void run_file::finish_checkpoints() {
  if (auto writer = std::exchange(writer_, nullptr))
    writer->finish();
}

void run_file::note(const std::string& sentence) const {
  if (log_)
    log_->info("{}", sentence);
}

/// What checkpoints say of the run.
checkpoint run_file::about(const definition& def, rank_id world,
                           part_id parts) const {
  const auto& from = folder_.from();
  checkpoint out;
  out.definition = definition_yaml(def);
  out.dataset_digest = from.learnt.dataset_digest;
  out.data = from.data;
  out.world = world;
  out.parts = parts;
  out.seconds = seconds_before_;
  out.sizes = sizes_;
  return out;
}

/// The checkpoint that a run is to go on from: the newest one, if none is
/// named.
result<checkpoint> checkpoint_of(const fs::path& runs,
                                 const resume_request& wanted) {
  if (!is_plain_name(wanted.run)
      || !(wanted.checkpoint.empty() || is_plain_name(wanted.checkpoint)))
    return fail(ec::invalid_argument,
                "\"{}\" of run \"{}\" is no name of a checkpoint",
                wanted.checkpoint, wanted.run);
  const auto folder = runs / wanted.run / "checkpoints";
  if (!wanted.checkpoint.empty())
    return read_checkpoint(folder / wanted.checkpoint);
  GRAPHMILL_TRY(auto found, newest_checkpoint(folder));
  if (!found)
    return fail(ec::not_found,
                "run \"{}\" has no checkpoint at the coordinator: submit its "
                "definition anew",
                wanted.run);
  return std::move(found->content);
}

result<void> run_file::begin(const log_outlets& outlets) {
  GRAPHMILL_TRYV(folder_.hold());
  GRAPHMILL_TRY(log_, make_logger(folder_.log(), outlets));
  reporter_.log_to(log_);
  log_->info("run is prepared on the parts of {}",
             folder_.from().data.string());
  return ok();
}

void run_file::keep_checkpoints(
  const std::shared_ptr<run_file>& self, run_observer& observer,
  const definition& def, rank_id world, part_id parts,
  std::function<void(const std::string&)> on_written) {
  self->writer_ = graphmill::keep_checkpoints(
    observer, def,
    {.folder = self->folder_.checkpoints(),
     .about = self->about(def, world, parts),
     .log = self->log_,
     .on_written = std::move(on_written)},
    [self](std::int32_t epoch) { return self->folder_.metrics_until(epoch); });
}

void run_file::keep_predictions(run_observer& observer,
                                const prediction_shape& shape) {
  if (predictions_) // Its files have the names that the next ones get.
    predictions_->drop();
  predictions_ = std::make_shared<prediction_arrays>(folder_.path(), shape);
  prediction_arrays::observe(predictions_, observer);
}

void run_file::keep_evaluation(const std::shared_ptr<run_file>& self,
                               run_observer& observer, measured_split which) {
  self->evaluation_ = nullptr;
  observer.on_phase = [self, which, inner = std::move(observer.on_phase)](
                        const phase_result& done) -> result<void> {
    const auto split = to_string(which);
    if (done.metrics.seeds == 0)
      return nothing_measured(split);
    self->evaluation_ = evaluation_json(done);
    self->evaluation_["split"] = std::string{split};
    return inner ? inner(done) : ok();
  };
}

/// Whether they are there counts for whether the run is a success.
void run_file::finish_predictions(nlohmann::json& summary) {
  const auto made = std::exchange(predictions_, nullptr);
  auto& failure = result_.outcome.failure;
  if (!made)
    return;
  if (!failure) {
    if (auto there = made->commit(); !there)
      failure = there.error();
    else
      summary["predicted"] = made->count();
  }
  made->drop();
  summary["error"] =
    failure ? nlohmann::json(failure->message) : nlohmann::json();
}

void run_file::add(const std::string& daemon, const work_report& share) {
  result_.work.add(share);
  daemons_[daemon] = json_of(share);
}

void run_file::discard() {
  std::error_code ignored;
  fs::remove_all(folder_.path(), ignored);
}

run_record run_file::close(const run_outcome& outcome, bool cancelled,
                           double seconds, bool feeds) {
  finish_checkpoints();
  result_.outcome = outcome;
  if (outcome.train_steps
      == 0) // It ends between two attempts, or as one began.
    result_.outcome.train_steps = steps_left();
  result_.seconds = seconds;
  auto summary = summarise(result_, reporter_, folder_.path().string());
  summary["seconds"] = seconds + seconds_before_;
  summary["daemons"] = daemons_;
  if (!sizes_.empty())
    summary["sizes"] = sizes_json(sizes_);
  if (attempts_ > 1)
    summary["attempts"] = attempts_;
  finish_predictions(summary);
  if (!evaluation_.is_null())
    summary["evaluation"] = evaluation_;
  const auto saved = save_run(result_.outcome, summary, folder_, !feeds);
  run_record out;
  out.id = id();
  out.name = out.id;
  out.state = state_of(saved, cancelled);
  out.summary =
    summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (saved.failure)
    out.message = saved.failure->message;
  // It has trained to its end, and lacks a place for what it has learnt.
  if (saved.failure && !outcome.failure)
    out.message += way_on();
  if (log_)
    log_->info("run ended after {:.1f} s and {} training steps: {}",
               seconds + seconds_before_, result_.outcome.train_steps,
               out.message.empty() ? "all is done" : out.message);
  if (feeds && out.state != run_state::failed)
    discard();
  return out;
}

} // namespace graphmill
