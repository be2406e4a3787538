#include "pipelines/results/event_log.hpp"

#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/results/event_place.hpp"
#include "pipelines/results/event_record.hpp"
#include "pipelines/results/metrics_log.hpp"
#include "pipelines/results/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// TensorBoard knows event files by the first words of their names.
constexpr std::string_view event_file_begin = "events.out.tfevents.";
constexpr std::string_view event_file_end = ".graphmill";

/// Of one phase, as in checkpoints. Lines may have come with a checkpoint of
/// somebody else's; their sum must stay a number.
constexpr std::int64_t most_phase_steps = 9'999'999'999;

/// Lines that are read for each new one while none can be written: all of a
/// long run for each would take more time than its training.
constexpr std::uint64_t lines_for_one = 256;

/// Also what a process that was killed has left of one, for TensorBoard would
/// read that, too.
bool is_event_file(std::string_view name) {
  if (name.starts_with('.') && name.ends_with(".tmp"))
    return name.substr(1).starts_with(event_file_begin)
           && name.find(event_file_end) != name.npos;
  return name.starts_with(event_file_begin) && name.ends_with(event_file_end);
}

std::chrono::nanoseconds since_1970() {
  return std::chrono::system_clock::now().time_since_epoch();
}

/// Who reads a folder while it is written goes from file to file in the order
/// of names, so that a later one has a later name.
std::string event_file_name() {
  constexpr auto second = std::nano::den;
  const auto now = since_1970().count();
  return fmt::format("{}{:010}.{:09}{}", event_file_begin, now / second,
                     now % second, event_file_end);
}

/// NaN where there is none: JSON has no other word for a loss that is not
/// finite.
double number_in(const nlohmann::json& line, const char* name) {
  const auto value = line.value(name, nlohmann::json{});
  return value.is_number() ? value.get<double>()
                           : std::numeric_limits<double>::quiet_NaN();
}

/// The record of a line of metrics.jsonl.
/// @param steps Of training until then; those of the line are added.
/// @param now For a line that does not say when its phase ended.
std::string record_of(const nlohmann::json& line, std::int64_t& steps,
                      double now) {
  const auto phase = line.value("phase", "");
  const auto loss = phase + "/loss";
  const auto accuracy = phase + "/accuracy";
  const auto squares = phase + "/mse";
  const auto amounts = phase + "/mae";
  const std::array of_ranks{std::pair{"mrr", phase + "/mrr"},
                            std::pair{"hits@1", phase + "/hits@1"},
                            std::pair{"hits@3", phase + "/hits@3"},
                            std::pair{"hits@10", phase + "/hits@10"},
                            std::pair{"mean_rank", phase + "/mean_rank"},
                            std::pair{"recall@20", phase + "/recall@20"},
                            std::pair{"ndcg@20", phase + "/ndcg@20"}};
  std::vector<event_record::scalar> curves;
  const auto add = [&curves](std::string_view tag, double value) {
    curves.push_back({tag, static_cast<float>(value)});
  };
  add(loss, number_in(line, "loss"));
  if (line.contains("accuracy") || !line.contains("metric"))
    add(accuracy, number_in(line, "accuracy"));
  if (line.contains("mse")) {
    add(squares, number_in(line, "mse"));
    add(amounts, number_in(line, "mae"));
  }
  for (const auto& [name, tag] : of_ranks)
    if (line.contains(name))
      add(tag, number_in(line, name));
  const auto metric = line.value("metric", nlohmann::json{});
  const auto name = metric.is_string() ? metric.get<std::string>() : "";
  const auto chosen = phase + "/" + name;
  if (phase != "train" && line.contains(name)
      && std::none_of(curves.begin(), curves.end(),
                      [&chosen](const auto& one) { return one.tag == chosen; }))
    add(chosen, number_in(line, name.c_str()));
  if (phase == "train") {
    const auto done = integer_of(line.value("steps", nlohmann::json{}));
    steps += std::clamp<std::int64_t>(done.value_or(0), 0, most_phase_steps);
    add("learning_rate", number_in(line, "learning_rate"));
    if (const auto seconds = number_in(line, "seconds"); seconds > 0)
      add("seeds_per_second", number_in(line, "seeds") / seconds);
  }
  const auto ended = line.value("ended", nlohmann::json{});
  return event_record::values(ended.is_number() ? ended.get<double>() : now,
                              steps, curves);
}

} // namespace

result<void> event_log::tell(const nlohmann::json& line,
                             const fs::path& metrics) {
  if (file_.empty() && pause_ > 0)
    return fail(ec::unavailable, "lines until the next try: {}", pause_--);
  if (file_.empty())
    return write_all_of(metrics);
  const auto now = std::chrono::duration<double>(since_1970()).count();
  auto told = append(record_of(line, steps_, now));
  if (!told)
    file_.clear(); // It may end in half a record.
  return told;
}

result<void> event_log::write_all_of(const fs::path& metrics) {
  GRAPHMILL_TRY(const auto place, event_place(folder_));
  GRAPHMILL_TRYV(make_inner_folder(place));
  const auto now = std::chrono::duration<double>(since_1970()).count();
  auto records = event_record::version(now) + event_record::start(now);
  std::int64_t steps = 0;
  std::uint64_t lines = 0;
  metrics_log{metrics}.each([&](const nlohmann::json& line) {
    records += record_of(line, steps, now);
    ++lines;
  });
  const auto path = place / event_file_name();
  pause_ = lines / lines_for_one; // If it fails.
  GRAPHMILL_TRYV(write_file(path, records));
  pause_ = 0;
  file_ = path;
  steps_ = steps;
  return remove_files(path);
}

result<void> event_log::append(const std::string& records) {
  GRAPHMILL_TRY(const auto file,
                open_file(file_, O_WRONLY | O_APPEND, file_access::owner));
  return write_all(file.get(), std::as_bytes(std::span{records}), file_);
}

result<void> event_log::forget() {
  file_.clear();
  pause_ = 0;
  return remove_files({});
}

result<void> event_log::remove_files(const fs::path& but) {
  const auto place = event_place(folder_);
  if (!place && place.error().code == ec::not_found)
    return ok();
  if (!place)
    return place.error();
  std::vector<fs::path> old;
  std::error_code failed;
  for (fs::directory_iterator entry{place.value(), failed}, end;
       !failed && entry != end; entry.increment(failed))
    if (is_event_file(entry->path().filename().string())
        && entry->path() != but)
      old.push_back(entry->path());
  if (failed && failed != std::errc::no_such_file_or_directory)
    return fail_errno(failed.value(), "cannot list {}", place.value().string());
  for (const auto& path : old)
    if (fs::remove(path, failed); failed)
      return fail_errno(failed.value(), "cannot remove {}", path.string());
  return ok();
}

} // namespace graphmill
