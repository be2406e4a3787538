#include "actors/commands/text/chaos_text.hpp"

#include "messages/base/printable.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace graphmill {

std::string plan_text(const std::vector<planned_fault>& plan) {
  std::string out;
  std::chrono::milliseconds at{0};
  for (const auto& fault : plan) {
    at += fault.after;
    out += format_printable("{:>8.1f} s  {}\n", double(at.count()) / 1000,
                            sentence_of(fault.request));
  }
  return out;
}

nlohmann::json to_json(const chaos_outcome& done) {
  const auto& what = done.fault.request;
  return {{"after_ms", done.fault.after.count()},
          {"daemon", what.daemon},
          {"kind", to_string(what.kind)},
          {"at", to_string(what.at)},
          {"wait_ms", what.wait.count()},
          {"lasts_ms", what.lasts.count()},
          {"each_ms", what.each.count()},
          {"messages", what.messages},
          {"peer", what.peer},
          {"outcome", done.outcome}};
}

result<std::vector<chaos_kind>> parse_chaos_kinds(const std::string& list) {
  std::vector<chaos_kind> out;
  for (std::size_t from = 0; from <= list.size();) {
    const auto end = std::min(list.find(',', from), list.size());
    const auto name = list.substr(from, end - from);
    const auto kind = chaos_kind_named(name);
    if (!kind)
      return fail(
        ec::invalid_argument,
        "--kinds has \"{}\"; kill, stop, delay, cut, corrupt or disk expected",
        name);
    if (std::ranges::find(out, *kind) != out.end())
      return fail(ec::invalid_argument, "--kinds has {} twice", name);
    out.push_back(*kind);
    from = end + 1;
  }
  return out;
}

result<std::vector<std::string>>
daemons_for_chaos(const std::vector<daemon_status>& daemons) {
  std::vector<std::string> out;
  std::vector<std::string> others;
  for (const auto& daemon : daemons)
    if (daemon.chaos)
      out.push_back(daemon.name);
    else if (daemon.state != daemon_state::lost)
      others.push_back(daemon.name);
  if (!others.empty() || out.empty())
    return fail(
      ec::permission,
      "this cluster does not allow chaos: {} started without --chaos-allowed",
      others.empty() ? std::string{"all of its daemons were"}
                     : fmt::format("{} {}", fmt::join(others, ", "),
                                   others.size() == 1 ? "was" : "were"));
  std::ranges::sort(out);
  return out;
}

} // namespace graphmill
