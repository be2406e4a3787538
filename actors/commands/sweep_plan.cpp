#include "actors/commands/sweep_plan.hpp"

#include "actors/commands/options/run_tags.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/definition/dataset_search.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <utility>

namespace graphmill {

namespace {

/// One axis after the other, as --grid was given them.
result<std::vector<sweep_axis>> axes_of(const sweep_options& options) {
  std::vector<sweep_axis> axes;
  for (const auto& text : options.grid) {
    GRAPHMILL_TRY(auto axis, parse_sweep_axis(text));
    if (axis.field == "evaluate.metric")
      return fail(ec::invalid_argument,
                  "--grid evaluate.metric: runs are compared by their metric, "
                  "so all have the same; set it with --set, and read the "
                  "others in each run's summary");
    if (axis.field == "seed" && options.repeat > 1)
      return fail(ec::invalid_argument,
                  "--grid seed and --repeat exclude each other: each repeat "
                  "has the next seed");
    if (axis.field == "train.epochs" && options.halving != 0)
      return fail(ec::invalid_argument,
                  "--grid train.epochs and --halving exclude each other: that "
                  "decides after how many epochs runs are compared");
    for (const auto& set : options.overrides)
      if (set.starts_with(axis.field + "="))
        return fail(ec::invalid_argument,
                    "--grid {0} and --set {0} exclude each other: leave one of "
                    "them out",
                    axis.field);
    axes.push_back(std::move(axis));
  }
  return axes;
}

result<std::vector<sweep_settings>>
settings_of_sweep(const sweep_options& options) {
  GRAPHMILL_TRY(const auto axes, axes_of(options));
  const auto most = most_sweep_runs / options.repeat;
  if (options.random == 0)
    return sweep_combinations(axes, most);
  if (options.random > most)
    return fail(ec::invalid_argument,
                "--random {} with {} each are more runs than may be queued at "
                "once, {}",
                options.random, pluralized(options.repeat, "repeat"),
                most_sweep_runs);
  return random_combinations(axes, options.random, options.search_seed);
}

/// "people-hidden64-seed3", or with the number of the row where that is too
/// long.
std::string name_in_sweep(const std::string& name, const sweep_row& row,
                          std::size_t number, const std::string& repeat) {
  auto out = name + name_of_settings(row.settings) + repeat;
  return out.size() <= longest_run_name
           ? out
           : fmt::format("{}-row{}{}", name.substr(0, longest_run_name - 20),
                         number + 1, repeat);
}

/// Whether a run that was trained for longer would be one that was meant to be.
result<void> check_halving(const definition& def, const sweep_plan& plan) {
  if (def.optimizer.schedule == schedule_kind::cosine)
    return fail(ec::invalid_argument,
                "--halving trains the best runs for longer, and by "
                "`optimizer.schedule: cosine` the learning rate depends on how "
                "long that is: take constant or step");
  if (def.train.max_steps != 0)
    return fail(ec::invalid_argument,
                "--halving goes by epochs: leave `train.max_steps` out");
  if (def.checkpoint.keep == 0)
    return fail(ec::invalid_argument,
                "--halving goes on from checkpoints, and `checkpoint.keep: 0` "
                "writes none");
  if (plan.rungs.size() < 2)
    return fail(ec::invalid_argument,
                "--halving has nothing to halve: {} of {} are too few",
                pluralized(plan.rows.size(), "setting"),
                pluralized(def.train.epochs, "epoch"));
  return ok();
}

result<void> begin_halving(sweep_plan& plan, const sweep_options& options) {
  const auto& def = plan.runs.front().def;
  plan.rungs =
    halving_rungs(def.train.epochs, plan.rows.size(), options.halving);
  for (const auto& run : plan.runs)
    GRAPHMILL_TRYV(check_halving(run.def, plan));
  for (auto& run : plan.runs)
    run.def.train.epochs = plan.rungs.front();
  for (auto& row : plan.rows)
    row.epochs = plan.rungs.front();
  return ok();
}

} // namespace

std::vector<std::uint32_t>
halving_rungs(std::uint32_t epochs, std::size_t among, std::uint32_t halving) {
  std::vector<std::uint32_t> out{epochs};
  for (; among > 1 && out.front() / halving > 0;
       among = (among + halving - 1) / halving)
    out.insert(out.begin(), out.front() / halving);
  return out;
}

result<sweep_plan> plan_sweep(const sweep_options& options) {
  GRAPHMILL_TRY(auto settings, settings_of_sweep(options));
  sweep_plan out;
  for (auto& chosen : settings) {
    GRAPHMILL_TRY(auto source,
                  load_definition(options.file, options.overrides, chosen));
    GRAPHMILL_TRYV(take_name_if_there(source));
    GRAPHMILL_TRYV(add_tags(source.value, options.tags));
    out.rows.push_back({std::move(chosen), {}});
    const auto name = source.value.name;
    for (std::uint32_t i = 0; i < options.repeat; ++i) {
      source.value.name = name_in_sweep(
        name, out.rows.back(), out.rows.size() - 1,
        options.repeat == 1 ? "" : fmt::format("-seed{}", source.value.seed));
      out.runs.push_back({out.rows.size() - 1, source.value});
      ++source.value.seed;
    }
  }
  if (options.halving != 0)
    GRAPHMILL_TRYV(begin_halving(out, options));
  return out;
}

} // namespace graphmill
