#include "pipelines/results/event_log.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/full_disk.hpp"
#include "pipelines/results/event_record.hpp"
#include "pipelines/results/run_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill::test {

namespace {

namespace fs = std::filesystem;

using curves = std::vector<event_record::scalar>;

constexpr double first_end = 1700000000.25;
/// Of the records of version and start, which have the time of the test.
constexpr std::size_t bytes_before_values = 40 + 29;

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (unsigned char byte : bytes)
    out += fmt::format("{:02x}", byte);
  return out;
}

nlohmann::json line_of(const char* phase, int steps, double loss) {
  return {
    {"phase", phase},     {"epoch", 1},
    {"steps", steps},     {"seeds", 60},
    {"loss", loss},       {"accuracy", 0.25},
    {"seconds", 1.5},     {"learning_rate", 0.125},
    {"ended", first_end},
  };
}

/// Two epochs: four steps of training each.
nlohmann::json two_epochs() {
  return nlohmann::json::array(
    {line_of("train", 4, 0.5), line_of("validation", 2, 0.75),
     line_of("train", 4, 0.375), line_of("validation", 2, 0.625)});
}

nlohmann::json first_lines(std::size_t count) {
  auto out = two_epochs();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(count), out.end());
  return out;
}

std::string train_record(std::int64_t step, float loss) {
  return event_record::values(first_end, step,
                              curves{{"train/loss", loss},
                                     {"train/accuracy", 0.25f},
                                     {"learning_rate", 0.125f},
                                     {"seeds_per_second", 40}});
}

std::string validation_record(std::int64_t step, float loss) {
  return event_record::values(
    first_end, step,
    curves{{"validation/loss", loss}, {"validation/accuracy", 0.25f}});
}

/// The records of the one event file of a folder, as hexadecimal digits,
/// without those of its beginning.
std::string told_in(const fs::path& folder) {
  auto names = names_in(folder);
  std::erase(names, "curves.id"); // Of a folder that lies elsewhere.
  CATCH_REQUIRE(names.size() == 1);
  CATCH_CHECK(names[0].starts_with("events.out.tfevents."));
  const auto text = value_of(read_text(folder / names[0], 1 << 20));
  CATCH_REQUIRE(text.size() >= bytes_before_values);
  return hex_of(std::string_view{text}.substr(bytes_before_values));
}

void put_lines(const fs::path& file, const nlohmann::json& lines) {
  std::string text;
  for (const auto& line : lines)
    text += line_text(line);
  put_text(file, text);
}

/// As if these were all lines of metrics.jsonl, the last one new.
result<void> tell(event_log& log, const nlohmann::json& lines) {
  const temp_folder folder;
  put_lines(folder / "metrics.jsonl", lines);
  return log.tell(lines.back(), folder / "metrics.jsonl");
}

/// The same for the curves of a run.
result<void> add_events(run_folder& run, const nlohmann::json& lines) {
  put_lines(run.metrics_file(), lines);
  return run.add_events(lines.back());
}

run_folder new_run(const temp_folder& folder) {
  return value_of(
    run_folder::create(folder / "runs", "r", "", {folder.path(), {"1"}}));
}

} // namespace

// Made by a script of its own, with a CRC-32C bit by bit.
CATCH_TEST_CASE("records for TensorBoard have the bytes of its format",
                "[kernels][events]") {
  CATCH_CHECK(hex_of(event_record::framed("123456789"))
              == "090000000000000037f97139313233343536373839e5b08ac7");
  CATCH_CHECK(hex_of(event_record::version(1.5))
              == "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e"
                 "4576656e743a322a28646c");
  CATCH_CHECK(hex_of(event_record::start(1.5))
              == "0d000000000000003c37b83409000000000000f83f3a020801b718825c");
  CATCH_CHECK(
    hex_of(event_record::values(
      first_end, 300, curves{{"train/loss", 0.5f}, {"learning_rate", 0.01f}}))
    == "3700000000000000e7e8ca590900001040fc54d94110ac022a290a110a0a7472"
       "61696e2f6c6f7373150000003f0a140a0d6c6561726e696e675f72617465150a"
       "d7233c6c36c7ee");
  // A step beyond 32 bits, and a summary whose length takes two bytes.
  CATCH_CHECK(
    hex_of(event_record::values(0, std::int64_t{1} << 40,
                                curves(6, {"train/accuracy", 1})))
    == "9d0000000000000063171750090000000000000000108080808080202a8a010a"
       "150a0e747261696e2f6163637572616379150000803f0a150a0e747261696e2f"
       "6163637572616379150000803f0a150a0e747261696e2f616363757261637915"
       "0000803f0a150a0e747261696e2f6163637572616379150000803f0a150a0e74"
       "7261696e2f6163637572616379150000803f0a150a0e747261696e2f61636375"
       "72616379150000803f49275ee2");
}

