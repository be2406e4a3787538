#include "partition/importers/columns/date_column.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace graphmill {

namespace {

/// A part of a date that comes again.
struct cyclic_part {
  std::string_view name;
  double cycle;
  double (*of)(const calendar_moment&); ///< From 0 to below the cycle.
};
constexpr auto cyclic_parts = std::to_array<cyclic_part>({
  {"month", 12, [](const calendar_moment& m) { return m.month - 1.0; }},
  {"day", 31, [](const calendar_moment& m) { return m.day - 1.0; }},
  {"day_of_year", 366,
   [](const calendar_moment& m) { return m.day_of_year * 1.0; }},
  {"weekday", 7, [](const calendar_moment& m) { return m.weekday * 1.0; }},
  {"hour", 24,
   [](const calendar_moment& m) { return m.hour + m.minute / 60.0; }},
  {"minute", 60, [](const calendar_moment& m) { return m.minute * 1.0; }},
});

const cyclic_part* find_cyclic(std::string_view name) {
  const auto* at = std::ranges::find(cyclic_parts, name, &cyclic_part::name);
  return at == cyclic_parts.end() ? nullptr : at;
}

constexpr double seconds_per_day = 86400;

} // namespace

std::unique_ptr<column_transform> date_column::make(column_options& options,
                                                    bool /*scaled_later*/) {
  auto out = std::make_unique<date_column>();
  out->format_ = options.text("format").value_or("iso");
  if (auto checked = check_date_format(out->format_); !checked)
    options.add_mistake(checked.error().message);
  out->none_ = options.texts("none");
  out->parts_ = options.texts("parts");
  if (out->parts_.empty())
    out->parts_ = {"days"};
  for (const auto& part : out->parts_) {
    out->days_ = out->days_ || part == "days";
    if (part != "days" && part != "year" && find_cyclic(part) == nullptr)
      options.add_mistake(
        fmt::format("parts has \"{}\"; days, year, month, day, day_of_year, "
                    "weekday, hour and minute are known",
                    part));
  }
  out->fill_ = number_fill::of(options);
  out->scale_ = number_scale::of(options, "standard");
  return out;
}

/// The moment in a field; nothing if it is missing, and something else is made
/// of that.
result<std::optional<calendar_moment>>
date_column::read(std::string_view field) const {
  if (!is_missing(field, none_)) {
    GRAPHMILL_TRY(const auto moment, read_moment(field, format_));
    return std::optional{moment};
  }
  if (fill_.fills())
    return std::optional<calendar_moment>{};
  return fail(ec::invalid_data,
              "the date is missing; say `missing: true` or `fill: mean`, or "
              "leave the column out");
}

result<void> date_column::check(std::string_view field) {
  GRAPHMILL_TRYV(read(field));
  return ok();
}

result<void> date_column::learn(std::string_view field) {
  GRAPHMILL_TRY(const auto at, read(field));
  if (!at)
    return ok();
  const auto days = at->seconds / seconds_per_day;
  fill_.learn(days);
  scale_.learn(days);
  return ok();
}

result<void> date_column::finish() {
  scale_.finish();
  return fill_.finish();
}

std::vector<std::string> date_column::names() const {
  std::vector<std::string> out;
  for (const auto& part : parts_) {
    if (find_cyclic(part) == nullptr) {
      out.push_back("." + part);
      continue;
    }
    out.push_back("." + part + ".sin");
    out.push_back("." + part + ".cos");
  }
  if (fill_.indicates())
    out.emplace_back("(missing)");
  return out;
}

result<void> date_column::write(std::string_view field, std::span<double> out) {
  GRAPHMILL_TRY(const auto at, read(field));
  if (!at) {
    // Days can be filled. A mean of weekdays makes no sense.
    std::size_t to = 0;
    for (const auto& part : parts_) {
      if (part == "days")
        out[to] = fill_.has_value() ? scale_.apply(fill_.value()) : 0;
      to += find_cyclic(part) == nullptr ? 1 : 2;
    }
    if (fill_.indicates())
      out.back() = 1;
    return ok();
  }
  furthest_ = std::max(furthest_, std::fabs(at->seconds));
  std::size_t to = 0;
  for (const auto& part : parts_) {
    if (part == "days") {
      out[to++] = scale_.apply(at->seconds / seconds_per_day);
    } else if (part == "year") {
      out[to++] = at->year;
    } else {
      const auto* cyclic = find_cyclic(part);
      const auto angle = 2 * std::numbers::pi * cyclic->of(*at) / cyclic->cycle;
      out[to++] = std::sin(angle);
      out[to++] = std::cos(angle);
    }
  }
  return ok();
}

nlohmann::json date_column::state() const {
  return {{"fill", fill_.state()}, {"scale", scale_.state()}};
}

result<void> date_column::restore(const nlohmann::json& state) {
  if (!days_)
    return ok();
  const auto part = [&state](const char* key) {
    return state.is_object() ? state.value(key, nlohmann::json{})
                             : nlohmann::json{};
  };
  GRAPHMILL_TRYV(fill_.restore(part("fill")));
  return scale_.restore(part("scale"));
}

/// Seconds that are read as milliseconds are in the first weeks of 1970.
std::string date_column::note() const {
  constexpr double first_weeks = 84 * seconds_per_day;
  if (!format_.starts_with("epoch-") || furthest_ == 0
      || furthest_ > first_weeks)
    return {};
  return fmt::format("all moments are within 84 days of the beginning of 1970; "
                     "are they in another unit than `format: {}` says?",
                     format_);
}

} // namespace graphmill
