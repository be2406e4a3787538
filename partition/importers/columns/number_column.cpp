#include "partition/importers/columns/number_column.hpp"

#include "partition/importers/columns/fields/field_items.hpp"
#include "partition/importers/exact_number.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace graphmill {

namespace {

constexpr std::int64_t widest_list = 4096;

} // namespace

std::unique_ptr<column_transform> number_column::make(column_options& options,
                                                      bool scaled_later) {
  auto out = std::make_unique<number_column>();
  out->scaled_later_ = scaled_later;
  out->reader_ = number_reader::of(options);
  out->separator_ = options.separator();
  const auto width = options.count("width", 0, 1, widest_list);
  if (out->separator_.empty() != (width == 0))
    options.add_mistake(
      "a list of numbers needs both separator and width, how many there are");
  const place one{number_fill::of(options), number_scale::of(options, "none")};
  out->places_.resize(static_cast<std::size_t>(width == 0 ? 1 : width), one);
  return out;
}

bool number_column::needs_fit() const {
  return places_.front().fill.needs_fit() || places_.front().scale.needs_fit();
}

/// Puts the numbers of a field into `items_`.
result<void> number_column::split(std::string_view field) {
  items_.assign(places_.size(), {});
  if (separator_.empty()) {
    items_.front() = field;
    return ok();
  }
  if (reader_.reads_nothing(field))
    return ok(); // All are missing.
  std::size_t count = 0;
  for_each_item(field, separator_, [&](std::string_view item) {
    if (count < items_.size())
      items_[count] = item;
    ++count;
  });
  if (count < items_.size())
    return fail(ec::invalid_data, "\"{}\" has {} numbers; {} expected", field,
                count, items_.size());
  return ok();
}

result<void> number_column::check(std::string_view field) {
  GRAPHMILL_TRYV(split(field));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    GRAPHMILL_TRY(const auto number, reader_.read(items_[i]));
    GRAPHMILL_TRYV(check(places_[i], number, items_[i]));
    if (number && fitted_)
      GRAPHMILL_TRYV(scaled(places_[i], number->value, items_[i]));
  }
  return ok();
}

/// Scales a number. Fails if float32 does not hold the result.
/// @param text What the number was read from.
result<double> number_column::scaled(const place& at, double value,
                                     std::string_view text) {
  const auto out = at.scale.apply(value);
  if (!std::isfinite(static_cast<float>(out)))
    return fail(ec::invalid_data,
                "{} becomes {} by its scale, which is beyond what float32 "
                "holds: correct it",
                text, out);
  return out;
}

/// @param text What the number was read from.
result<void>
number_column::check(const place& at,
                     const std::optional<number_reader::number>& number,
                     std::string_view text) const {
  if (!number && !at.fill.fills())
    return number_fill::not_filled();
  if (!number)
    return ok();
  // Also before a scale: one such number would make all others equal.
  if (!std::isfinite(number->narrow))
    return fail(ec::invalid_data,
                "{} is beyond what float32 holds: correct it, or limit the "
                "column by `lowest` and `highest` in a columns file "
                "(--columns FILE)",
                text);
  if (scaled_later_ || at.scale.scales())
    return ok();
  if (number->rounded)
    return fail(ec::invalid_data,
                "{}; scale it (--normalise standardise, or `scale: standard` "
                "in a columns file), or write it with a point if it may be "
                "rounded",
                rounded_integer_text(text));
  return ok();
}

result<void> number_column::learn(std::string_view field) {
  GRAPHMILL_TRYV(split(field));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    GRAPHMILL_TRY(const auto number, reader_.read(items_[i]));
    GRAPHMILL_TRYV(check(places_[i], number, items_[i]));
    if (!number)
      continue;
    if (places_[i].fill.needs_fit())
      places_[i].fill.learn(number->value);
    if (places_[i].scale.needs_fit())
      places_[i].scale.learn(number->value);
  }
  return ok();
}

result<void> number_column::finish() {
  for (auto& at : places_) {
    GRAPHMILL_TRYV(at.fill.finish());
    at.scale.finish();
  }
  fitted_ = true;
  return ok();
}

std::vector<std::string> number_column::names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto name =
      separator_.empty() ? std::string{} : fmt::format("[{}]", i + 1);
    out.push_back(name);
    if (places_[i].fill.indicates())
      out.push_back(name + "(missing)");
  }
  return out;
}

result<void> number_column::write(std::string_view field,
                                  std::span<double> out) {
  GRAPHMILL_TRYV(split(field));
  std::size_t to = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& at = places_[i];
    GRAPHMILL_TRY(const auto number, reader_.read(items_[i]));
    GRAPHMILL_TRYV(check(at, number, items_[i]));
    if (!number) {
      out[to++] = at.scale.apply(at.fill.value());
    } else if (scaled_later_ || at.scale.scales()) {
      GRAPHMILL_TRY(out[to++], scaled(at, number->value, items_[i]));
    } else {
      out[to++] = number->narrow;
    }
    if (at.fill.indicates())
      out[to++] = number ? 0 : 1;
  }
  return ok();
}

nlohmann::json number_column::state() const {
  auto out = nlohmann::json::array();
  for (const auto& at : places_)
    out.push_back(
      nlohmann::json{{"fill", at.fill.state()}, {"scale", at.scale.state()}});
  return out;
}

result<void> number_column::restore(const nlohmann::json& state) {
  if (!state.is_array() || state.size() != places_.size())
    return fail(ec::invalid_data, "the fitted state is of {} numbers, not {}",
                state.size(), places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto part = [&](const char* key) {
      return state[i].is_object() ? state[i].value(key, nlohmann::json{})
                                  : nlohmann::json{};
    };
    GRAPHMILL_TRYV(places_[i].fill.restore(part("fill")));
    GRAPHMILL_TRYV(places_[i].scale.restore(part("scale")));
  }
  fitted_ = true;
  return ok();
}

} // namespace graphmill
