#include "actors/run/run_reporter.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/results/checkpoint_state.hpp"
#include "pipelines/results/event_log.hpp"
#include "pipelines/results/run_folder.hpp"
#include "pipelines/results/run_positions.hpp"
#include "pipelines/results/safetensors.hpp"
#include "tests/fuzz/registry.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

// What a run has left: weights, the files of its folder, states of checkpoints.

namespace graphmill::fuzz {

namespace {

namespace fs = std::filesystem;

/// As bytes: not a number is not equal to itself.
bool same_values(const named_tensor& a, const named_tensor& b) {
  return a.values.size() == b.values.size()
         && (a.values.empty()
             || std::memcmp(a.values.data(), b.values.data(),
                            a.values.size() * sizeof(float))
                  == 0);
}

void read_weights(std::string_view input) {
  const auto path = scratch() / "weights.safetensors";
  put_file(path, input);
  const auto got = read_safetensors(path);
  if (!got)
    return;
  std::size_t bytes = 0;
  for (const auto& tensor : got.value().tensors)
    bytes += tensor.values.size() * sizeof(float);
  require(bytes <= input.size(), "tensors of more bytes than their file has");
  (void)weights_digest(got.value().tensors);
  const auto copy = scratch() / "copy.safetensors";
  const auto written = write_safetensors(copy, got.value());
  if (!written)
    broken("weights that were read cannot be written: "
           + written.error().message);
  const auto again = read_safetensors(copy);
  require(again.has_value(), "weights that were written do not read");
  const auto& a = got.value().tensors;
  const auto& b = again.value().tensors;
  require(a.size() == b.size()
            && again.value().metadata == got.value().metadata,
          "weights that were written read as others");
  for (std::size_t i = 0; i < a.size(); ++i)
    require(a[i].name == b[i].name && a[i].shape == b[i].shape
              && same_values(a[i], b[i]),
            "weights that were written read as others");
}

std::vector<std::string> weights() {
  std::vector<std::string> out;
  for (const tensor_file& content :
       {tensor_file{{{"layer.0.weight", {2, 3}, {1, 2, 3, 4, 5, 6}},
                     {"layer.0.bias", {2}, {0.5f, -1}}},
                    {{"format", "pt"}, {"digest", "abc"}}},
        tensor_file{{{"empty", {0, 4}, {}}, {"one", {}, {7}}}, {}},
        tensor_file{}}) {
    const auto path = scratch() / "seed.safetensors";
    require(write_safetensors(path, content).has_value(), "no seed of weights");
    out.push_back(get_file(path));
  }
  return out;
}

/// Its run.json, sizes.json and steps.jsonl.
void read_run(std::string_view input) {
  const auto files = files_in(input, 3);
  const auto folder = scratch() / "run";
  fs::create_directories(folder);
  put_file(folder / "run.json", files[0]);
  put_file(folder / "sizes.json", files[1]);
  put_file(folder / "steps.jsonl", files[2]);
  put_file(folder / "weights.safetensors", "");
  auto run = run_folder::open(folder);
  if (!run) {
    require(!run.error().message.empty(), "an error without a sentence");
    return;
  }
  const auto sizes = run.value().read_sizes();
  require(std::ranges::is_sorted(sizes, {}, &size_change::at),
          "a run whose trainers change back in time");
  const course_position at{.epoch = 1, .step = 2};
  const auto lines = std::ranges::count(files[2], '\n') + 1;
  if (lines > 30)
    return; // They are counted by a question for each number.
  for (std::int64_t ours = 0; ours <= lines; ++ours)
    if (run.value().has_steps_until(at, ours)) {
      const auto back =
        run.value().go_back(nlohmann::json::array(), at, "dataset: d\n");
      require(back.has_value(), "a run cannot go back");
      require(run.value().has_steps_until(at, ours),
              "a run that went back has lost steps before, or has others");
      return;
    }
  broken("more steps than lines");
}

std::vector<std::string> runs() {
  constexpr std::string_view about =
    R"({"data": "/srv/wordnet", "dataset_digest": "abc", "format_version": 1,
 "labels": "regression"})";
  return {joined({about, R"([{"epoch": 0, "step": 0, "replicas": 2},
 {"epoch": 1, "step": 1, "replicas": 1}])",
                  R"({"phase": "train", "epoch": 1, "step": 9, "rank": 0}
{"phase": "train", "epoch": 2, "step": 1, "rank": 0}
{"phase": "train", "epoch": 2, "step": 2, "rank": 1}
{"phase": "train", "epoch": 2, "step": 3, "rank": 0}
{"phase": "test", "epoch": 2, "step": 1, "ra)"}),
          R"({"data": "d", "format_version": 2})"};
}

