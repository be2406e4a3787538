#pragma once

#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"
#include "messages/wire/log.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

// What `graphmill top` shows: what is known of a cluster, and how the user
// looks at it. All of it are values, so that screens and keys can be tested
// without a terminal.

/// The log that a user follows.
struct top_log {
  std::string daemon;
  std::string run; ///< Empty: lines of all runs, and of none.

  friend bool operator==(const top_log&, const top_log&) = default;
};

/// What the last answers of a coordinator have told.
struct top_data {
  std::string address; ///< Of the coordinator.
  std::optional<status_reply> cluster;
  std::optional<run_record> run;    ///< Nothing: there has been none yet.
  std::optional<run_health> health; ///< Of a run that is on.
  std::string result;  ///< Of a run that is over, in lines; empty: none.
  std::string trouble; ///< Why the last question failed; empty: it did not.
  /// Of the run, the latest last: seeds in a second, once a second; the loss of
  /// each training epoch; `metric` of each validation.
  std::vector<double> rates;
  std::vector<double> losses;
  std::vector<double> validations;
  std::string metric = "accuracy"; ///< That chooses the best epoch.
  std::optional<top_log> followed; ///< What `log` is of.
  std::vector<log_line> log;       ///< Its last lines, the latest last.
};

/// The most lines of a log that are kept: more than a screen has.
inline constexpr std::size_t most_top_lines = 512;

/// The most values that a curve is drawn from.
inline constexpr std::size_t most_top_values = 512;
/// Adds the latest value, and forgets the oldest one if there are too many.
void remember_value(std::vector<double>& history, double value);

/// What sorts the rows of the table of actors, in turn: "daemon", as each
/// reports them, "actor", and the columns that all screens have.
std::vector<std::string> top_sorts();

/// Which table the keys move in.
enum class top_pane : std::uint8_t { daemons, actors };

/// Names an actor while answers come and go: the nth of a daemon's with this
/// label.
struct top_actor_id {
  std::string daemon;
  std::string label;
  std::size_t nth = 0;

  friend auto operator<=>(const top_actor_id&, const top_actor_id&) = default;
};

/// A row of the table of actors.
struct top_actor {
  top_actor_id id;
  const actor_health* figures = nullptr; ///< In the `top_data` it comes from.
};

/// A row of the table of daemons. Pointers are into the `top_data`.
struct top_daemon {
  std::string name;
  const daemon_status* status = nullptr; ///< Null: the cluster has none such.
  const daemon_health* health = nullptr; ///< Null: no figures.
  bool silent = false;
};

/// What a user has asked of a cluster.
struct top_command {
  enum class kind : std::uint8_t { drain, serve_again, cancel };
  kind what = kind::drain;
  std::string name; ///< Of the daemon or run.

  friend bool operator==(const top_command&, const top_command&) = default;
};

/// How the user looks at it.
struct top_view {
  std::size_t sort = 0; ///< Of `top_sorts`.
  bool reversed = false;
  std::string filter;  ///< Part of an actor's label or daemon; empty: all.
  std::string only;    ///< The daemon whose actors are shown; empty: of all.
  bool typing = false; ///< The keys go to the filter.
  top_pane pane = top_pane::actors;
  std::string daemon;                ///< Selected; none such: the first.
  std::optional<top_actor_id> actor; ///< Selected; none such: the first.
  bool opened = false;               ///< All figures of the actor are shown.
  std::string run; ///< That was asked for by a key; empty: none was.
  std::optional<top_log> followed;  ///< The log that is shown instead.
  std::optional<top_command> asked; ///< Waits for y.
  std::string message;              ///< What came of the last key.
};

/// The runs that are on, the one that began first at their head.
std::vector<std::string> runs_that_are_on(const top_data& data);

/// Whether the run that was chosen is over: then the choice is, too, and the
/// next run is shown once it is on.
bool is_choice_over(const top_data& data, const top_view& view);

/// Which one of several runs that are on is shown, for its title. @pre `data`
/// has a run
std::string turn_text(const top_data& data);

/// The daemons of the cluster and of the run, in the cluster's order.
std::vector<top_daemon> top_daemons(const top_data& data);

/// The actors that filter and daemon let through, sorted: largest first, and
/// names in their order, unless it is reversed.
std::vector<top_actor> top_actors(const top_data& data, const top_view& view);

/// The table that the keys are for: the one that was chosen, but that of the
/// daemons while the other one is empty.
top_pane pane_in_hand(const top_data& data, const top_view& view);

/// Where the selected row is; 0 if it is not there.
std::size_t selected_daemon(const std::vector<top_daemon>& in,
                            const top_view& view);
std::size_t selected_actor(const std::vector<top_actor>& in,
                           const top_view& view);

} // namespace graphmill
