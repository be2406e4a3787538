#include "actors/commands/text/sweep_table.hpp"

#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace graphmill {

namespace {

/// Parts of a text between commas that stand in no bracket.
std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth <= 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

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

/// The larger the better.
std::tuple<bool, bool, double> rank_of(const sweep_row& row,
                                       std::optional<double> sweep_run::*by) {
  const auto told = spread_of(row, by);
  const auto errors = has_errors(row);
  return {told.count != 0, !errors, errors ? -told.mean : told.mean};
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
std::optional<double> squared_error(const nlohmann::json& summary,
                                    const char* of) {
  const auto told = summary.value(of, nlohmann::json{});
  return told.is_object() ? number_in(told, "mse") : std::nullopt;
}

/// Adds what a run, or those of a row, came to.
void add_results(nlohmann::json& to, bool errors, nlohmann::json validation,
                 nlohmann::json test) {
  to["validation_accuracy"] = nullptr;
  to["test_accuracy"] = nullptr;
  to[errors ? "validation_mse" : "validation_accuracy"] = std::move(validation);
  to[errors ? "test_mse" : "test_accuracy"] = std::move(test);
}

/// Whoever goes on with the best wants to know which runs these are.
std::string best_text(const sweep_row& best) {
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

result<sweep_axis> parse_sweep_axis(const std::string& text) {
  auto [field, values] = at_equals(text);
  sweep_axis out{std::move(field), split_outside_brackets(values)};
  if (out.field.empty()
      || std::ranges::find(out.values, "") != out.values.end())
    return fail(ec::invalid_argument,
                "{}: write a field and its values, as in model.hidden=64,256",
                in_quotes(text));
  const std::set<std::string> different{out.values.begin(), out.values.end()};
  if (different.size() < out.values.size())
    return fail(ec::invalid_argument,
                "{}: a value comes twice; --repeat runs each several times",
                in_quotes(text));
  return out;
}

result<std::vector<std::vector<std::string>>>
sweep_combinations(std::span<const sweep_axis> axes, std::size_t most) {
  std::vector<std::vector<std::string>> out(1);
  std::set<std::string> seen;
  for (const auto& axis : axes) {
    if (!seen.insert(axis.field).second)
      return fail(ec::invalid_argument,
                  "--grid has {} twice: give all of its values at once",
                  in_quotes(axis.field));
    if (axis.values.size() > most / out.size())
      return fail(ec::invalid_argument,
                  "--grid has more combinations than the {} runs that may be "
                  "queued at once: give fewer values or repeats",
                  most);
    std::vector<std::vector<std::string>> longer;
    for (const auto& chosen : out)
      for (const auto& value : axis.values) {
        longer.push_back(chosen);
        longer.back().push_back(axis.field + "=" + value);
      }
    out = std::move(longer);
  }
  return out;
}

sweep_run read_sweep_run(const run_record& run, std::uint64_t seed) {
  sweep_run out{run.id, seed, run.state, {}, {}};
  const auto summary = parse_json(run.summary, "a summary");
  if (run.state != run_state::finished || !summary
      || !summary.value().is_object())
    return out;
  out.validation = number_in(summary.value(), "validation_accuracy");
  out.test = number_in(summary.value(), "test_accuracy");
  if (out.validation || out.test)
    return out;
  out.validation = squared_error(summary.value(), "validation");
  out.test = squared_error(summary.value(), "test");
  out.errors = out.validation || out.test;
  return out;
}

void sort_sweep(std::vector<sweep_row>& rows) {
  const auto validated = std::ranges::any_of(rows, [](const sweep_row& row) {
    return spread_of(row, &sweep_run::validation).count != 0;
  });
  const auto value = validated ? &sweep_run::validation : &sweep_run::test;
  std::ranges::stable_sort(
    rows, [value](const sweep_row& one, const sweep_row& other) {
      return rank_of(one, value) > rank_of(other, value);
    });
}

std::string sweep_text(std::span<const sweep_row> rows) {
  std::size_t width = std::string_view{"settings"}.size();
  for (const auto& row : rows)
    width = std::max(width, settings_text(row).size());
  const auto errors = std::ranges::any_of(rows, has_errors);
  auto out = fmt::format("{:<{}}  {:<16}  {:<16}  {:>8}\n", "settings", width,
                         errors ? "validation MSE" : "validation",
                         errors ? "test MSE" : "test", "finished");
  for (const auto& row : rows) {
    const auto finished =
      std::ranges::count(row.runs, run_state::finished, &sweep_run::state);
    out += format_printable(
      "{:<{}}  {:<16}  {:<16}  {:>8}\n", settings_text(row), width,
      spread_text(spread_of(row, &sweep_run::validation), errors),
      spread_text(spread_of(row, &sweep_run::test), errors),
      fmt::format("{}/{}", finished, row.runs.size()));
  }
  return rows.empty() ? out : out + best_text(rows.front());
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
      add_results(runs.back(), run.errors, json_or_null(run.validation),
                  json_or_null(run.test));
    }
    out.push_back(
      {{"settings", std::move(settings)}, {"runs", std::move(runs)}});
    add_results(out.back(), has_errors(row),
                spread_json(spread_of(row, &sweep_run::validation)),
                spread_json(spread_of(row, &sweep_run::test)));
  }
  return out;
}

} // namespace graphmill