CATCH_TEST_CASE("an event log tells what metrics tell, line by line",
                "[kernels][events]") {
  const temp_folder folder;
  event_log log{folder / "curves"};
  std::string expected;
  const auto records = {train_record(4, 0.5f), validation_record(4, 0.75f),
                        train_record(8, 0.375f), validation_record(8, 0.625f)};
  std::size_t count = 0;
  for (const auto& record : records) {
    expected += hex_of(record);
    value_of(tell(log, first_lines(++count)));
    CATCH_CHECK(told_in(folder / "curves") == expected);
  }
  // The same at once.
  event_log again{folder / "again"};
  value_of(tell(again, two_epochs()));
  CATCH_CHECK(told_in(folder / "again") == expected);
}

CATCH_TEST_CASE("an event log tells NaN of a loss that is no number",
                "[kernels][events]") {
  const temp_folder folder;
  auto line = line_of("test", 1, 0);
  line["loss"] = nullptr; // As JSON has it.
  event_log log{folder / "curves"};
  value_of(tell(log, nlohmann::json::array({line})));
  CATCH_CHECK(told_in(folder / "curves")
              == hex_of(event_record::values(
                first_end, 0,
                curves{{"test/loss", std::numeric_limits<float>::quiet_NaN()},
                       {"test/accuracy", 0.25f}})));
}

CATCH_TEST_CASE("an event log tells errors of labels that are numbers",
                "[kernels][events]") {
  const temp_folder folder;
  auto train = line_of("train", 4, 0.5);
  auto validation = line_of("validation", 2, 0.75);
  for (auto* line : {&train, &validation}) {
    line->erase("accuracy");
    (*line)["metric"] = "mae";
  }
  validation["mse"] = 0.5;
  validation["mae"] = 0.25;
  event_log log{folder / "curves"};
  value_of(tell(log, nlohmann::json::array({train, validation})));
  CATCH_CHECK(
    told_in(folder / "curves")
    == hex_of(event_record::values(first_end, 4,
                                   curves{{"train/loss", 0.5f},
                                          {"learning_rate", 0.125f},
                                          {"seeds_per_second", 40}}))
         + hex_of(event_record::values(first_end, 4,
                                       curves{{"validation/loss", 0.75f},
                                              {"validation/mse", 0.5f},
                                              {"validation/mae", 0.25f}})));
}

CATCH_TEST_CASE("an event log tells ranks of links", "[kernels][events]") {
  const temp_folder folder;
  auto line = line_of("validation", 2, 0.75);
  line.erase("accuracy");
  line.update({{"metric", "hits@5"},
               {"mrr", 0.5},
               {"hits@1", 0.25},
               {"hits@3", 0.375},
               {"hits@10", 1},
               {"hits@5", 0.875},
               {"recall@20", 0.625},
               {"ndcg@20", 0.5},
               {"mean_rank", 3}});
  event_log log{folder / "curves"};
  value_of(tell(log, nlohmann::json::array({line})));
  CATCH_CHECK(
    told_in(folder / "curves")
    == hex_of(event_record::values(first_end, 0,
                                   curves{{"validation/loss", 0.75f},
                                          {"validation/mrr", 0.5f},
                                          {"validation/hits@1", 0.25f},
                                          {"validation/hits@3", 0.375f},
                                          {"validation/hits@10", 1},
                                          {"validation/mean_rank", 3},
                                          {"validation/recall@20", 0.625f},
                                          {"validation/ndcg@20", 0.5f},
                                          {"validation/hits@5", 0.875f}})));
}

