#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/run_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

checkpoint some_checkpoint(std::int32_t epoch = 2, std::int64_t step = 3) {
  checkpoint out;
  out.state.at = {epoch, step, epoch * 10 + step, 0.1, 4};
  out.state.so_far = {1.0 / 3, 5, 6};
  out.state.tensors = std::make_shared<const std::vector<named_tensor>>(
    std::vector<named_tensor>{{"layers.0.weight", {2, 2}, {1, -2, 0.1f, 4}},
                              {"optimizer.first.layers.0.weight", {1}, {7}},
                              {"best.layers.0.weight", {0, 3}, {}}});
  out.definition = "dataset: d\n";
  out.dataset_digest = "abc";
  out.data = "/somewhere/d";
  out.world = 2;
  out.parts = 3;
  out.seconds = 1.5;
  out.metrics.push_back({{"phase", "train"}, {"epoch", 1}, {"loss", 0.1}});
  return out;
}

} // namespace

CATCH_TEST_CASE("a checkpoint comes back as it was written", "[kernels]") {
  const temp_folder folder;
  const auto made = some_checkpoint();
  const auto place = value_of(write_checkpoint(folder / "c", made, 2));
  CATCH_CHECK(place.filename() == "0000002-0000000003");
  for (const auto& path : {folder / "c", place}) {
    struct stat about {};
    CATCH_REQUIRE(::stat(path.c_str(), &about) == 0);
    CATCH_CHECK((about.st_mode & 0777) == 0700u);
  }
  const auto back = value_of(read_checkpoint(place));
  CATCH_CHECK(back.state.at == made.state.at);
  CATCH_CHECK(back.state.so_far.loss_sum == made.state.so_far.loss_sum);
  CATCH_CHECK(back.state.so_far.correct == 5);
  CATCH_CHECK(back.state.so_far.seeds == 6);
  CATCH_CHECK(back.definition == made.definition);
  CATCH_CHECK(back.dataset_digest == "abc");
  CATCH_CHECK(back.data == made.data);
  CATCH_CHECK(back.world == 2);
  CATCH_CHECK(back.parts == 3);
  CATCH_CHECK(back.seconds == 1.5);
  CATCH_CHECK(back.metrics == made.metrics);
  CATCH_CHECK(back.sizes.empty());
  CATCH_CHECK(sizes_until(back) == std::vector<size_change>{{{0, 0}, 2}});
  CATCH_REQUIRE(back.state.tensors->size() == 3);
  for (std::size_t t = 0; t < 3; ++t) {
    const auto& one = (*back.state.tensors)[t];
    const auto& other = (*made.state.tensors)[t];
    CATCH_CHECK(one.name == other.name);
    CATCH_CHECK(one.shape == other.shape);
    CATCH_CHECK(one.values == other.values);
  }
  // The same position again takes its place.
  auto again = made;
  again.world = 1;
  value_of(write_checkpoint(folder / "c", again, 2));
  CATCH_CHECK(value_of(read_checkpoint(place)).world == 1);
  CATCH_CHECK(names_in(folder / "c").size() == 1);
}

CATCH_TEST_CASE("a checkpoint knows how many trainers there were when",
                "[kernels][sizes]") {
  const temp_folder folder;
  auto made = some_checkpoint();
  made.sizes = {{{0, 0}, 3}, {{1, 4}, 2}};
  const auto back = value_of(
    read_checkpoint(value_of(write_checkpoint(folder.path(), made, 1))));
  CATCH_CHECK(back.sizes == made.sizes);
  CATCH_CHECK(sizes_until(back) == made.sizes);
  made.sizes = {{{1, 4}, 2}, {{0, 0}, 3}}; // Points that do not ascend.
  CATCH_CHECK_THAT(error_of(read_checkpoint(value_of(
                              write_checkpoint(folder.path(), made, 1))))
                     .message,
                   contains("its field sizes is missing or makes no sense"));
}

CATCH_TEST_CASE("a checkpoint may say what its weights have learnt from",
                "[kernels]") {
  const temp_folder folder;
  auto made = some_checkpoint();
  const auto back = [&] {
    return read_checkpoint(value_of(write_checkpoint(folder.path(), made, 1)));
  };
  CATCH_CHECK_FALSE(value_of(back()).learnt);
  for (const auto kind : {label_kind::classes, label_kind::regression}) {
    made.learnt = learnt_from{
      "def", {kind, "paper", 2, {"a", "b"}}, {{"paper", {{"x"}, "l1"}}}};
    CATCH_CHECK(value_of(back()).learnt == made.learnt);
    CATCH_CHECK(value_of(back()).dataset_digest == "abc");
  }
}

