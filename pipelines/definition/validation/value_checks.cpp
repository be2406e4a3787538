#include "pipelines/definition/validation/value_checks.hpp"

#include "messages/work/seed_outcomes.hpp"
#include "pipelines/definition/measured_seeds.hpp"
#include "pipelines/definition/metric_choice.hpp"
#include "pipelines/definition/yaml/problem.hpp"
#include "pipelines/task/task_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace graphmill {

namespace {

using found_problems = std::vector<std::pair<std::string, std::string>>;

/// Of labels that are classes.
void find_values_unasked(const definition& def, const std::string& dataset,
                         found_problems& out) {
  if (def.train.loss != value_loss::mse)
    out.emplace_back("train.loss",
                     fmt::format("`train.loss` is for labels that are numbers, "
                                 "and those of {} are not; leave it out",
                                 dataset));
  if (is_of_ranks(metric_meant(def.evaluate)))
    out.emplace_back("evaluate.metric",
                     fmt::format("mrr, hits and mean_rank are for links, which "
                                 "`task` names, as recall, precision and ndcg "
                                 "with a K are, and {} has classes to learn; "
                                 "take another metric",
                                 dataset));
  if (is_of_values(def.evaluate.metric))
    out.emplace_back("evaluate.metric",
                     fmt::format("mse and mae are for labels that are numbers, "
                                 "and those of {} are not; take another metric",
                                 dataset));
}

void find_too_many(const definition& def, const dataset_info& info,
                   found_problems& out) {
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto seeds = most_measured_seeds(def, target);
  const auto each = task_of(target).scores_of_seed(target.class_count);
  if (const auto note = note_on_values(info, seeds))
    out.emplace_back("evaluate.metric", *note + "; make the split smaller");
  const auto batch = std::min<std::uint64_t>(def.evaluate.batch_size, seeds);
  if (batch > seed_outcomes::most_batch_scores / each)
    out.emplace_back(
      "evaluate.batch_size",
      fmt::format("`evaluate.batch_size` may be {} at the most for the {} "
                  "numbers of a node of {}",
                  seed_outcomes::most_batch_scores / each, target.class_count,
                  in_quotes(info.name)));
}

} // namespace

std::vector<std::pair<std::string, std::string>>
problems_with_values(const definition& def, const dataset_info& info) {
  found_problems out;
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  const auto dataset = in_quotes(info.name);
  if (task_of(target).outcomes == outcome_form::ranks)
    return out;
  if (task_of(target).decides) {
    find_values_unasked(def, dataset, out);
    return out;
  }
  if (!task_of(target).has(metric_meant(def.evaluate)))
    out.emplace_back(
      "evaluate.metric",
      fmt::format("labels of {} are numbers, for which `evaluate.metric` is "
                  "mse or mae; say which one chooses the best epoch",
                  dataset));
  if (def.evaluate.scores)
    out.emplace_back("evaluate.scores",
                     fmt::format("`evaluate.scores` is for classes, and labels "
                                 "of {} are numbers; leave it out",
                                 dataset));
  if (def.train.focal_gamma != 0)
    out.emplace_back("train.focal_gamma",
                     fmt::format("`train.focal_gamma` is for classes, and "
                                 "labels of {} are numbers; leave it out",
                                 dataset));
  find_too_many(def, info, out);
  return out;
}

std::optional<std::string> note_on_values(const dataset_info& info,
                                          std::uint64_t seeds) {
  const auto& target = info.node_types[static_cast<std::size_t>(info.target)];
  if (task_of(target).outcomes != outcome_form::values)
    return std::nullopt;
  const auto most = seed_outcomes::most_scores
                    / task_of(target).scores_of_seed(target.class_count);
  if (seeds <= most)
    return std::nullopt;
  return fmt::format("metrics of numbers take all seeds of a split together, "
                     "and {} seeds of {} are more than the {} that can be",
                     seeds, in_quotes(info.name), most);
}

} // namespace graphmill
