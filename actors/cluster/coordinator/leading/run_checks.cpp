#include "actors/cluster/coordinator/leading/run_checks.hpp"

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "messages/base/printable.hpp"
#include "partition/dataset/label_sets.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/definition_checks.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <algorithm>

namespace graphmill {

namespace {

constexpr const char* how_to_serve_another =
  "daemons serve the dataset of their --data for as long as they run: end the "
  "cluster by `graphmill stop --all` and start its daemons with --data of the "
  "other one and the same --runs, or start a second cluster beside it "
  "(--listen, --runs, --http)";

} // namespace

result<void> check_taken(const definition& def,
                         const coordinator_config& here) {
  if (def.dataset != here.offer.dataset)
    return fail(ec::invalid_argument,
                "the definition is on dataset \"{0}\", but this cluster serves "
                "\"{1}\"; {2}, or say `--set dataset={1}` if that is meant",
                def.dataset, here.offer.dataset, how_to_serve_another);
  // A client would have daemons read any file of theirs.
  if (!def.model.weights.empty())
    return fail(ec::invalid_argument,
                "a coordinator reads no files of clients: `graphmill submit` "
                "and `graphmill up` send what `model.weights` names");
  // No daemon knows the labels of all parts.
  if (def.train.balance_classes)
    return fail(ec::invalid_argument,
                "a cluster takes no `train.balance_classes`: give "
                "`train.class_weights`, or train in one process");
  // What a client has not checked: names become names of folders.
  definition_source source;
  source.value = def;
  check_definition(source);
  if (!source.problems.empty())
    return fail(ec::invalid_argument, "the definition is refused: {}",
                source.problems.front().text);
  if (def.name.empty() || def.name.front() == '.'
      || !std::all_of(def.name.begin(), def.name.end(), is_name_character))
    return fail(ec::invalid_argument,
                "the run's name must be of letters, digits, '.', '_' and "
                "'-', and not begin with '.'");
  return check_provable(def, *here.graph);
}

result<void> check_view(const submitted_run& run) {
  return check_against(run.def, run.view.graph->info(),
                       run.is_feed()             ? data_use::feeding
                       : trains_nothing(run.def) ? data_use::weights_alone
                                                 : data_use::training);
}

result<void> check_dataset(const coordinator_config& here,
                           const std::string& digest) {
  if (digest == here.offer.dataset_digest)
    return ok();
  return fail(ec::invalid_argument,
              "this cluster serves another dataset than the one that the run "
              "was trained on, which has the digest {}; {}",
              shortened(digest, daemon_registry::digest_shown),
              how_to_serve_another);
}

} // namespace graphmill
