#include "pipelines/figures/status_json.hpp"

#include "messages/words/field_name.hpp"
#include "partition/files/json_text.hpp"

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

  template <class T>
  void operator()(const char* name, const T& from) const {
    (*out)[user_name(name)] = json_of(from);
  }
};

nlohmann::json listed_daemon_json(const daemon_status& daemon) {
  return {{"name", daemon.name},
          {"address", daemon.address},
          {"host", daemon.host},
          {"state", to_string(daemon.state)},
          {"parts", daemon.parts},
          {"slots", daemon.slots},
          {"cuda_devices", daemon.cuda_devices},
          {"chaos", daemon.chaos},
          {"note", daemon.note},
          {"load", model_writer::json_of(daemon.load)}};
}

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
  auto daemons = nlohmann::json::array();
  for (const auto& daemon : now.daemons)
    daemons.push_back(listed_daemon_json(daemon));
  return {
    {"cluster", address},
    {"coordinator", now.coordinator},
    {"dataset", now.dataset},
    {"parts", now.parts},
    {"daemons", std::move(daemons)},
    {"owners", listed_owners_json(now)},
    {"running",
     now.running.empty() ? nlohmann::json() : nlohmann::json(now.running)},
    {"also_running", now.also_running},
    {"queued", now.queued},
    {"note", now.note},
    {"stand_ins", now.stand_ins},
  };
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
