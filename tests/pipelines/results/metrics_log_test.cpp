#include "partition/files/full_disk.hpp"
#include "pipelines/results/checkpoint.hpp"
#include "pipelines/results/metrics_log.hpp"
#include "pipelines/results/run_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

nlohmann::json told_line(const char* phase, std::int32_t epoch) {
  return {{"phase", phase}, {"epoch", epoch}, {"loss", 1.0 / epoch}};
}

/// Training and, after each second epoch, a validation.
nlohmann::json told_lines(std::int32_t first, std::int32_t last) {
  auto out = nlohmann::json::array();
  for (auto epoch = first; epoch <= last; ++epoch) {
    out.push_back(told_line("train", epoch));
    if (epoch % 2 == 0)
      out.push_back(told_line("validation", epoch));
  }
  return out;
}

void add_all(metrics_log& log, const nlohmann::json& lines) {
  for (const auto& line : lines)
    value_of(log.add(line));
}

std::string text_in(const nlohmann::json& lines) {
  std::string out;
  for (const auto& line : lines)
    out += line_text(line);
  return out;
}

std::string text_in(const metrics_part& part) {
  std::string out(part.bytes, ' ');
  if (!out.empty())
    value_of(part.read(out, 0));
  return out;
}

checkpoint checkpoint_after(std::int32_t epoch) {
  checkpoint out;
  out.state.at = {epoch, 0, epoch};
  out.state.tensors = std::make_shared<const std::vector<named_tensor>>(
    std::vector<named_tensor>{{"a", {1}, {7}}});
  return out;
}

} // namespace

CATCH_TEST_CASE("the lines of any number of epochs can be had from their file",
                "[kernels]") {
  const temp_folder folder;
  metrics_log log{folder / "metrics.jsonl"};
  CATCH_CHECK(value_of(log.until(0)).bytes == 0);
  value_of(log.replace(told_lines(1, 3))); // Where the run goes on.
  CATCH_CHECK(text_in(value_of(log.until(3))) == text_in(told_lines(1, 3)));
  add_all(log, told_lines(4, 7));
  value_of(log.add(told_line("test", 6))); // Of the best epoch.
  for (std::int32_t epoch = 3; epoch <= 8; ++epoch)
    CATCH_CHECK(text_in(value_of(log.until(epoch)))
                == text_in(told_lines(1, std::min(epoch, 7))));
  auto all = told_lines(1, 7);
  all.push_back(told_line("test", 6));
  CATCH_CHECK(log.read() == all);
  // Going back begins a new file; parts of the old one can still be read.
  const auto before = value_of(log.until(7));
  value_of(log.replace(told_lines(1, 2)));
  value_of(log.add(told_line("train", 3)));
  fs::remove(log.path());
  CATCH_CHECK(text_in(before) == text_in(told_lines(1, 7)));
  CATCH_CHECK(text_in(value_of(log.until(2))) == text_in(told_lines(1, 2)));
  CATCH_CHECK(text_in(value_of(log.until(3))) == text_in(told_lines(1, 3)));
}

CATCH_TEST_CASE("a line of metrics that cannot be written leaves nothing",
                "[kernels]") {
  const temp_folder folder;
  metrics_log log{folder / "metrics.jsonl"};
  add_all(log, told_lines(1, 1));
  const auto now = std::chrono::steady_clock::now();
  fill_disk(folder.path(), now + std::chrono::hours{1});
  CATCH_CHECK(error_of(log.add(told_line("train", 2))).code == ec::no_space);
  fill_disk(folder.path(), now);
  CATCH_CHECK(log.read() == told_lines(1, 1));
  CATCH_CHECK(text_in(value_of(log.until(2))) == text_in(told_lines(1, 1)));
}

CATCH_TEST_CASE("metrics end before what no run has written", "[kernels]") {
  const temp_folder folder;
  const metrics_log log{folder / "metrics.jsonl"};
  CATCH_CHECK(log.read() == nlohmann::json::array());
  const auto whole = text_in(told_lines(1, 2));
  for (const auto* rest :
       {"{\"phase\":\"tr", "{}\n", "[1]\n", "{\"phase\":1}\n", "\n"}) {
    put_text(log.path(), whole + rest + text_in(told_lines(3, 3)));
    CATCH_CHECK(log.read() == told_lines(1, 2));
  }
}

