#include "pipelines/planning/budget_note.hpp"

#include "messages/words/byte_text.hpp"

#include <fmt/core.h>

namespace graphmill {

std::optional<std::string> note_on_budget(const run_plan& plan) {
  const auto evaluates = plan.evaluation.bytes > plan.train.bytes;
  const auto largest = evaluates ? plan.evaluation.bytes : plan.train.bytes;
  if (largest <= plan.budget_bytes)
    return std::nullopt;
  return fmt::format(
    "a batch of {} may take up to {}, and budget.bytes is {}: larger batches "
    "run one at a time, and take more than that. Raise budget.bytes, or lower "
    "{}, the fanouts or, of links, the negatives",
    evaluates ? "evaluations" : "training", byte_text(largest),
    byte_text(plan.budget_bytes),
    evaluates ? "evaluate.batch_size" : "train.batch_size");
}

} // namespace graphmill
