#include "pipelines/definition/sizes/trainer_sizes.hpp"

#include "messages/words/number_text.hpp"
#include "partition/files/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace graphmill {

namespace {

constexpr std::int64_t most_epochs = 9'999'999;
constexpr std::int64_t most_steps = 9'999'999'999;
constexpr std::int64_t most_replicas = 64;

std::optional<size_change> change_of(std::optional<std::int64_t> epoch,
                                     std::optional<std::int64_t> step,
                                     std::optional<std::int64_t> replicas) {
  if (!epoch || *epoch < 0 || *epoch > most_epochs || !step || *step < 0
      || *step > most_steps || !replicas || *replicas < 1
      || *replicas > most_replicas)
    return std::nullopt;
  return size_change{{static_cast<std::int32_t>(*epoch), *step},
                     static_cast<std::uint32_t>(*replicas)};
}

} // namespace

std::optional<size_change> parse_size_change(std::string_view text) {
  const auto slash = text.find('/');
  const auto colon = text.find(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos
      || colon < slash)
    return std::nullopt;
  return change_of(
    number_from<std::int64_t>(text.substr(0, slash)),
    number_from<std::int64_t>(text.substr(slash + 1, colon - slash - 1)),
    number_from<std::int64_t>(text.substr(colon + 1)));
}

std::string to_string(const size_change& change) {
  return fmt::format("{}/{}:{}", change.at.epoch, change.at.step,
                     change.replicas);
}

std::string sizes_text(const std::vector<size_change>& sizes) {
  std::vector<std::string> texts;
  for (const auto& change : sizes)
    texts.push_back(to_string(change));
  return fmt::format("{}", fmt::join(texts, ", "));
}

nlohmann::json sizes_json(const std::vector<size_change>& sizes) {
  auto out = nlohmann::json::array();
  for (const auto& change : sizes)
    out.push_back({{"epoch", change.at.epoch},
                   {"step", change.at.step},
                   {"replicas", change.replicas}});
  return out;
}

std::optional<std::vector<size_change>> sizes_in(const nlohmann::json& list) {
  if (!list.is_array())
    return std::nullopt;
  std::vector<size_change> out;
  for (const auto& entry : list) {
    if (!entry.is_object())
      return std::nullopt;
    const auto number = [&entry](const char* name) {
      return integer_of(entry.value(name, nlohmann::json{}));
    };
    const auto change =
      change_of(number("epoch"), number("step"), number("replicas"));
    if (!change || (!out.empty() && change->at <= out.back().at))
      return std::nullopt;
    out.push_back(*change);
  }
  return out;
}

std::vector<size_change> sizes_of(const definition& def) {
  std::vector<size_change> out;
  for (const auto& text : def.trainer.sizes)
    if (const auto change = parse_size_change(text))
      out.push_back(*change);
  return out;
}

std::optional<std::uint32_t> size_at(const definition& def,
                                     const run_point& at) {
  std::optional<std::uint32_t> out;
  for (const auto& change : sizes_of(def))
    if (change.at <= at)
      out = change.replicas;
  return out;
}

std::optional<run_point> next_change(const definition& def,
                                     const run_point& at) {
  for (const auto& change : sizes_of(def))
    if (change.at > at)
      return change.at;
  return std::nullopt;
}

definition sized(definition def, std::uint32_t replicas) {
  if (!def.trainer.is_elastic())
    return def;
  def.trainer.replicas = replicas;
  def.trainer.min_replicas = 0;
  def.trainer.sizes.clear();
  return def;
}

void note_size(std::vector<size_change>& sizes, const size_change& now) {
  std::erase_if(sizes, [&now](const auto& old) { return old.at >= now.at; });
  if (sizes.empty() || sizes.back().replicas != now.replicas)
    sizes.push_back(now);
}

std::int64_t parts_until(const std::vector<size_change>& sizes,
                         const run_point& at) {
  std::int64_t parts = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // The steps of the epoch that it has had this size for.
    const auto begin =
      sizes[i].at.epoch == at.epoch ? sizes[i].at.step : std::int64_t{0};
    const auto until =
      i + 1 < sizes.size() ? std::min(sizes[i + 1].at, at) : at;
    if (sizes[i].at.epoch > at.epoch || until.epoch < at.epoch)
      continue;
    parts += std::max<std::int64_t>(0, until.step - begin)
             * std::int64_t{sizes[i].replicas};
  }
  return parts;
}

} // namespace graphmill