CATCH_TEST_CASE("a run folder keeps the sizes of a run", "[kernels][sizes]") {
  const temp_folder folder;
  auto run = value_of(run_folder::create(folder.path(), "r", "dataset: d\n",
                                         {"/somewhere/d", {"abc"}}));
  CATCH_CHECK(run.read_sizes().empty());
  const std::vector<size_change> sizes{{{0, 0}, 3}, {{1, 4}, 2}};
  value_of(run.write_sizes(sizes));
  CATCH_CHECK(value_of(run_folder::reopen(run.path())).read_sizes() == sizes);
  put_text(run.path() / "sizes.json", "[{");
  CATCH_CHECK(run.read_sizes().empty());
}

CATCH_TEST_CASE("a checkpoint may hold what is no number", "[kernels]") {
  const temp_folder folder;
  auto made = some_checkpoint();
  made.state.at.best_validation.reset();
  made.state.so_far.loss_sum = std::numeric_limits<double>::quiet_NaN();
  const auto back = value_of(
    read_checkpoint(value_of(write_checkpoint(folder.path(), made, 1))));
  CATCH_CHECK_FALSE(back.state.at.best_validation);
  CATCH_CHECK(std::isnan(back.state.so_far.loss_sum));
}

CATCH_TEST_CASE("checkpoints do not go where a link leads", "[kernels]") {
  const temp_folder folder;
  const auto theirs = folder / "theirs";
  const auto precious = theirs / "0000009-0000000000" / "precious";
  fs::create_directories(precious.parent_path());
  put_text(precious, "x");
  fs::create_directory_symlink(theirs, folder / "checkpoints");
  const auto refused =
    error_of(write_checkpoint(folder / "checkpoints", some_checkpoint(), 1));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK_THAT(refused.message,
                   contains((folder / "checkpoints").string() + " is a link"));
  CATCH_CHECK(names_in(theirs)
              == std::vector<std::string>{"0000009-0000000000"});
  // One in the place of a checkpoint is replaced.
  const auto made = folder / "made";
  fs::create_directory(made);
  const auto name = checkpoint_name(some_checkpoint().state.at);
  fs::create_directory_symlink(theirs, made / name);
  fs::create_directory_symlink(theirs, made / ("." + name));
  value_of(write_checkpoint(made, some_checkpoint(), 1));
  CATCH_CHECK(names_in(made) == std::vector<std::string>{name});
  CATCH_CHECK(fs::is_directory(fs::symlink_status(made / name)));
  CATCH_CHECK(fs::exists(precious));
}

CATCH_TEST_CASE("the newest checkpoints are kept", "[kernels]") {
  const temp_folder folder;
  for (std::int32_t epoch : {1, 9, 10, 11})
    value_of(write_checkpoint(folder.path(), some_checkpoint(epoch, 0), 3));
  CATCH_CHECK(checkpoints_in(folder.path())
              == std::vector<std::string>{"0000011-0000000000",
                                          "0000010-0000000000",
                                          "0000009-0000000000"});
  value_of(remove_checkpoints_after(folder.path(), "0000010-0000000000"));
  CATCH_CHECK(checkpoints_in(folder.path()).size() == 2);
  // What a process has begun that was killed goes with the next one.
  fs::create_directory(folder / ".0000001-0000000000");
  value_of(write_checkpoint(folder.path(), some_checkpoint(12, 0), 3));
  CATCH_CHECK_FALSE(fs::exists(folder / ".0000001-0000000000"));
}

CATCH_TEST_CASE("a damaged checkpoint is noticed, whatever is wrong with it",
                "[kernels]") {
  const temp_folder folder;
  const auto place =
    value_of(write_checkpoint(folder.path(), some_checkpoint(), 1));
  for (const auto* name : {"state.json", "tensors.safetensors"}) {
    const auto path = place / name;
    const auto sound = content_of(path);
    for (std::size_t length = 0; length < sound.size(); ++length) {
      put_text(path, sound.substr(0, length));
      CATCH_INFO(name << " of " << length << " bytes");
      CATCH_CHECK_FALSE(bool(read_checkpoint(place)));
    }
    for (std::size_t at = 0; at < sound.size(); ++at) {
      auto flipped = sound;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      put_text(path, flipped);
      CATCH_INFO(name << " with byte " << at << " flipped");
      CATCH_CHECK_FALSE(bool(read_checkpoint(place)));
    }
    put_text(path, sound + " ");
    CATCH_CHECK_FALSE(bool(read_checkpoint(place)));
    fs::remove(path);
    CATCH_CHECK_FALSE(bool(read_checkpoint(place)));
    put_text(path, sound);
    CATCH_CHECK(bool(read_checkpoint(place)));
  }
}

