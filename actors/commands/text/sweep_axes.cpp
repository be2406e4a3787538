#include "actors/commands/text/sweep_axes.hpp"

#include "messages/words/number_text.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/definition/yaml/scalar_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr std::string_view log_prefix = "log:";

/// Of narrow ranges all draws may look alike.
constexpr std::size_t draws_per_setting = 1000;

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

bool is_whole_text(const std::string& text) {
  return number_from<std::int64_t>(text).has_value();
}

/// "1e-4..1e-1", or with "log:" before it. Nothing: the text is no range.
result<std::optional<sweep_range>> range_in(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos)
    return std::optional<sweep_range>{};
  sweep_range out;
  auto low_text = std::string{text.substr(0, dots)};
  out.logarithmic = low_text.starts_with(log_prefix);
  if (out.logarithmic)
    low_text.erase(0, log_prefix.size());
  const auto high_text = std::string{text.substr(dots + 2)};
  const auto low = parse_number(low_text);
  const auto high = parse_number(high_text);
  if (!out.logarithmic && !(low && high))
    return std::optional<sweep_range>{}; // As a path with ".." is none.
  if (!low || !high || !(*low < *high) || (out.logarithmic && *low <= 0))
    return fail(ec::invalid_argument,
                "{}: write a range as LOW..HIGH or log:LOW..HIGH, with LOW "
                "below HIGH, and above 0 for log",
                in_quotes(text));
  out.low = *low;
  out.high = *high;
  out.whole = is_whole_text(low_text) && is_whole_text(high_text);
  return std::optional{out};
}

/// The same in all builds, which distributions of the library are not.
class value_draws {
public:
  explicit value_draws(std::uint64_t seed) : words_(seed) {}

  std::string of(const sweep_axis& axis) {
    if (!axis.range)
      return axis.values[std::min(
        axis.values.size() - 1,
        static_cast<std::size_t>(share() * double(axis.values.size())))];
    const auto& range = *axis.range;
    const auto up = range.whole ? 1.0 : 0.0; // The last number is in, too.
    const auto value =
      range.logarithmic
        ? range.low * std::pow((range.high + up) / range.low, share())
        : range.low + (range.high + up - range.low) * share();
    if (range.whole)
      return fmt::format("{}", static_cast<std::int64_t>(
                                 std::min(std::floor(value), range.high)));
    // Short, unless that leaves the range.
    const auto text = fmt::format("{:.4g}", value);
    const auto read = parse_number(text).value_or(range.high);
    return read < range.low || read > range.high ? fmt::format("{}", value)
                                                 : text;
  }

private:
  /// From 0 to 1.
  double share() { return double(words_() >> 11) * 0x1p-53; }

  std::mt19937_64 words_;
};

result<void> check_different(std::span<const sweep_axis> axes) {
  std::set<std::string> seen;
  for (const auto& axis : axes)
    if (!seen.insert(axis.field).second)
      return fail(ec::invalid_argument,
                  "--grid has {} twice: give all its values at once",
                  in_quotes(axis.field));
  return ok();
}

/// How many combinations there are; infinitely many with a range of numbers
/// that are not whole.
double combinations_of(std::span<const sweep_axis> axes) {
  double out = 1;
  for (const auto& axis : axes)
    out *= !axis.range         ? double(axis.values.size())
           : axis.range->whole ? axis.range->high - axis.range->low + 1
                               : HUGE_VAL;
  return out;
}

/// What a value is in a name: "[10,5]" is "10x5".
std::string value_in_name(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const auto letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const auto digit = c >= '0' && c <= '9';
    if (letter && out.empty())
      out += '_';
    if (letter || digit || c == '.' || c == '-')
      out += c;
    else if (c == ',')
      out += 'x';
  }
  return out;
}

std::string_view last_word(std::string_view field) {
  return field.substr(field.rfind('.') + 1);
}

} // namespace

result<sweep_axis> parse_sweep_axis(const std::string& text) {
  const auto sign = std::min(text.find('='), text.size());
  sweep_axis out{text.substr(0, sign), {}};
  const auto values = text.substr(std::min(sign + 1, text.size()));
  GRAPHMILL_TRY(out.range, range_in(values));
  if (!out.range)
    out.values = split_outside_brackets(values);
  if (out.field.empty()
      || std::ranges::find(out.values, "") != out.values.end())
    return fail(ec::invalid_argument,
                "{}: write a field and its values, as in model.hidden=64,256",
                in_quotes(text));
  const std::set<std::string> different{out.values.begin(), out.values.end()};
  if (different.size() < out.values.size())
    return fail(
      ec::invalid_argument,
      "{}: a value is there twice; --repeat runs each setting several times",
      in_quotes(text));
  return out;
}

result<std::vector<sweep_settings>>
sweep_combinations(std::span<const sweep_axis> axes, std::size_t most) {
  GRAPHMILL_TRYV(check_different(axes));
  std::vector<sweep_settings> out(1);
  for (const auto& axis : axes) {
    if (axis.range)
      return fail(ec::invalid_argument,
                  "--grid {} has a range: --random N draws N settings from it",
                  axis.field);
    if (axis.values.size() > most / out.size())
      return fail(ec::invalid_argument,
                  "--grid has more than {} combinations; with their repeats "
                  "that is the largest number of queued runs: give fewer "
                  "values or repeats, or --random N, which draws some",
                  most);
    std::vector<sweep_settings> longer;
    for (const auto& chosen : out)
      for (const auto& value : axis.values) {
        longer.push_back(chosen);
        longer.back().push_back(axis.field + "=" + value);
      }
    out = std::move(longer);
  }
  return out;
}

result<std::vector<sweep_settings>>
random_combinations(std::span<const sweep_axis> axes, std::size_t count,
                    std::uint64_t seed) {
  GRAPHMILL_TRYV(check_different(axes));
  if (combinations_of(axes) < double(count))
    return fail(ec::invalid_argument,
                "--random {}: --grid has only {} combinations; leave --random "
                "out to run all of them",
                count, combinations_of(axes));
  std::vector<sweep_settings> out;
  std::set<sweep_settings> seen;
  value_draws draws{seed};
  for (auto left = draws_per_setting * count; out.size() < count; --left) {
    if (left == 0)
      return fail(ec::invalid_argument,
                  "--random {}: draws from --grid give {} different settings: "
                  "widen its ranges",
                  count, out.size());
    sweep_settings one;
    for (const auto& axis : axes)
      one.push_back(axis.field + "=" + draws.of(axis));
    if (seen.insert(one).second)
      out.push_back(std::move(one));
  }
  return out;
}

std::string name_of_settings(std::span<const std::string> settings) {
  const auto field_of = [](std::string_view setting) {
    return setting.substr(0, setting.find('='));
  };
  std::string out;
  for (const std::string_view setting : settings) {
    const auto field = field_of(setting);
    const auto alike =
      std::ranges::count_if(settings, [&](const std::string& other) {
        return last_word(field_of(other)) == last_word(field);
      });
    out += '-';
    out += alike > 1 ? field : last_word(field);
    out += value_in_name(setting.substr(field.size() + 1));
  }
  return out;
}

} // namespace graphmill
