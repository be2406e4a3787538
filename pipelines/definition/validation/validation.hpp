#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/shard.hpp"
#include "partition/sampling/sampling.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The use of a dataset: training needs training seeds. Feeding a model that is
/// defined elsewhere needs neither labels nor a `model`.
enum class data_use : std::uint8_t { training, weights_alone, feeding };

/// The problems of a definition for a certain dataset: another dataset than it
/// names, unknown edge types, a model that does not suit the node types,
/// nothing to learn from. Skips fields with problems of their own. Without
/// problems, the run can start.
std::vector<problem> problems_with(const definition_source& source,
                                   const dataset_info& info,
                                   data_use use = data_use::training);

/// The same, and those for which lists of edges have to be read. Parts that are
/// elsewhere are left to whoever has them.
std::vector<problem> problems_with(const definition_source& source,
                                   const partitioned_graph& graph);

/// A warning if nodes have several labels and accuracy chooses the best epoch,
/// which may stay 0 for long, or if a mean over two classes chooses it; nothing
/// otherwise.
std::optional<std::string> note_on_metric(const definition& def,
                                          const dataset_info& info);

/// A warning if the model uses neighbours, but the seeds of the dataset have
/// none (`notes_on_target`); nothing otherwise.
std::optional<std::string> note_on_graph(const definition& def,
                                         const dataset_info& info);

/// `problems_with` for a definition without its source; the error has all
/// problems.
result<void> check_against(const definition& def, const dataset_info& info,
                           data_use use = data_use::training);

/// The same with the dataset, partitioned or not, in a folder.
result<void> check_definition_against(const definition_source& source,
                                      const std::filesystem::path& data);

/// Whether values of other daemons can be checked, if the definition asks for
/// it: that needs digests of blocks, which older partitionings lack.
result<void> check_provable(const definition& def,
                            const partitioned_graph& graph);

/// A warning if a definition asks for checks that `check_provable` refuses.
std::optional<std::string> note_on_proofs(const definition& def,
                                          const partitioned_graph& graph);

/// The names of edge types in a definition, for suggestions: full names and
/// middle ones.
std::vector<std::string> edge_type_names(const dataset_info& info);

/// What to sample for training: the fanouts of every hop and edge type, and
/// whether to sample weights of edges. Fails if a fanout names an unknown edge
/// type.
result<sampling_scheme> resolve_fanouts(const definition& def,
                                        const dataset_info& info);

/// That there is no node type of a name, as a sentence.
std::string no_node_type(const dataset_info& info, const std::string& name);

/// Why edges of a type have no reverses, or walks no way back; nothing: they
/// have, or need none.
std::optional<std::string> problem_with_opposite(const dataset_info& info,
                                                 const sampling_scheme& scheme,
                                                 edge_type_id type);

/// What to sample for evaluation. With `neighbours: all` every in-edge, once,
/// of each edge type and hop that training samples from.
result<sampling_scheme> resolve_evaluation_fanouts(const definition& def,
                                                   const dataset_info& info);

} // namespace graphmill
