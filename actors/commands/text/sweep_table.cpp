#include "actors/commands/text/sweep_table.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// "model.hidden=64" -> "model.hidden", "64"
std::pair<std::string, std::string> at_equals(const std::string& text) {
  const auto sign = text.find('=');
  return {text.substr(0, sign),
          sign == std::string::npos ? "" : text.substr(sign + 1)};
}

/// Over the runs that have a value.
struct value_spread {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> deviation;
};

value_spread spread_of(const sweep_row& row,
                       std::optional<double> sweep_run::*value) {
  value_spread out;
  for (const auto& run : row.runs)
    if (run.*value) {
      ++out.count;
      out.mean += (run.*value).value();
    }
  if (out.count == 0)
    return out;
  out.mean /= double(out.count);
  double squares = 0;
  for (const auto& run : row.runs)
    if (run.*value)
      squares += std::pow((run.*value).value() - out.mean, 2);
  if (out.count > 1)
    out.deviation = std::sqrt(squares / double(out.count - 1));
  return out;
}

bool has_errors(const sweep_row& row) {
  return std::ranges::any_of(row.runs, &sweep_run::errors);
}

/// Those of a row go by the same; a row in which nothing is over has none.
std::string metric_of(const sweep_row& row) {
  for (const auto& run : row.runs)
    if (run.validation || run.test)
      return run.metric;
  return {};
}

/// By what all rows go that have a value; empty if they go by several.
std::string metric_of(std::span<const sweep_row> rows) {
  std::set<std::string> found;
  for (const auto& row : rows)
    found.insert(metric_of(row));
  found.erase("");
  return found.empty() ? "accuracy" : found.size() == 1 ? *found.begin() : "";
}

/// The larger the better.
std::tuple<std::uint32_t, bool, bool, double>
rank_of(const sweep_row& row, std::optional<double> sweep_run::*by) {
  const auto told = spread_of(row, by);
  const auto errors = has_errors(row);
  return {row.epochs, told.count != 0, !errors,
          errors ? -told.mean : told.mean};
}

/// What rows are sorted by.
std::optional<double> sweep_run::*value_of(std::span<const sweep_row> rows) {
  const auto validated = std::ranges::any_of(rows, [](const sweep_row& row) {
    return spread_of(row, &sweep_run::validation).count != 0;
  });
  return validated ? &sweep_run::validation : &sweep_run::test;
}

/// @param errors Which may be of any size, as accuracies are not.
std::string spread_text(const value_spread& of, bool errors) {
  if (of.count == 0)
    return "-";
  if (errors)
    return of.deviation
             ? fmt::format("{:.4g} +- {:.2g}", of.mean, *of.deviation)
             : fmt::format("{:.4g}", of.mean);
  return of.deviation ? fmt::format("{:.4f} +- {:.4f}", of.mean, *of.deviation)
                      : fmt::format("{:.4f}", of.mean);
}

nlohmann::json spread_json(const value_spread& of) {
  if (of.count == 0)
    return {};
  return {{"mean", of.mean}, {"deviation", json_or_null(of.deviation)}};
}

std::optional<double> number_in(const nlohmann::json& summary,
                                const char* key) {
  const auto value = summary.value(key, nlohmann::json{});
  return value.is_number() ? std::optional{value.get<double>()} : std::nullopt;
}

/// What a summary tells of the validation of the best epoch, or of the test.
std::optional<double> figure_in(const nlohmann::json& summary, const char* of,
                                const std::string& metric) {
  const auto told = summary.value(of, nlohmann::json{});
  return told.is_object() ? number_in(told, metric.c_str()) : std::nullopt;
}

/// Adds what a run, or those of a row, came to, by the metric and by accuracy.
/// @param json_of Makes JSON of a value that runs have.
void add_results(nlohmann::json& to, const std::string& metric,
                 const auto& json_of) {
  to["validation_accuracy"] = json_of(&sweep_run::validation_accuracy);
  to["test_accuracy"] = json_of(&sweep_run::test_accuracy);
  const auto by = metric.empty() ? std::string{"accuracy"} : metric;
  to["validation_" + by] = json_of(&sweep_run::validation);
  to["test_" + by] = json_of(&sweep_run::test);
}

/// Whoever goes on with the best wants to know which runs these are.
std::string best_text(std::span<const sweep_row> rows) {
  const auto& best = rows.front();
  const auto value = value_of(rows);
  const auto equal = std::ranges::count_if(rows, [&](const sweep_row& row) {
    return rank_of(row, value) == rank_of(best, value);
  });
  if (equal > 1 && spread_of(best, value).count != 0)
    return fmt::format("the first {} rows are equally good\n", equal);
  std::vector<std::string> ids;
  for (const auto& run : best.runs)
    if (run.validation || run.test)
      ids.push_back(run.id);
  return ids.empty()
           ? ""
           : format_printable("best: {} {}\n", ids.size() == 1 ? "run" : "runs",
                              fmt::format("{}", fmt::join(ids, ", ")));
}