CATCH_TEST_CASE("a checkpoint with lines of a file is that with the lines",
                "[kernels]") {
  const temp_folder folder;
  metrics_log log{folder / "metrics.jsonl"};
  // The last ones are read in several pieces.
  for (const auto epochs : {0, 1, 2, 9000}) {
    value_of(log.replace(nlohmann::json::array()));
    add_all(log, told_lines(1, epochs + 1));
    auto made = checkpoint_after(epochs);
    auto from_file = made;
    made.metrics = told_lines(1, epochs);
    from_file.told = value_of(log.until(epochs));
    fs::remove(log.path());
    const auto place = value_of(write_checkpoint(folder / "a", made, 1));
    const auto copy = value_of(write_checkpoint(folder / "b", from_file, 1));
    CATCH_CHECK(content_of(copy / checkpoint_state_file)
                == content_of(place / checkpoint_state_file));
    CATCH_CHECK(value_of(read_checkpoint(copy)).metrics == made.metrics);
  }
}

namespace {

/// Checkpoints that hold the lines of a file, of which one is kept.
struct kept_lines {
  explicit kept_lines(std::int32_t epochs) {
    add_all(log, told_lines(1, epochs));
    value_of(keep(epochs));
  }

  result<std::filesystem::path> keep(std::int32_t epoch) {
    auto made = checkpoint_after(epoch);
    made.told = value_of(log.until(epoch));
    return write_checkpoint(checkpoints(), made, 1);
  }

  std::filesystem::path checkpoints() const { return folder / "checkpoints"; }

  /// The next one cannot be written, and the one before stays.
  void check_refused(std::int32_t epoch) {
    const auto before = checkpoints_in(checkpoints());
    CATCH_CHECK_THAT(
      error_of(keep(epoch)).message,
      contains(log.path().string() + " is not as the run has written it"));
    CATCH_CHECK(checkpoints_in(checkpoints()) == before);
    CATCH_CHECK(value_of(newest_checkpoint(checkpoints())));
  }

  temp_folder folder;
  metrics_log log{folder / "metrics.jsonl"};
};

} // namespace

CATCH_TEST_CASE("a checkpoint has no line that somebody else has changed",
                "[kernels]") {
  kept_lines it{3};
  add_all(it.log, told_lines(4, 4));
  const auto whole = content_of(it.log.path());
  auto same_size = whole;
  same_size[whole.find('{')] = '[';
  for (const auto& changed :
       {whole.substr(0, whole.size() - 1), std::string{}, same_size,
        // Others, of which the end of one is beyond the part.
        "{}" + whole.substr(0, whole.size() - 2) + "{}\n"}) {
    put_text(it.log.path(), changed);
    it.check_refused(4);
  }
  put_text(it.log.path(), whole);
  value_of(it.keep(4));
}

CATCH_TEST_CASE("no checkpoint vouches for lines behind a change by others",
                "[kernels]") {
  const auto foreign = line_text(told_line("train", 9));
  for (const auto& now : {std::string{}, text_in(told_lines(1, 4)) + foreign}) {
    kept_lines it{4};
    put_text(it.log.path(), now);
    add_all(it.log, told_lines(5, 8));
    it.check_refused(5);
    it.check_refused(8);
    value_of(it.log.replace(told_lines(1, 4))); // The run goes back.
    add_all(it.log, told_lines(5, 8));
    value_of(it.keep(8));
  }
}

CATCH_TEST_CASE("no checkpoint is written that has too many lines to be read",
                "[kernels]") {
  kept_lines it{3};
  auto made = checkpoint_after(4);
  made.told = value_of(it.log.until(3));
  made.told.bytes = std::uint64_t{384} << 20; // The rest makes it too many.
  CATCH_CHECK_THAT(
    error_of(write_checkpoint(it.checkpoints(), made, 1)).message,
    contains("could not be read: train fewer epochs"));
  CATCH_CHECK(value_of(newest_checkpoint(it.checkpoints()))->name
              == checkpoint_name({3, 0}));
}

} // namespace graphmill::test