CATCH_TEST_CASE("a state has no more values than lines of metrics may have",
                "[kernels]") {
  const temp_folder folder;
  auto made = some_checkpoint();
  // The shortest line that a phase leaves, with null for what is no number.
  const nlohmann::json line{
    {"phase", "test"},      {"epoch", 1},         {"steps", 1},
    {"seeds", 1},           {"loss", nullptr},    {"accuracy", 0.0},
    {"learning_rate", 0.1}, {"seconds", 0.00001}, {"ended", 1700000000.5}};
  made.metrics = std::vector<nlohmann::json>(30'000, line);
  const auto place = value_of(write_checkpoint(folder.path(), made, 1));
  CATCH_CHECK(value_of(read_checkpoint(place)).metrics == made.metrics);
  // Eight bytes each: 3.2 GB of memory for 63 MiB.
  made.metrics =
    std::vector<nlohmann::json>(100'000, nlohmann::json::object({{"a", 0}}));
  value_of(write_checkpoint(folder.path(), made, 1));
  const auto refused = error_of(read_checkpoint(place));
  CATCH_CHECK(refused.code == ec::invalid_data);
  CATCH_CHECK_THAT(refused.message, contains("state.json is broken: it has")
                                      && contains("values; at most"));
}

CATCH_TEST_CASE("the checkpoint before a damaged one is used", "[kernels]") {
  const temp_folder folder;
  CATCH_CHECK_FALSE(
    value_of(newest_checkpoint(folder / "nowhere")).has_value());
  for (std::int32_t epoch : {1, 2, 3})
    value_of(write_checkpoint(folder.path(), some_checkpoint(epoch, 0), 3));
  fs::resize_file(folder / "0000003-0000000000" / "tensors.safetensors", 9);
  put_text(folder / "0000002-0000000000" / "state.json", "{}");
  const auto found = value_of(newest_checkpoint(folder.path()));
  CATCH_REQUIRE(found.has_value());
  CATCH_CHECK(found->name == "0000001-0000000000");
  CATCH_CHECK(found->content.state.at.epoch == 1);
  CATCH_CHECK(found->passed_over.size() == 2);
  fs::remove(folder / "0000001-0000000000" / "state.json");
  CATCH_CHECK_THAT(error_of(newest_checkpoint(folder.path())).message,
                   contains("no checkpoint in") && contains("is whole"));
}

CATCH_TEST_CASE("a run's files go back to where it stood", "[kernels]") {
  const temp_folder folder;
  auto run = value_of(run_folder::create(folder / "runs", "r", "dataset: d\n",
                                         {folder.path(), {"1"}}));
  for (int epoch : {1, 2, 3}) {
    value_of(run.add_metrics({{"phase", "train"}, {"epoch", epoch}}));
    for (const auto* which : {"train", "validation"})
      for (int step : {1, 2})
        value_of(run.add_step(
          {{"phase", which}, {"epoch", epoch}, {"step", step}, {"rank", 0}}));
  }
  value_of(
    run.add_step({{"phase", "test"}, {"epoch", 1}, {"step", 1}, {"rank", 0}}));
  std::ofstream{run.path() / "steps.jsonl", std::ios::app} << "{\"phase\":\"tr";
  auto again = value_of(run_folder::reopen(run.path()));
  value_of(again.hold());
  CATCH_CHECK_THAT(
    error_of(value_of(run_folder::reopen(run.path())).hold()).message,
    contains("another process writes to its folder"));
  // Of one rank, all steps have been told; of two, none is whole.
  CATCH_CHECK(again.has_steps_until({1, 1, 3, {}, 0}, 1));
  CATCH_CHECK(again.has_steps_until({1, 2, 4, {}, 0}, 2));
  CATCH_CHECK_FALSE(again.has_steps_until({1, 2, 4, {}, 0}, 4));
  CATCH_CHECK_FALSE(again.has_steps_until({1, 3, 5, {}, 0}, 3));
  CATCH_CHECK(again.has_steps_until({2, 0, 4, {}, 0}, 0));
  auto metrics = nlohmann::json::array();
  metrics.push_back({{"phase", "train"}, {"epoch", 1}});
  value_of(again.go_back(metrics, {1, 1, 3, {}, 0}, "dataset: e\n"));
  value_of(again.add_metrics({{"phase", "train"}, {"epoch", 2}}));
  CATCH_CHECK(content_of(run.path() / "metrics.jsonl")
              == "{\"epoch\":1,\"phase\":\"train\"}\n"
                 "{\"epoch\":2,\"phase\":\"train\"}\n");
  std::ifstream steps{run.path() / "steps.jsonl"};
  std::vector<std::string> lines;
  for (std::string line; std::getline(steps, line);)
    lines.push_back(line);
  CATCH_REQUIRE(lines.size() == 5); // Four of the first epoch, one more.
  CATCH_CHECK(lines.back()
              == R"({"epoch":2,"phase":"train","rank":0,"step":1})");
  CATCH_CHECK(content_of(again.definition()) == "dataset: e\n");
}

} // namespace graphmill::test
