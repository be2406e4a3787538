#include "actors/base/phase_steps.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

/// A run that goes on with the checkpoint of another one.
struct filed_run {
  filed_run() {
    checkpoint before;
    before.state.at = {2, 0, 8};
    before.state.tensors = std::make_shared<const std::vector<named_tensor>>(
      std::vector<named_tensor>{{"a", {1}, {7}}});
    before.definition = definition_yaml(def);
    for (const auto* phase : {"train", "validation"})
      for (const auto epoch : {1, 2})
        before.metrics.push_back({{"phase", phase},
                                  {"epoch", epoch},
                                  {"seeds", 4},
                                  {"accuracy", 0.5},
                                  {"loss", 1.0 / epoch}});
    before.metrics.back()["loss"] = 9.0;
    value_of(file->go_on_from(before, def));
  }

  result<std::optional<training_state>> go_back(bool is_resumed) {
    return file->go_back(
      std::nullopt, def,
      {2,
       0,
       1,
       {.console = std::make_shared<spdlog::sinks::null_sink_mt>()},
       is_resumed});
  }

  void tell(phase which) {
    phase_result done;
    done.phase = which;
    done.epoch = 2;
    done.metrics = {1.0, 2, 4};
    value_of(file->reporter().observer().on_phase(done));
  }

  /// Trains an epoch more, which a daemon has kept the state of.
  training_state train_on() {
    tell(phase::train);
    training_state out;
    out.at = {3, 0, 12};
    out.tensors = std::make_shared<const std::vector<named_tensor>>();
    return out;
  }

  result<std::optional<training_state>> go_back_to(training_state kept) {
    return file->go_back(
      std::move(kept), def,
      {2, 0, 1, {.console = std::make_shared<spdlog::sinks::null_sink_mt>()}});
  }

  std::filesystem::path path_of(const char* name) const {
    return folder / "runs" / file->id() / name;
  }

  /// Its checkpoints cannot be read any more.
  void damage() const {
    for (const auto& one : std::filesystem::directory_iterator{
           folder / "runs" / file->id() / "checkpoints"})
      std::ofstream{one.path() / checkpoint_state_file} << "{}";
  }

  temp_folder folder;
  definition def = parse_definition("dataset: cora", "cora.yaml").value;
  std::shared_ptr<run_file> file = value_of(
    run_file::create(folder / "runs", def, {folder.path(), {"digest"}}));
};

} // namespace

CATCH_TEST_CASE("an attempt goes on from the newest checkpoint",
                "[cluster][filing]") {
  filed_run it;
  const auto from = value_of(it.go_back(true));
  CATCH_REQUIRE(from);
  CATCH_CHECK(from->at == course_position{2, 0, 8});
  CATCH_REQUIRE(from->tensors->size() == 1);
  CATCH_CHECK(from->tensors->front().values == std::vector<float>{7});
}

CATCH_TEST_CASE(
  "an attempt knows the last loss, and that there is a checkpoint",
  "[cluster][filing]") {
  filed_run it;
  CATCH_CHECK(it.file->before().loss == 0.5);
  CATCH_CHECK(it.file->before().checkpoint);
  value_of(it.go_back(true));
  CATCH_CHECK(it.file->before().loss == 0.5);
  CATCH_CHECK(it.file->before().checkpoint);
  it.damage();
  value_of(it.go_back(false)); // From the beginning.
  CATCH_CHECK(std::isnan(it.file->before().loss));
  CATCH_CHECK_FALSE(it.file->before().checkpoint);
}

CATCH_TEST_CASE("an attempt goes on from what was kept if it was told of",
                "[cluster][filing]") {
  filed_run it;
  const auto kept = it.train_on();
  const auto told = content_of(it.path_of("metrics.jsonl"));
  CATCH_CHECK(value_of(it.go_back_to(kept))->at == kept.at);
  CATCH_CHECK(content_of(it.path_of("metrics.jsonl")) == told);
  CATCH_CHECK(it.file->last_lines(2).size() == 2);
  CATCH_CHECK(it.file->last_lines(2).back() + "\n"
              == told.substr(told.rfind('\n', told.size() - 2) + 1));
  // Somebody has removed the last line.
  std::filesystem::resize_file(it.path_of("metrics.jsonl"), told.size() - 9);
  CATCH_CHECK(value_of(it.go_back_to(kept))->at == course_position{2, 0, 8});
  CATCH_CHECK(it.file->last_lines(9).size() == 4);
}

