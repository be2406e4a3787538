#include "pipelines/definition/definition_changes.hpp"

#include "messages/definition/definition_codec.hpp"
#include "messages/definition/definition_schema.hpp"
#include "pipelines/definition/definition_help.hpp"

#include <capnp/message.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace graphmill {

namespace {

/// Fields, and whole sections, that change no weight. The dataset is compared
/// by its digest, whatever its name is.
constexpr std::string_view without_effect[]{
  "name",
  "dataset",
  "sampler.replicas",
  "sampler.threads",
  "fetch.replicas",
  "fetch.threads",
  "fetch.cache",
  "fetch.cache_order",
  "fetch.verify",  // It fails a run, or changes nothing.
  "model.weights", // Before the first step alone.
  "trainer.threads",
  "trainer.step_timeout",
  "train.record_steps",
  "evaluate.scores",
  "budget",
  "faults",
  "placement",
  "checkpoint",
  "recovery",
};

void compare(capnp::DynamicStruct::Reader before,
             capnp::DynamicStruct::Reader now, const std::string& section,
             std::vector<std::string>& out) {
  for (auto f : before.getSchema().getFields()) {
    const auto path = section + user_name(f);
    if (!has_key(f)
        || std::find(std::begin(without_effect), std::end(without_effect), path)
             != std::end(without_effect))
      continue;
    if (f.getType().isStruct()) {
      compare(before.get(f).as<capnp::DynamicStruct>(),
              now.get(f).as<capnp::DynamicStruct>(), path + '.', out);
      continue;
    }
    const auto old = field_text(before, f);
    const auto present = field_text(now, f);
    if (old != present)
      out.push_back(fmt::format("{}: {}, now {}", path, old, present));
  }
}

} // namespace

std::vector<std::string> changes_between(const definition& before,
                                         const definition& now) {
  capnp::MallocMessageBuilder old_message;
  capnp::MallocMessageBuilder new_message;
  auto old = old_message.initRoot<capnp::DynamicStruct>(definition_schema());
  auto present =
    new_message.initRoot<capnp::DynamicStruct>(definition_schema());
  encode_definition(before, old);
  encode_definition(now, present);
  std::vector<std::string> out;
  compare(old.asReader(), present.asReader(), "", out);
  // Maps, which have no field of their own in what users write.
  if (before.sampler.edge_fanouts != now.sampler.edge_fanouts)
    out.emplace_back("sampler.fanouts of edge types");
  if (before.train.named_class_weights != now.train.named_class_weights)
    out.emplace_back("train.class_weights of named classes");
  return out;
}

result<void> check_unchanged(const definition& before, const definition& now) {
  const auto changes = changes_between(before, now);
  if (changes.empty())
    return ok();
  return fail(ec::invalid_argument,
              "the run would go on by another definition ({}), and its weights "
              "would not be those of a run that was never stopped: if that is "
              "wanted, add --with-changes",
              fmt::join(changes, "; "));
}

result<void> check_same_validation(const definition& before,
                                   const definition& now) {
  const auto& old = before.evaluate;
  const auto& present = now.evaluate;
  const auto same_metric =
    old.metric == present.metric && old.metric_detail == present.metric_detail;
  // What links are ranked among decides what their metrics mean.
  const auto changed =
    !same_metric                                        ? "evaluate.metric"
    : before.labels != now.labels                       ? "labels"
    : before.task != now.task                           ? "task"
    : old.negatives != present.negatives                ? "evaluate.negatives"
    : before.negatives.corrupt != now.negatives.corrupt ? "negatives.corrupt"
                                                        : nullptr;
  if (changed != nullptr)
    return fail(ec::invalid_argument,
                "`{}` has chosen the best epoch of this run so far, and cannot "
                "change in it; begin a new run, with `model.weights` if it is "
                "to have these weights",
                changed);
  if (old.threshold != present.threshold)
    return fail(ec::invalid_argument,
                "`evaluate.threshold` belongs to the validations of this run "
                "so far, and cannot change in it; give --threshold to "
                "`graphmill predict` and `graphmill evaluate`");
  return ok();
}

} // namespace graphmill
