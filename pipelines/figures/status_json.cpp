#include "pipelines/figures/status_json.hpp"

#include "messages/words/field_name.hpp"
#include "partition/files/json_text.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace graphmill {

namespace {

/// Figures by the names of their fields.
struct model_writer {
  nlohmann::json* out;

  template <class T>
  static nlohmann::json json_of(const T& from) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      return from;
    else if constexpr (std::is_enum_v<T>)
      return std::string{to_string(from)};
    else {
      auto inner = nlohmann::json::object();
      T::fields(from, model_writer{&inner});
      return inner;
    }
  }
  template <class T>
  static nlohmann::json json_of(const std::vector<T>& from) {
    auto list = nlohmann::json::array();
    for (const auto& one : from)
      list.push_back(json_of(one));
    return list;
  }
  template <class T>
  static nlohmann::json json_of(const std::optional<T>& from) {
    return from ? json_of(*from) : nlohmann::json{};
  }

  /// Figures without a member: those that the table has, by its names.
  void operator()(const char*,
                  const std::map<std::string, double>& from) const {
    for (const auto& row : figures::load)
      if (row.get == nullptr)
        if (const auto known = from.find(std::string{row.field});
            known != from.end())
          (*out)[known->first] = known->second;
  }

  template <class T>
  void operator()(const char* name, const T& from) const {
    (*out)[user_name(name)] = json_of(from);
  }
};

nlohmann::json listed_owners_json(const status_reply& now) {
  auto out = nlohmann::json::array();
  for (const auto& [part, daemons] : owners_in(now))
    out.push_back({{"part", part}, {"daemons", daemons}});
  return out;
}

nlohmann::json listed_time_json(unix_time when) {
  return when.count() <= 0 ? nlohmann::json()
                           : nlohmann::json(double(when.count()) * 1e-3);
}

nlohmann::json listed_run_json(const run_record& run) {
  return {{"run", run.id},
          {"name", run.name},
          {"state", to_string(run.state)},
          {"submitted", listed_time_json(run.submitted)},
          {"started", listed_time_json(run.started)},
          {"ended", listed_time_json(run.ended)},
          {"message", run.message},
          {"summary", summary_json(run)}};
}

nlohmann::json brief_json(nlohmann::json summary) {
  if (summary.is_object())
    for (const auto* grows : {"stages", "daemons"})
      summary.erase(grows);
  return summary;
}

} // namespace

std::map<part_id, std::vector<std::string>> owners_in(const status_reply& now) {
  std::map<part_id, std::vector<std::string>> out;
  for (const auto& daemon : now.daemons)
    if (daemon.state == daemon_state::ready)
      for (const auto part : daemon.parts)
        out[part].push_back(daemon.name);
  return out;
}

nlohmann::json status_json(const std::string& address,
                           const status_reply& now) {
  auto out = model_writer::json_of(now);
  out["cluster"] = address;
  out["owners"] = listed_owners_json(now);
  if (now.running.empty())
    out["running"] = nullptr;
  return out;
}

nlohmann::json run_status_json(const run_health& run) {
  auto out = model_writer::json_of(run);
  out["state"] = to_string(run_state::running);
  return out;
}

nlohmann::json run_status_json(const run_record& run) {
  return {{"run", run.id},
          {"state", to_string(run.state)},
          {"message", run.message},
          {"summary", brief_json(summary_json(run))}};
}

nlohmann::json run_list_json(const runs_reply& runs) {
  auto list = nlohmann::json::array();
  for (const auto& run : runs.runs)
    list.push_back(listed_run_json(run));
  return {{"runs", std::move(list)}, {"more", runs.more}};
}

nlohmann::json summary_json(const run_record& run) {
  auto out = parse_json(run.summary, "a summary");
  return out && out.value().is_object() ? std::move(out).value()
                                        : nlohmann::json();
}

std::string brief_summary(const std::string& summary) {
  const auto parsed = parse_json(summary, "a summary");
  if (!parsed || !parsed.value().is_object())
    return {};
  return brief_json(parsed.value())
    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace graphmill