CATCH_TEST_CASE("a kept epoch is dropped if its validation is lost",
                "[cluster][filing]") {
  for (const auto every : {1, 2}) // Epoch 3 is validated, or not.
    for (const auto is_told : {false, true}) {
      filed_run it;
      it.def.evaluate.every = every;
      auto kept = it.train_on();
      kept.at.best_validation = 0.5;
      if (is_told)
        it.tell(phase::validation);
      CATCH_CHECK(value_of(it.go_back_to(kept))->at.epoch
                  == (every == 2 || is_told ? 3 : 2));
    }
}

CATCH_TEST_CASE("a run leaves a last checkpoint with all metrics, or none",
                "[cluster][filing]") {
  for (const auto is_told : {true, false}) {
    filed_run it;
    value_of(it.file->begin(
      {.console = std::make_shared<spdlog::sinks::null_sink_mt>()}));
    auto def = it.def;
    def.checkpoint.keep = 2;
    const auto kept = it.train_on();
    if (!is_told)
      std::filesystem::remove(it.path_of("metrics.jsonl"));
    it.file->leave(kept, def, 1);
    const auto left =
      value_of(newest_checkpoint(it.path_of("checkpoints")))->content;
    CATCH_CHECK(left.state.at.epoch == (is_told ? 3 : 2));
    CATCH_CHECK(left.metrics.size() == (is_told ? 5 : 4));
    const auto log = content_of(it.path_of("log.txt"));
    CATCH_CHECK(has(log, "[warning] no last checkpoint: ") == !is_told);
    CATCH_CHECK(
      has(log, "goes on from its last checkpoint, " + checkpoint_name({2, 0}))
      == !is_told);
  }
}

CATCH_TEST_CASE("only a run that began with nothing begins anew",
                "[cluster][filing]") {
  filed_run it;
  it.damage();
  CATCH_CHECK(error_of(it.go_back(true)).code == ec::invalid_data);
  CATCH_CHECK_FALSE(value_of(it.go_back(false)).has_value());
}

CATCH_TEST_CASE("what a run measures alone is in its summary",
                "[cluster][filing]") {
  filed_run it;
  run_observer observer;
  run_file::keep_evaluation(it.file, observer, measured_split::train);
  phase_result done;
  done.phase = phase::test;
  CATCH_CHECK(error_of(observer.on_phase(done)).message
              == "the train split has no seeds, so that there is "
                 "nothing to measure: name another one by --split");
  done.metrics = {2.0, 3, 4};
  value_of(observer.on_phase(done));
  run_outcome outcome;
  outcome.failure = fail(ec::cancelled, "stopped by the user");
  const auto record = it.file->close(outcome, true, 1);
  CATCH_CHECK(record.state == run_state::cancelled);
  const auto summary = nlohmann::json::parse(record.summary);
  CATCH_CHECK(
    summary["evaluation"]
    == nlohmann::json(
      {{"split", "train"}, {"seeds", 4}, {"loss", 0.5}, {"accuracy", 0.75}}));
  CATCH_CHECK(summary["test"].is_null());
  CATCH_CHECK(summary["test_accuracy"].is_null());
}

CATCH_TEST_CASE("no link in a run folder is read for a client",
                "[cluster][filing]") {
  filed_run it;
  const auto runs = it.folder / "runs";
  const auto id = it.file->id();
  value_of(write_text(it.folder / "secret", "swordfish"));
  value_of(write_text(runs / id / "words", "for clients"));
  std::filesystem::create_symlink(it.folder / "secret", runs / id / "linked");
  const auto names = value_of(read_run_file(runs, {id, {}, 0})).files;
  CATCH_CHECK(std::ranges::count(names, "words") == 1);
  CATCH_CHECK(std::ranges::count(names, "linked") == 0);
  const auto refused = error_of(read_run_file(runs, {id, "linked", 0}));
  CATCH_CHECK(refused.code == ec::not_found);
  CATCH_CHECK(refused.message == "run \"" + id + "\" has no file \"linked\"");
  const auto piece = value_of(read_run_file(runs, {id, "words", 4}));
  CATCH_CHECK(piece.size == 11);
  CATCH_CHECK(std::string(reinterpret_cast<const char*>(piece.bytes.data()),
                          piece.bytes.size())
              == "clients");
  const auto less = value_of(read_run_file(runs, {id, "words", 4, 3}));
  CATCH_CHECK(less.size == 11);
  CATCH_CHECK(less.bytes.size() == 3); // No more than was asked for.
  CATCH_CHECK(value_of(read_run_file(runs, {id, "words", 9, 3})).bytes.size()
              == 2);
}

} // namespace graphmill::test