// -- state.json of a checkpoint

/// A file with the right digest, whatever the state: else no change gets far.
std::string state_file_of(std::string_view state) {
  content_hash hash;
  hash.update(state);
  return R"({"digest":")" + hash.digest() + R"(","state":)" + std::string{state}
         + "}\n";
}

std::string written_state(const checkpoint& made, const file_digest& tensors) {
  const auto path = scratch() / "state.json";
  const auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  require(file
            && write_checkpoint_state(file.value().get(), path, made, tensors),
          "a state cannot be written");
  return read_text(path, std::size_t{1} << 30).value();
}

void read_state_file(std::string_view input) {
  require(!parse_checkpoint_state(input, "a state without a digest"),
          "a state without its digest is taken");
  const auto got = parse_checkpoint_state(state_file_of(input), "a state");
  if (!got) {
    require(!got.error().message.empty(), "an error without a sentence");
    return;
  }
  const auto& made = got.value().content;
  const auto& at = made.state.at;
  require(at.epoch >= 0 && at.step >= 0 && at.train_steps >= at.step,
          "a state of a run before its begin");
  require(position_in(wire_form(at, made.state.so_far)) == at,
          "a state that is another one on the way to a daemon");
  const auto sizes = sizes_until(made);
  require(!sizes.empty() && parts_until(sizes, {at.epoch, at.step}) >= 0,
          "a state of a run without trainers");
  const auto text = written_state(made, got.value().tensors);
  const auto again = parse_checkpoint_state(text, "what was written");
  require(again
            && written_state(again.value().content, again.value().tensors)
                 == text,
          "a state that was written reads as another one");
  metrics_log lines{scratch() / "metrics.jsonl"};
  require(lines.replace(made.metrics).has_value(),
          "metrics of a run that goes on cannot be written");
  auto from_file = made;
  from_file.told = lines.until(at.epoch).value();
  require(written_state(from_file, got.value().tensors) == text,
          "a state with lines of a file is another one");
  event_log curves{scratch() / "curves"};
  require(curves.tell({}, lines.path()).has_value(),
          "curves of a run that goes on cannot be written");
  run_reporter told{nullptr, {}, nullptr};
  told.go_on_after(made.metrics);
  require(told.best_epoch().has_value() != told.best_line().is_null(),
          "the best validation is no line, or a line of none");
}

std::vector<std::string> states() {
  checkpoint made;
  made.state.at = {.epoch = 2, .step = 3, .train_steps = 23};
  made.state.so_far = {1.5, 7, 12};
  made.definition = "dataset: d\n";
  made.dataset_digest = "abc";
  made.data = "/srv/wordnet";
  made.metrics = nlohmann::json::array(
    {{{"phase", "train"}, {"epoch", 1}, {"steps", 10}, {"loss", 0.5}},
     {{"phase", "validation"}, {"epoch", 1}, {"accuracy", nullptr}},
     {{"phase", "train"}, {"epoch", 2}, {"steps", 10}, {"seconds", 2.5}}});
  auto elastic = made;
  elastic.state.at.best_validation = 0.75;
  elastic.sizes = {{{0, 0}, 2}, {{1, 4}, 1}};
  elastic.learnt = {"abc", label_kind::multi_label};
  std::vector<std::string> out;
  for (const auto& one : {made, elastic}) {
    const auto text = written_state(one, {9, std::string(32, 'a')});
    const auto begin = text.find("{", 1);
    out.push_back(text.substr(begin, text.size() - begin - 2));
  }
  return out;
}

} // namespace

const harness safetensors_harness{"safetensors", "weights", read_weights,
                                  weights, 1500};
const harness run_folder_harness{"run_folder",
                                 "what a run's folder says of it and its steps",
                                 read_run, runs, 1000};
const harness checkpoint_harness{"checkpoint", "states of checkpoints",
                                 read_state_file, states, 1000};

} // namespace graphmill::fuzz
