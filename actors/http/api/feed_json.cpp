#include "actors/http/api/feed_json.hpp"

#include "actors/process/logs/log_lines.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace graphmill {

namespace {

double json_time(unix_time time) {
  return double(time.count()) / 1000;
}

/// Null if it is not known. As short as a float can be told: it has no more
/// digits than these.
nlohmann::json figure_json(float value) {
  if (!std::isfinite(value))
    return nullptr;
  std::array<char, 32> text{};
  const auto end =
    std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double out = 0;
  std::from_chars(text.data(), end, out);
  return out;
}

/// Null, too, if it is no number of things that there could be.
nlohmann::json figure_json(figure_unit unit, float value) {
  if (unit != figure_unit::bytes && unit != figure_unit::count)
    return figure_json(value);
  return value >= 0 && value < 0x1p63f ? nlohmann::json(std::llround(value))
                                       : nlohmann::json();
}

/// The names of the fields of a table between those that are no figures.
template <std::size_t Rows, class T>
nlohmann::json field_names(nlohmann::json out, const figure<T> (&table)[Rows],
                           const char* last = nullptr) {
  for_each_field(
    table, [&out](const auto& row, std::size_t) { out.push_back(row.field); });
  if (last != nullptr)
    out.push_back(last);
  return out;
}

/// Their values.
template <std::size_t Rows, class T>
void add_fields(nlohmann::json& to, const figure<T> (&table)[Rows],
                const auto& values) {
  for_each_field(table, [&](const auto& row, std::size_t at) {
    to.push_back(figure_json(row.unit, values[at]));
  });
}

nlohmann::json sample_row(double time, const daemon_sample& of) {
  auto out = nlohmann::json::array({time});
  add_fields(out, figures::load, of.figures);
  out.push_back(to_string(of.state));
  return out;
}

nlohmann::json sample_row(double time, const stage_sample& of) {
  auto out = nlohmann::json::array({time});
  add_fields(out, figures::actor, of.shares);
  return out;
}

nlohmann::json sample_row(double time, const std::optional<run_progress>& of) {
  nlohmann::json out{time, of ? nlohmann::json(to_string(of->phase))
                              : nlohmann::json()};
  for_each_field(figures::progress, [&](const auto& row, std::size_t) {
    const auto value = of ? row.value(*of) : std::nullopt;
    if (value && row.unit == figure_unit::count)
      out.push_back(std::llround(*value));
    else
      out.push_back(value ? figure_json(float(*value)) : nlohmann::json());
  });
  return out;
}

nlohmann::json sample_row(const actor_period& in, const actor_sample& of) {
  const auto share = [](std::uint8_t parts) {
    return double(parts) / actor_sample::whole;
  };
  return {json_time(in.begin),
          json_time(in.end - in.begin),
          to_string(of.state),
          share(of.busy),
          share(of.starved),
          share(of.stalled),
          share(of.waiting),
          share(of.down),
          of.queue};
}

/// The rows of a name; with the names of their fields, if these are the first.
nlohmann::json& sample_rows(nlohmann::json& in, const nlohmann::json& fields) {
  if (!in.contains("fields"))
    in = {{"fields", fields}, {"rows", nlohmann::json::array()}};
  return in["rows"];
}

void add_run(nlohmann::json& runs, const run_sample& run, double time) {
  static const auto run_fields =
    field_names(nlohmann::json::array({"time", "phase"}), figures::progress);
  static const auto stage_fields =
    field_names(nlohmann::json::array({"time"}), figures::actor);
  auto& out = runs[run.run];
  sample_rows(out, run_fields).push_back(sample_row(time, run.progress));
  auto& stages = out["stages"];
  if (stages.is_null())
    stages = nlohmann::json::object();
  for (const auto& stage : run.stages)
    sample_rows(stages[std::string{to_string(stage.kind)}], stage_fields)
      .push_back(sample_row(time, stage));
}

} // namespace

nlohmann::json history_json(const cluster_history::page& page) {
  static const auto daemon_fields =
    field_names(nlohmann::json::array({"time"}), figures::load, "state");
  auto daemons = nlohmann::json::object();
  auto runs = nlohmann::json::object();
  for (const auto& tick : page.ticks) {
    const auto time = json_time(tick->time);
    for (std::size_t d = 0; d < tick->rows.size(); ++d)
      sample_rows(daemons[(*tick->daemons)[d]], daemon_fields)
        .push_back(sample_row(time, tick->rows[d]));
    for (const auto& run : tick->runs)
      add_run(runs, run, time);
  }
  return {{"now", page.now.count() == 0 ? nlohmann::json()
                                        : nlohmann::json(json_time(page.now))},
          {"next", page.next},
          {"more", page.more},
          {"daemons", std::move(daemons)},
          {"runs", std::move(runs)}};
}

nlohmann::json actors_json(const std::vector<actor_periods::period>& periods,
                           const std::string& daemon, const std::string& kind,
                           std::size_t most_rows) {
  static const nlohmann::json fields{"time",    "seconds", "state",
                                     "busy",    "starved", "stalled",
                                     "waiting", "down",    "queue"};
  const auto is_asked_for = [&kind](const actor_place& place) {
    return kind.empty() || to_string(place.kind) == kind;
  };
  std::map<actor_place, std::vector<nlohmann::json>> told; // The last first.
  std::size_t rows = 0;
  for (auto at = periods.rbegin(); at != periods.rend(); ++at) {
    const auto* share = (*at)->of(daemon);
    if (share == nullptr)
      continue;
    const auto& places = *share->actors;
    rows +=
      static_cast<std::size_t>(std::ranges::count_if(places, is_asked_for));
    if (rows > most_rows && !told.empty())
      break;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (is_asked_for(places[i]))
        told[places[i]].push_back(sample_row(**at, share->samples[i]));
  }
  auto actors = nlohmann::json::array();
  for (auto& [place, its_rows] : told) {
    std::ranges::reverse(its_rows);
    actors.push_back({{"kind", to_string(place.kind)},
                      {"part", place.part},
                      {"rank", place.rank},
                      {"peer", place.peer},
                      {"rows", std::move(its_rows)}});
  }
  return {{"fields", fields}, {"actors", std::move(actors)}};
}

nlohmann::json events_json(const event_ring::page& page) {
  auto list = nlohmann::json::array();
  for (const auto& event : page.events)
    list.push_back(event_json(event));
  return {{"next", page.next}, {"events", std::move(list)}};
}

nlohmann::json log_json(const log_reply& page) {
  auto list = nlohmann::json::array();
  for (const auto& line : page.lines)
    list.push_back(log_line_json(line));
  return {{"next", page.next},
          {"more", page.more},
          {"missing", page.missing},
          {"anew", page.anew},
          {"lines", std::move(list)}};
}

} // namespace graphmill
