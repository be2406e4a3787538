#include "actors/cluster/coordinator/runs/learnt_view.hpp"
#include "pipelines/task/chosen_target.hpp"

#include <utility>

namespace graphmill {

namespace {

/// What the data say of labels: nothing, if they have none of those.
std::optional<label_meaning> labels_here(const dataset_info& info,
                                         const definition& def) {
  auto found = meaning_of_target(info, def);
  if (!found || found.value().count == 0)
    return std::nullopt;
  return std::move(found).value();
}

/// Whether weights of another dataset can be used on this one.
result<void> check_other(const definition& def, const learnt_from& from,
                         const dataset_info& info,
                         const std::filesystem::path& data) {
  static constexpr auto told = "this cluster serves another dataset than the "
                               "one that the run was trained on";
  for (const auto& type : info.node_types)
    if (type.feature_width == 0)
      return fail(ec::invalid_argument,
                  "{}, and nodes of type {} have no features: the run has "
                  "learnt a row for each node of its own, and has none for "
                  "others",
                  told, type.name);
  GRAPHMILL_TRYV(expect_same_window(def, info, from, told));
  return expect_same_inputs(def, info, data, from, told);
}

/// Whether labels here are those by which a run can be measured, or its
/// predictions of rows be read.
result<void> check_measurable(const definition& def, const learnt_from& from,
                              const std::optional<label_meaning>& here,
                              const dataset_info& info) {
  if (!here)
    return fail(ec::invalid_argument,
                "\"{}\", which this cluster serves, has no labels to measure "
                "the run by; `submit --predict` needs none",
                info.name);
  if (from.labels.count == 0) // A run that is older than what is said of that.
    return ok();
  if (const auto differs = difference(*here, from.labels); !differs.empty())
    return fail(ec::invalid_argument,
                "labels of \"{}\", which this cluster serves, are not those "
                "that the run has learnt: {}. {}",
                info.name, differs,
                def.evaluate.predict
                  ? "Import the data so that they are, or predict the rows by "
                    "`graphmill predict --split` on one machine"
                  : "To measure the run, import the data so that they are; "
                    "`submit --predict` needs no labels");
  return ok();
}

} // namespace

result<learnt_view>
view_by(const definition& def, const learnt_from& from,
        const std::shared_ptr<const partitioned_graph>& graph,
        const std::filesystem::path& data) {
  const auto& info = graph->info();
  const auto here = labels_here(info, def);
  if (here && here->kind != from.labels.kind)
    return fail(
      ec::invalid_argument,
      "labels of \"{}\", which this cluster serves, are {}, where the "
      "run has learnt {}: what the model says would be read as "
      "something else",
      info.name, traits_of(here->kind).phrase,
      traits_of(from.labels.kind).phrase);
  if (from.dataset_digest != info.digest)
    GRAPHMILL_TRYV(check_other(def, from, info, data));
  if (def.evaluate.only != measured_split::none)
    GRAPHMILL_TRYV(check_measurable(def, from, here, info));
  learnt_view out{graph};
  // Of a task of edges, classes of rows are those of the data, or outputs are
  // told, which have none.
  if (!def.evaluate.predict || !def.task.empty() || from.labels.count == 0
      || (here && *here == from.labels))
    return out;
  GRAPHMILL_TRY(auto shown, graph->with_unknown_labels(from.labels));
  out.graph = std::make_shared<const partitioned_graph>(std::move(shown));
  out.learnt = from.labels;
  return out;
}

} // namespace graphmill
