#include "actors/commands/text/run_screen.hpp"

#include "actors/commands/text/figure_columns.hpp"
#include "actors/commands/text/health_text.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/base/printable.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace graphmill {

namespace {

/// Of daemons, of those in trouble, and of long work.
constexpr std::size_t most_screen_rows = 12;

/// A name that somebody has chosen.
constexpr std::size_t most_name_bytes = 24;

/// The actors of a kind, over all daemons.
struct kind_sums {
  std::uint64_t workers = 0;
  std::array<std::uint64_t, actor_states> states{};       ///< Workers in each.
  double busy = 0, starved = 0, stalled = 0, waiting = 0; ///< Of all together.
  double items_per_second = 0;
  double p99_latency = 0; ///< The longest.

  void add(const actor_health& actor) {
    const auto many = double(actor.workers);
    workers += actor.workers;
    states[static_cast<std::size_t>(actor.state)] += actor.workers;
    busy += many * actor.busy;
    starved += many * actor.starved;
    stalled += many * actor.stalled;
    waiting += many * actor.waiting;
    items_per_second += actor.items_per_second;
    p99_latency = std::max(p99_latency, actor.p99_latency);
  }

  /// "2 running, 1 starved"; without numbers if all are in the same state.
  std::string states_text() const {
    std::string out;
    for (std::size_t state = 0; state < states.size(); ++state) {
      if (states[state] == 0)
        continue;
      if (!out.empty())
        out += ", ";
      if (states[state] != workers)
        out += fmt::format("{} ", states[state]);
      out += to_string(static_cast<actor_state>(state));
    }
    return out;
  }
};

std::string kinds_text(const run_health& run) {
  std::map<actor_kind, kind_sums> kinds;
  for (const auto& daemon : run.daemons)
    for (const auto& actor : daemon.actors)
      kinds[actor.kind].add(actor);
  if (kinds.empty())
    return {};
  auto out =
    fmt::format("\n{:<16} {:>7} {:>5} {:>6} {:>7} {:>6} {:>8} {:>7}  {}\n",
                "actors", "workers", "busy%", "input%", "credit%", "reply%",
                "items/s", "p99 ms", "state");
  for (const auto& [kind, sums] : kinds) {
    const auto share = 100 / double(std::max<std::uint64_t>(sums.workers, 1));
    out += fmt::format("{:<16} {:>7} {:>5.0f} {:>6.0f} {:>7.0f} {:>6.0f} "
                       "{:>8.1f} {:>7.1f}  {}\n",
                       to_string(kind), sums.workers, share * sums.busy,
                       share * sums.starved, share * sums.stalled,
                       share * sums.waiting, sums.items_per_second,
                       1e3 * sums.p99_latency, sums.states_text());
  }
  return out;
}

/// "3 of 8": batches that the daemon's dispatchers have given credit for.
std::string credit_text(const daemon_health& daemon) {
  std::uint64_t used = 0, most = 0;
  for (const auto& actor : daemon.actors)
    if (actor.kind == actor_kind::dispatcher) {
      used += actor.credit_batches;
      most += actor.most_batches;
    }
  return most == 0 ? std::string{"-"} : fmt::format("{} of {}", used, most);
}

std::string daemons_text(const run_health& run) {
  if (run.daemons.empty())
    return {};
  std::size_t width = 16;
  for (const auto& daemon : run.daemons)
    width = std::max(width, std::min(daemon.daemon.size(), most_name_bytes));
  auto out = fmt::format("\n{:<{}}{} {:>9} {:>6}\n", "daemon", width,
                         column_titles(figures::load, column_room::screen),
                         "credit", "told");
  for (std::size_t d = 0; d < std::min(run.daemons.size(), most_screen_rows);
       ++d) {
    const auto& daemon = run.daemons[d];
    const daemon_load& load = daemon;
    out += format_printable(
      "{:<{}}{} {:>9} {:>6}\n", shortened(daemon.daemon, most_name_bytes),
      width, column_values(figures::load, column_room::screen, &load),
      credit_text(daemon), health_seconds(daemon.age));
  }
  return out;
}

/// Whoever is not as it should be, on which daemon, and why.
/// Its state, or that workers were replaced a moment ago, whatever the others
/// do meanwhile.
std::string trouble_of(const actor_health& actor) {
  if (actor.state != actor_state::failed
      && actor.state != actor_state::restarting)
    return pluralized(actor.recent_restarts, "worker") + " replaced";
  return fmt::format("{} for {}", to_string(actor.state),
                     health_seconds(actor.in_state));
}

std::vector<std::string> troubles_in(const run_health& run) {
  std::vector<std::string> out;
  for (const auto& daemon : run.daemons) {
    for (const auto& actor : daemon.actors)
      if (actor.in_trouble())
        out.push_back(format_printable("{} on {}: {}{}{}", health_label(actor),
                                       daemon.daemon, trouble_of(actor),
                                       actor.last_error.empty() ? "" : ": ",
                                       actor.last_error));
    for (const auto& peer : daemon.peers)
      if (peer.in_trouble())
        out.push_back(format_printable("{} to {}: {} for {}{}{}", daemon.daemon,
                                       peer.name, to_string(peer.state),
                                       health_seconds(peer.in_state),
                                       peer.why.empty() ? "" : ": ", peer.why));
    for (const auto& sentence : daemon.long_work)
      out.push_back(format_printable("{}: {}", daemon.daemon, sentence));
  }
  return out;
}

std::string troubles_text(const run_health& run) {
  const auto all = troubles_in(run);
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most_screen_rows); ++i)
    out +=
      fmt::format("{}{}\n", i == 0 ? "\ntrouble   " : "          ", all[i]);
  if (all.size() > most_screen_rows)
    out += fmt::format("          {} more\n", all.size() - most_screen_rows);
  return out;
}

} // namespace

std::string run_screen(const run_health& run, const std::string& standing) {
  auto out = health_head(run, standing) + troubles_text(run) + kinds_text(run)
             + daemons_text(run);
  const auto shown = std::min(run.daemons.size(), most_screen_rows);
  const auto more = run.daemons.size() - shown + run.left_out;
  out += fmt::format("{}\n`--actors` shows each actor of each daemon\n",
                     more == 0 ? std::string{}
                               : pluralized(more, "more daemon") + "\n");
  return out;
}

} // namespace graphmill
