#include "partition/importers/columns/bucket_column.hpp"

#include "messages/words/number_text.hpp"

#include <algorithm>
#include <cmath>

namespace graphmill {

namespace {

constexpr std::int64_t most_buckets = 4096;

} // namespace

std::unique_ptr<column_transform> bucket_column::make(column_options& options,
                                                      bool /*scaled_later*/) {
  auto out = std::make_unique<bucket_column>();
  out->reader_ = number_reader::of(options);
  out->fill_ = number_fill::of(options);
  out->count_ = options.count("count", 10, 1, most_buckets);
  out->window_ = options.number("window").value_or(0);
  if (out->window_ < 0)
    options.add_mistake("window is negative");
  const auto range = options.texts("range");
  const auto begin =
    range.size() == 2 ? number_from<double>(range[0]) : std::nullopt;
  const auto end =
    range.size() == 2 ? number_from<double>(range[1]) : std::nullopt;
  if (!begin || !end || !std::isfinite(*begin) || !std::isfinite(*end)
      || *begin >= *end) {
    options.add_mistake("range should be two numbers, the lower one first, "
                        "such as [0, 100]");
    return out;
  }
  out->begin_ = *begin;
  out->end_ = *end;
  return out;
}

std::int64_t bucket_column::bucket_of(double value) const {
  const auto place = std::floor((value - begin_) / (end_ - begin_)
                                * static_cast<double>(count_));
  return static_cast<std::int64_t>(
    std::clamp(place, 0.0, static_cast<double>(count_ - 1)));
}

result<void> bucket_column::check(std::string_view field) {
  GRAPHMILL_TRY(const auto number, reader_.read(field));
  return number || fill_.fills() ? ok()
                                 : result<void>{number_fill::not_filled()};
}

result<void> bucket_column::learn(std::string_view field) {
  GRAPHMILL_TRY(const auto number, reader_.read(field));
  if (!number && !fill_.fills())
    return number_fill::not_filled();
  if (number)
    fill_.learn(number->value);
  return ok();
}

std::vector<std::string> bucket_column::names() const {
  const auto step = (end_ - begin_) / static_cast<double>(count_);
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < count_; ++i)
    out.push_back(fmt::format("[{:g},{:g})",
                              begin_ + step * static_cast<double>(i),
                              begin_ + step * static_cast<double>(i + 1)));
  if (fill_.indicates())
    out.emplace_back("(missing)");
  return out;
}

result<void> bucket_column::write(std::string_view field,
                                  std::span<double> out) {
  GRAPHMILL_TRY(const auto number, reader_.read(field));
  if (!number && !fill_.fills())
    return number_fill::not_filled();
  if (!number && fill_.indicates())
    out.back() = 1;
  if (!number && !fill_.has_value())
    return ok(); // No range.
  const auto value = number ? number->value : fill_.value();
  const auto last = bucket_of(value + window_ / 2);
  for (auto i = bucket_of(value - window_ / 2); i <= last; ++i)
    out[static_cast<std::size_t>(i)] = 1;
  return ok();
}

} // namespace graphmill
