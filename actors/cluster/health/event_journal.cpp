#include "actors/cluster/health/event_journal.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

constexpr const char* file_name = "events.jsonl";
constexpr const char* old_name = ".old";

/// Pieces that wait for the disk.
constexpr std::size_t most_waiting = 4096;

/// Bytes and values of a line that may be one of ours: its texts are bounded.
constexpr std::size_t longest_line = 8 * 1024;
constexpr std::size_t most_values_of_line = 64;

/// What of a file is read: one of ours is little longer than it should be.
constexpr auto longest_file = 2 * event_journal::file_bytes;

/// Times of the year 9999 and earlier.
constexpr double latest_time = 253402300800.0;

constexpr const char* missing_field = "missing";
constexpr const char* cluster_field = "cluster";

std::string line_of_missing_events(std::size_t lines) {
  return nlohmann::json{{missing_field, lines}}.dump() + '\n';
}

std::string line_of_event(const cluster_event& event,
                          const std::string& cluster) {
  auto line = event_json(event);
  line[cluster_field] = cluster;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
         + '\n';
}

/// @returns nothing if it is no event.
std::optional<cluster_event> event_in(const nlohmann::json& line) {
  const auto text = [&line](const char* name) -> const std::string* {
    const auto at = line.find(name);
    return at == line.end() ? nullptr : at->get_ptr<const std::string*>();
  };
  const auto seq = line.find("seq");
  const auto time = line.find("time");
  const auto* kind = text("kind");
  const auto* who = text("who");
  const auto* run = text("run");
  const auto* what = text("text");
  if (seq == line.end() || !seq->is_number_unsigned() || time == line.end()
      || !time->is_number() || !kind || !who || !run || !what)
    return std::nullopt;
  const auto seconds = time->get<double>();
  const auto known = event_kind_of(*kind);
  if (!known || !(seconds >= 0 && seconds < latest_time))
    return std::nullopt;
  return cluster_event{seq->get<std::uint64_t>(),
                       unix_time{std::llround(seconds * 1000)},
                       *known,
                       *who,
                       *run,
                       *what};
}

/// Stands for events that are not in the file, before the next one that is: it
/// has the number of the last of them.
cluster_event missing_before(const cluster_event& next, std::uint64_t events) {
  return {next.seq - 1,
          next.time,
          event_kind::warning,
          {},
          {},
          fmt::format("{} before this could not be written, and {} lost since "
                      "the coordinator was restarted",
                      pluralized(events, "event"), events == 1 ? "is" : "are")};
}

/// Adds the events of a cluster in a text, in which each has a line.
/// @returns how many lines were none.
std::size_t add_events(std::string_view text, const std::string& cluster,
                       std::vector<cluster_event>& to) {
  std::size_t unreadable = 0;
  std::uint64_t missing = 0;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto parsed = line.size() > longest_line
                          ? fail(ec::invalid_data, "it is too long")
                          : parse_json(line, file_name, most_values_of_line);
    if (!parsed || !parsed.value().is_object()) {
      ++unreadable;
      continue;
    }
    const auto& fields = parsed.value();
    if (const auto gap = fields.find(missing_field); gap != fields.end()) {
      if (gap->is_number_unsigned())
        missing = gap->get<std::uint64_t>();
      else
        ++unreadable;
      continue;
    }
    auto event = event_in(fields);
    if (!event) {
      ++unreadable;
    } else if (fields.value(cluster_field, nlohmann::json{}) == cluster) {
      if (missing > 0 && event->seq > 0)
        to.push_back(missing_before(*event, missing));
      to.push_back(std::move(*event));
    }
    missing = 0;
  }
  return unreadable;
}

} // namespace

event_journal::event_journal(const std::filesystem::path& folder,
                             std::string cluster, complaint complain)
  : file_(folder / file_name), cluster_(std::move(cluster)),
    lines_(
      {rotated_file{file_, file_bytes, {old_name}}, line_of_missing_events,
       std::move(complain),
       "a restart of the coordinator loses the events until it can be written",
       "events can be written to " + file_.string() + " again"},
      most_waiting) {}

event_journal::past event_journal::former(std::uint64_t below) const {
  past out;
  auto& events = out.events;
  for (const auto* suffix : {old_name, ""}) {
    auto file = file_;
    file += suffix;
    const auto text = read_text(file, longest_file);
    if (!text) {
      if (text.error().code != ec::not_found)
        out.damage.push_back(text.error().message
                             + "; events before its start are lost");
      continue;
    }
    if (const auto unreadable = add_events(text.value(), cluster_, events))
      out.damage.push_back(fmt::format(
        "{} of {} {} no events, and left out", pluralized(unreadable, "line"),
        file.string(), unreadable == 1 ? "is" : "are"));
  }
  // Several may have written, one of which did not know yet that another one
  // leads the cluster.
  std::erase_if(events,
                [below](const auto& event) { return event.seq >= below; });
  std::ranges::stable_sort(events, {}, &cluster_event::seq);
  events.erase(std::unique(events.begin(), events.end(),
                           [](const auto& one, const auto& other) {
                             return one.seq == other.seq;
                           }),
               events.end());
  if (events.size() > event_ring::most)
    events.erase(events.begin(),
                 events.end() - std::ptrdiff_t(event_ring::most));
  return out;
}

void event_journal::add(const cluster_event& event) {
  try {
    lines_.write(line_of_event(event, cluster_));
  } catch (const std::exception&) {
    lines_.miss(); // It is told, whether it is noted or not.
  }
}

} // namespace graphmill
