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
#include <utility>

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

/// Prints the events that are asked for, each once. Used by one thread.
class event_printer {
public:
  /// @param client Outlives it. @param json A line of JSON for each.
  event_printer(cluster_client& client, std::string run, bool json)
    : client_(client), json_(json) {
    asked_.run = std::move(run);
  }

  /// Prints what has happened since the last time.
  result<void> print_new();

  /// All of a run's events may be older than those that are kept.
  void say_if_none() const;

  const std::string& run() const { return asked_.run; } ///< Empty: all.

private:
  cluster_client& client_;
  events_request asked_;
  bool json_;
  bool has_printed_ = false;
};

result<void> event_printer::print_new() {
  for (;;) {
    GRAPHMILL_TRY(const auto page, client_.events(asked_));
    for (const auto& event : page.events)
      print_event(event, json_);
    has_printed_ = has_printed_ || !page.events.empty();
    const auto stands = page.next == asked_.after;
    asked_.after = page.next;
    std::fflush(stdout);
    if (!page.more || stands)
      return ok();
  }
}

void event_printer::say_if_none() const {
  if (!has_printed_ && !asked_.run.empty())
    say(stderr, "graphmill: the coordinator has no events of run {}\n",
        asked_.run);
}

/// Until the run is over, or without one until a signal. The coordinator may be
/// started anew meanwhile.
result<int> follow_events(cluster_client& client, event_printer& events,
                          signal_watch& signals) {
  auto is_run_over = false;
  const auto look = [&]() -> result<bool> {
    if (!events.run().empty()) { // In this order: its end is an event.
      GRAPHMILL_TRY(const auto run, client.run(events.run()));
      is_run_over = is_over(run.state);
    }
    GRAPHMILL_TRYV(events.print_new());
    return is_run_over;
  };
  GRAPHMILL_TRY(const auto over, follow(look, signals));
  if (!over)
    return fail(ec::cancelled, "stopped following");
  if (is_run_over) // Or nobody reads on.
    events.say_if_none();
  return 0;
}

result<int> events(const events_options& options) {
  signal_watch signals;
  GRAPHMILL_TRY(auto client, connect(options.cluster, "events", &signals));
  std::string id;
  if (!options.run.empty()) {
    GRAPHMILL_TRY(const auto run, client.run(options.run));
    id = run.id;
  }
  event_printer events{client, std::move(id), options.cluster.json};
  if (options.follow)
    return follow_events(client, events, signals);
  GRAPHMILL_TRYV(events.print_new());
  events.say_if_none();
  return 0;
}

} // namespace

void add_events_command(command_line& cli) {
  auto options = std::make_shared<events_options>();
  auto* command = cli.app.add_subcommand(
    "events", "Print the events of a cluster, the latest last");
  command->add_option("run", options->run,
                      "Only events of this run (default: all)");
  command->add_flag("-f,--follow", options->follow,
                    "Follow until the run ends, or until Ctrl-C");
  add_cluster_options(*command, options->cluster);
  command->footer("Events: daemons join, leave, are lost or come back; runs "
                  "are queued, start,\n"
                  "recover or end; checkpoints; warnings. The coordinator "
                  "keeps the last 2,000,\n"
                  "also through a restart. With --json, each is an object as "
                  "in /api/events.");
  command->callback(
    [&cli, options] { cli.run = [options] { return events(*options); }; });
}

} // namespace graphmill
