#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/cluster_options.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/time_text.hpp"
#include "actors/commands/text/follow.hpp"
#include "actors/process/say.hpp"
#include "actors/process/signals.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace graphmill {

namespace {

struct events_options {
  cluster_options cluster;
  std::string run; ///< Empty: all, and what is of no run.
  bool follow = false;
};

/// Which run it is of, unless the text names it.
std::string run_of(const event_line& event) {
  return event.run.empty() || event.text.find(event.run) != std::string::npos
           ? ""
           : "run " + event.run + ": ";
}

void print_event(const event_line& event, bool json) {
  if (json)
    say("{}\n", one_line({{"seq", event.seq},
                          {"time", double(event.time.count()) / 1000},
                          {"kind", event.kind},
                          {"who", event.who},
                          {"run", event.run},
                          {"text", event.text}}));
  else
    say("{}  {:<10}  {}{}\n", time_text(event.time), event.kind, run_of(event),
        event.text);
}

/// Prints what has happened since the last time.
result<void> print_new_events(cluster_client& client, events_request& asked,
                              bool json) {
  for (;;) {
    GRAPHMILL_TRY(const auto page, client.events(asked));
    for (const auto& event : page.events)
      print_event(event, json);
    const auto stands = page.next == asked.after;
    asked.after = page.next;
    std::fflush(stdout);
    if (!page.more || stands)
      return ok();
  }
}

/// @returns whether the run that is asked about is over.
result<bool> look_at_events(cluster_client& client, events_request& asked,
                            bool json) {
  auto over = false;
  if (!asked.run.empty()) { // In this order: its end is an event.
    GRAPHMILL_TRY(const auto run, client.run(asked.run));
    over = is_over(run.state);
  }
  GRAPHMILL_TRYV(print_new_events(client, asked, json));
  return over;
}

/// Until the run is over, or without one until a signal. The coordinator may be
/// started anew meanwhile.
result<int> follow_events(cluster_client& client, events_request asked,
                          bool json, signal_watch& signals) {
  const auto look = [&] { return look_at_events(client, asked, json); };
  GRAPHMILL_TRY(const auto over, follow(look, signals));
  if (!over)
    return fail(ec::cancelled, "follows no more");
  return 0;
}

result<int> events(const events_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "events", &signals));
  events_request asked;
  if (!options.run.empty()) {
    GRAPHMILL_TRY(const auto run, client.run(options.run));
    asked.run = run.id;
  }
  const auto json = options.cluster.json;
  if (options.follow)
    return follow_events(client, asked, json, signals);
  GRAPHMILL_TRYV(print_new_events(client, asked, json));
  return 0;
}

} // namespace

void add_events_command(command_line& cli) {
  auto options = std::make_shared<events_options>();
  auto* command = cli.app.add_subcommand(
    "events", "Print what has happened in a cluster, the latest last");
  command->add_option("run", options->run,
                      "Only what is of this run (default: everything)");
  command->add_flag("-f,--follow", options->follow,
                    "Go on: until the run is over, or until Ctrl-C");
  add_cluster_options(*command, options->cluster);
  command->footer(
    "Daemons that join, leave, are lost or come back, runs that are queued,\n"
    "start, recover or end, checkpoints, warnings: the last 2,000, also from\n"
    "before the coordinator was started anew. With --json, each is an object,\n"
    "as /api/events has it.");
  command->callback(
    [&cli, options] { cli.run = [options] { return events(*options); }; });
}

} // namespace graphmill