CATCH_TEST_CASE("an event log tells the metric that chooses the best epoch",
                "[kernels][events]") {
  const temp_folder folder;
  auto line = line_of("validation", 2, 0.75);
  line["metric"] = "f1:fraud";
  line["f1:fraud"] = 0.625;
  event_log log{folder / "curves"};
  value_of(tell(log, nlohmann::json::array({line})));
  CATCH_CHECK(
    told_in(folder / "curves")
    == hex_of(event_record::values(first_end, 0,
                                   curves{{"validation/loss", 0.75f},
                                          {"validation/accuracy", 0.25f},
                                          {"validation/f1:fraud", 0.625f}})));
}

CATCH_TEST_CASE("an event log counts no more steps than there can be",
                "[kernels][events]") {
  const temp_folder folder;
  auto lines = nlohmann::json::array(
    {line_of("train", 4, 0.5), line_of("train", 4, 0.375)});
  for (auto& line : lines)
    line["steps"] = std::numeric_limits<std::int64_t>::max();
  event_log log{folder / "curves"};
  value_of(tell(log, lines));
  CATCH_CHECK(told_in(folder / "curves")
              == hex_of(train_record(9'999'999'999, 0.5f))
                   + hex_of(train_record(19'999'999'998, 0.375f)));
}

CATCH_TEST_CASE("curves of a run go back with it", "[kernels][events]") {
  const temp_folder folder;
  auto run = new_run(folder);
  value_of(add_events(run, two_epochs())); // It has none yet.
  CATCH_CHECK(!fs::exists(run.path() / "tensorboard"));
  value_of(run.keep_events());
  const auto place = run.path() / "tensorboard";
  value_of(add_events(run, two_epochs()));
  // Another process goes on with it.
  auto later = value_of(run_folder::reopen(run.path()));
  value_of(later.go_back(first_lines(2), {.epoch = 1, .train_steps = 4}, ""));
  CATCH_CHECK(names_in(place).empty());
  value_of(add_events(later, first_lines(3)));
  const auto first = hex_of(train_record(4, 0.5f))
                     + hex_of(validation_record(4, 0.75f))
                     + hex_of(train_record(8, 0.375f));
  CATCH_CHECK(told_in(place) == first);
  value_of(add_events(later, two_epochs()));
  CATCH_CHECK(told_in(place) == first + hex_of(validation_record(8, 0.625f)));
}

CATCH_TEST_CASE("curves are whole again after a full disk",
                "[kernels][events]") {
  const temp_folder folder;
  auto run = new_run(folder);
  value_of(run.keep_events());
  const auto place = run.path() / "tensorboard";
  value_of(add_events(run, first_lines(1)));
  const auto now = std::chrono::steady_clock::now();
  fill_disk(run.path(), now + std::chrono::hours{1});
  CATCH_CHECK(error_of(add_events(run, first_lines(2))).code == ec::no_space);
  CATCH_CHECK(error_of(add_events(run, first_lines(3))).code == ec::no_space);
  CATCH_CHECK(told_in(place) == hex_of(train_record(4, 0.5f)));
  fill_disk(run.path(), now);
  value_of(add_events(run, two_epochs()));
  CATCH_CHECK(told_in(place)
              == hex_of(train_record(4, 0.5f))
                   + hex_of(validation_record(4, 0.75f))
                   + hex_of(train_record(8, 0.375f))
                   + hex_of(validation_record(8, 0.625f)));
}

CATCH_TEST_CASE("not each line of a long run is a try to write all",
                "[kernels][events]") {
  const temp_folder folder;
  event_log log{folder / "curves"};
  nlohmann::json lines(600, line_of("train", 4, 0.5));
  const auto now = std::chrono::steady_clock::now();
  fill_disk(folder.path(), now + std::chrono::hours{1});
  CATCH_CHECK(error_of(tell(log, lines)).code == ec::no_space);
  fill_disk(folder.path(), now);
  for (const auto left : {"2", "1"})
    CATCH_CHECK(error_of(tell(log, lines)).message
                == std::string{"lines until the next try: "} + left);
  value_of(tell(log, lines));
  event_log other{folder / "other"};
  value_of(tell(other, lines));
  CATCH_CHECK(told_in(folder / "curves") == told_in(folder / "other"));
}

CATCH_TEST_CASE("curves of a run may be elsewhere", "[kernels][events]") {
  const temp_folder folder;
  auto run = new_run(folder);
  const auto place = folder / "curves" / run.path().filename();
  fs::create_directories(place);
  const auto refused = error_of(run.keep_events(folder / "curves"));
  CATCH_CHECK(refused.code == ec::invalid_argument);
  CATCH_CHECK(refused.message.find(place.string()) != std::string::npos);
  fs::remove(place);
  // Nor a link that leads nowhere, which somebody has laid there.
  fs::create_directory_symlink(folder / "nowhere", place);
  CATCH_CHECK(error_of(run.keep_events(folder / "curves")).code
              == ec::invalid_argument);
  CATCH_CHECK_FALSE(fs::exists(folder / "nowhere"));
  fs::remove(place);
  value_of(run.keep_events(folder / "curves"));
  auto later = value_of(run_folder::reopen(run.path()));
  value_of(add_events(later, first_lines(1)));
  CATCH_CHECK(told_in(place) == hex_of(train_record(4, 0.5f)));
  // What others have put there stays.
  value_of(write_text(place / "events.out.tfevents.1.host", "theirs"));
  // What a process left that was killed while it wrote does not.
  value_of(
    write_text(place / ".events.out.tfevents.1.graphmill.7.tmp", "half"));
  value_of(later.go_back(nlohmann::json::array(), {}, ""));
  CATCH_CHECK(
    names_in(place)
    == std::vector<std::string>{"curves.id", "events.out.tfevents.1.host"});
  // A run folder may be moved, and the curves may go.
  fs::rename(run.path(), folder / "moved");
  auto moved = value_of(run_folder::reopen(folder / "moved"));
  fs::remove(place / "events.out.tfevents.1.host");
  value_of(add_events(moved, first_lines(1)));
  CATCH_CHECK(told_in(place) == hex_of(train_record(4, 0.5f)));
  fs::remove_all(place);
  moved = value_of(run_folder::reopen(folder / "moved"));
  value_of(moved.go_back(nlohmann::json::array(), {}, ""));
  CATCH_CHECK(error_of(add_events(moved, first_lines(1))).code
              == ec::not_found);
  CATCH_CHECK_FALSE(fs::exists(place));
}

CATCH_TEST_CASE("curves do not go where a link of somebody else leads",
                "[kernels][events]") {
  const temp_folder folder;
  auto run = new_run(folder);
  const auto link = run.path() / "tensorboard";
  const auto theirs = folder / "theirs";
  fs::create_directory(theirs);
  value_of(write_text(theirs / "events.out.tfevents.1.graphmill", "precious"));
  const auto check_refused = [&] {
    const auto reason = error_of(run_folder::reopen(run.path()));
    CATCH_CHECK(reason.code == ec::permission);
    CATCH_CHECK(reason.message.starts_with(link.string() + " is a link to "));
    event_log log{link};
    CATCH_CHECK(error_of(tell(log, first_lines(1))).code == ec::permission);
    CATCH_CHECK(error_of(log.forget()).code == ec::permission);
    CATCH_CHECK(
      value_of(read_text(theirs / "events.out.tfevents.1.graphmill", 100))
      == "precious");
  };
  CATCH_SECTION("to a folder without a sign") {
    fs::create_directory_symlink(theirs, link);
    check_refused();
    // Which is not made up for by one in the run folder.
    value_of(write_text(run.path() / "curves.id", std::string(32, 'a') + "\n"));
    check_refused();
  }
  CATCH_SECTION("to the curves of another run") {
    auto other = value_of(
      run_folder::create(folder / "runs", "other", "", {folder.path(), {"1"}}));
    value_of(other.keep_events(folder / "curves"));
    fs::remove(theirs / "events.out.tfevents.1.graphmill");
    fs::remove(theirs);
    fs::rename(folder / "curves" / other.path().filename(), theirs);
    value_of(
      write_text(theirs / "events.out.tfevents.1.graphmill", "precious"));
    fs::create_directory_symlink(theirs, link);
    check_refused();
    value_of(write_text(run.path() / "curves.id", std::string(32, 'a') + "\n"));
    check_refused();
  }
  CATCH_SECTION("two signs that are empty") {
    value_of(write_text(run.path() / "curves.id", ""));
    value_of(write_text(theirs / "curves.id", ""));
    fs::create_directory_symlink(theirs, link);
    check_refused();
  }
}

} // namespace graphmill::test
