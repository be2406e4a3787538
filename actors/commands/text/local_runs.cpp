#include "actors/commands/text/local_runs.hpp"

#include "actors/commands/options/time_text.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "messages/words/byte_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace graphmill {

namespace {

using nlohmann::json;

/// A member of the summary; null if there is none.
json told_by(const listed_run& run, const char* key) {
  return run.summary.is_object() ? run.summary.value(key, json{}) : json{};
}

std::string local_time_taken(const listed_run& run) {
  const auto seconds = told_by(run, "seconds");
  if (!seconds.is_number())
    return "-";
  return duration_text(std::chrono::duration_cast<std::chrono::milliseconds>(
    std::chrono::duration<double>{seconds.get<double>()}));
}

/// What the run was chosen by, measured on the test split.
std::string local_score(const listed_run& run) {
  const auto test = told_by(run, "test");
  const auto metric = told_by(run, "metric");
  if (test.is_object() && metric.is_string()
      && metric.get_ref<const std::string&>() != "accuracy") {
    const auto& name = metric.get_ref<const std::string&>();
    const auto value = test.value(name, json{});
    if (value.is_number())
      return fmt::format("{} {:.4f}", name, value.get<double>());
  }
  const auto accuracy = told_by(run, "test_accuracy");
  return accuracy.is_number()
           ? fmt::format("accuracy {:.4f}", accuracy.get<double>())
           : "-";
}

std::string local_message(const listed_run& run) {
  const auto error = told_by(run, "error");
  return error.is_string() ? "  " + error.get<std::string>() : std::string{};
}

} // namespace

std::string local_runs_text(const std::vector<listed_run>& runs,
                            std::size_t shown) {
  std::size_t name = 3;
  run_size all;
  for (const auto& run : runs) {
    name = std::max(name, run.name.size());
    all.all += run.size.all;
    all.checkpoints += run.size.checkpoints;
  }
  auto out = fmt::format("{:<{}}  {:<10}  {:<19}  {:>12}  {:>9}  {}\n", "run",
                         name, "state", "began", "time", "disk", "test");
  for (std::size_t i = 0; i < std::min(runs.size(), shown); ++i) {
    const auto& run = runs[i];
    out += format_printable(
      "{:<{}}  {:<10}  {:<19}  {:>12}  {:>9}  {}{}\n", run.name, name,
      to_string(run.state), time_text(run.began), local_time_taken(run),
      byte_text(run.size.all), local_score(run), local_message(run));
  }
  if (shown < runs.size())
    out += fmt::format("{} more: --limit shows more\n", runs.size() - shown);
  out += fmt::format("{}: {} on disk, {} of it checkpoints\n",
                     pluralized(runs.size(), "run"), byte_text(all.all),
                     byte_text(all.checkpoints));
  return out;
}

json local_runs_json(const std::vector<listed_run>& runs, std::size_t shown) {
  auto out = json::array();
  for (std::size_t i = 0; i < std::min(runs.size(), shown); ++i) {
    const auto& run = runs[i];
    out.push_back(
      {{"run", run.name},
       {"state", to_string(run.state)},
       {"began", std::chrono::duration<double>(run.began).count()},
       {"changed", std::chrono::duration<double>(run.changed).count()},
       {"bytes", run.size.all},
       {"checkpoint_bytes", run.size.checkpoints},
       {"seconds", told_by(run, "seconds")},
       {"test_accuracy", told_by(run, "test_accuracy")},
       {"metric", told_by(run, "metric")},
       {"test", told_by(run, "test")},
       {"error", told_by(run, "error")}});
  }
  return out;
}

} // namespace graphmill