/// "as the file says" for what changes nothing.
std::string settings_text(const sweep_row& row) {
  return row.settings.empty() ? "as the file says"
                              : fmt::format("{}", fmt::join(row.settings, " "));
}

} // namespace

sweep_run read_sweep_run(const run_record& run, std::uint64_t seed) {
  sweep_run out{run.id, seed, run.state};
  const auto summary = parse_json(run.summary, "a summary");
  if (run.state != run_state::finished || !summary
      || !summary.value().is_object())
    return out;
  const auto metric = summary.value().value("metric", nlohmann::json{});
  if (metric.is_string())
    out.metric = metric.get<std::string>();
  out.validation_accuracy = number_in(summary.value(), "validation_accuracy");
  out.test_accuracy = number_in(summary.value(), "test_accuracy");
  out.epochs = static_cast<std::uint32_t>(
    number_in(summary.value(), "epochs").value_or(0));
  if (out.metric == "accuracy"
      && (out.validation_accuracy || out.test_accuracy)) {
    out.validation = out.validation_accuracy;
    out.test = out.test_accuracy;
    return out;
  }
  const auto by = out.metric != "accuracy"                    ? out.metric
                  : figure_in(summary.value(), "test", "mrr") ? "mrr"
                                                              : "mse";
  out.validation = figure_in(summary.value(), "validation", by);
  out.test = figure_in(summary.value(), "test", by);
  if (out.validation || out.test)
    out.metric = by;
  return out;
}

std::optional<double> validation_of(const sweep_row& row) {
  const auto told = spread_of(row, &sweep_run::validation);
  if (told.count == 0)
    return std::nullopt;
  return has_errors(row) ? -told.mean : told.mean;
}

void sort_sweep(std::vector<sweep_row>& rows) {
  const auto value = value_of(rows);
  std::ranges::stable_sort(
    rows, [value](const sweep_row& one, const sweep_row& other) {
      return rank_of(one, value) > rank_of(other, value);
    });
}

std::string sweep_text(std::span<const sweep_row> rows) {
  std::size_t width = std::string_view{"settings"}.size();
  for (const auto& row : rows)
    width = std::max(width, settings_text(row).size());
  const auto metric = metric_of(rows);
  const auto validation = "validation " + metric;
  const auto wide = std::max<std::size_t>(validation.size(), 16);
  // All have as many, unless a search has ended some early.
  const auto halved = !rows.empty() && rows.front().epochs != 0;
  auto out = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>8}{}\n", "settings", width,
                         validation, wide, "test " + metric, wide, "finished",
                         halved ? "  epochs" : "");
  for (const auto& row : rows) {
    const auto finished =
      std::ranges::count(row.runs, run_state::finished, &sweep_run::state);
    const auto errors = has_errors(row);
    out += format_printable(
      "{:<{}}  {:<{}}  {:<{}}  {:>8}{}\n", settings_text(row), width,
      spread_text(spread_of(row, &sweep_run::validation), errors), wide,
      spread_text(spread_of(row, &sweep_run::test), errors), wide,
      fmt::format("{}/{}", finished, row.runs.size()),
      halved ? fmt::format("  {:>6}", row.epochs) : "");
  }
  return rows.empty() ? out : out + best_text(rows);
}

nlohmann::json sweep_json(std::span<const sweep_row> rows) {
  auto out = nlohmann::json::array();
  for (const auto& row : rows) {
    auto settings = nlohmann::json::object();
    for (const auto& setting : row.settings) {
      const auto [field, value] = at_equals(setting);
      settings[field] = value;
    }
    auto runs = nlohmann::json::array();
    for (const auto& run : row.runs) {
      runs.push_back(
        {{"run", run.id},
         {"seed", run.seed},
         {"state", run.state ? nlohmann::json(to_string(*run.state))
                             : nlohmann::json()}});
      add_results(runs.back(), metric_of(row),
                  [&run](auto value) { return json_or_null(run.*value); });
    }
    const auto metric = metric_of(row);
    out.push_back(
      {{"settings", std::move(settings)},
       {"metric", metric.empty() ? nlohmann::json() : nlohmann::json(metric)},
       {"runs", std::move(runs)}});
    if (row.epochs != 0)
      out.back()["epochs"] = row.epochs;
    add_results(out.back(), metric, [&row](auto value) {
      return spread_json(spread_of(row, value));
    });
  }
  return out;
}

} // namespace graphmill
