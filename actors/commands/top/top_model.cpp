#include "actors/commands/top/top_model.hpp"

#include "actors/commands/text/figure_columns.hpp"
#include "actors/commands/text/health_text.hpp"
#include "pipelines/figures/figure_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace graphmill {

namespace {

constexpr std::size_t sort_by_name = 1;

std::vector<const figure<actor_health>*> sorting_columns() {
  std::vector<const figure<actor_health>*> out;
  for_each_column(figures::actor, column_room::screen,
                  [&out](const auto& row) { out.push_back(&row); });
  return out;
}

/// What is no number would have no place among others.
double measure_of(const actor_health& actor, const figure<actor_health>& by) {
  const auto value = by.value(actor).value_or(0);
  return std::isnan(value) ? 0 : value;
}

bool is_let_through(const top_actor_id& id, const top_view& view) {
  const auto is_meant = [&view](const std::string& name) {
    return name.find(view.filter) != std::string::npos;
  };
  return (view.only.empty() || id.daemon == view.only)
         && (is_meant(id.label) || is_meant(id.daemon));
}

} // namespace

void remember_value(std::vector<double>& history, double value) {
  if (history.size() >= most_top_values)
    history.erase(history.begin());
  history.push_back(value);
}

std::vector<std::string> top_sorts() {
  std::vector<std::string> out{"daemon", "actor"};
  for (const auto* by : sorting_columns())
    out.push_back(column_title(by->column, by->unit));
  return out;
}

std::vector<std::string> runs_that_are_on(const top_data& data) {
  return data.cluster ? data.cluster->all_running()
                      : std::vector<std::string>{};
}

bool is_choice_over(const top_data& data, const top_view& view) {
  return !view.run.empty() && data.run && data.run->id == view.run
         && is_over(data.run->state);
}

std::string turn_text(const top_data& data) {
  const auto on = runs_that_are_on(data);
  const auto found = std::ranges::find(on, data.run->id);
  if (on.size() < 2)
    return {};
  if (found == on.end())
    return fmt::format(", {} others on", on.size());
  return fmt::format(", {} of {} that are on", found - on.begin() + 1,
                     on.size());
}

std::vector<top_daemon> top_daemons(const top_data& data) {
  std::vector<top_daemon> out;
  const auto row_named = [&out](const std::string& name) -> top_daemon& {
    const auto found = std::ranges::find(out, name, &top_daemon::name);
    if (found != out.end())
      return *found;
    return out.emplace_back(top_daemon{name});
  };
  if (data.cluster)
    for (const auto& daemon : data.cluster->daemons)
      row_named(daemon.name).status = &daemon;
  if (data.health) {
    for (const auto& daemon : data.health->daemons)
      row_named(daemon.daemon).health = &daemon;
    for (const auto& name : data.health->silent)
      row_named(name).silent = true;
  }
  return out;
}

std::vector<top_actor> top_actors(const top_data& data, const top_view& view) {
  std::vector<top_actor> out;
  if (!data.health)
    return out;
  for (const auto& daemon : data.health->daemons) {
    std::map<std::string, std::size_t> seen;
    for (const auto& actor : daemon.actors) {
      auto label = health_label(actor);
      const auto nth = seen[label]++;
      top_actor_id id{daemon.daemon, std::move(label), nth};
      if (is_let_through(id, view))
        out.push_back({std::move(id), &actor});
    }
  }
  const auto by = view.sort;
  if (by == sort_by_name)
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
      return a.id.label < b.id.label;
    });
  else if (by > sort_by_name)
    std::ranges::stable_sort(
      out, std::ranges::greater{},
      [&column = *sorting_columns().at(by - 2)](const top_actor& row) {
        return measure_of(*row.figures, column);
      });
  if (view.reversed)
    std::ranges::reverse(out);
  return out;
}

top_pane pane_in_hand(const top_data& data, const top_view& view) {
  return top_actors(data, view).empty() ? top_pane::daemons : view.pane;
}

std::size_t selected_daemon(const std::vector<top_daemon>& in,
                            const top_view& view) {
  const auto found = std::ranges::find(in, view.daemon, &top_daemon::name);
  return found == in.end() ? 0 : std::size_t(found - in.begin());
}

std::size_t selected_actor(const std::vector<top_actor>& in,
                           const top_view& view) {
  const auto found = std::ranges::find_if(
    in, [&view](const top_actor& row) { return row.id == view.actor; });
  return found == in.end() ? 0 : std::size_t(found - in.begin());
}

} // namespace graphmill
