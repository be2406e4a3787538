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

/// What a dataset is for: whoever learns from it needs training seeds.
enum class data_use : std::uint8_t { training, weights_alone };

/// What is wrong with a definition for a certain dataset: another dataset than
/// it names, edge types that there are not, a model that does not suit the node
/// types, nothing to learn from. Fields with problems of their own are left
/// aside. If there are none, the run can start.
std::vector<problem> problems_with(const definition_source& source,
                                   const dataset_info& info,
                                   data_use use = data_use::training);

/// A sentence to warn with if nodes may have several labels and the best epoch
/// is chosen by accuracy, which may stay 0 for long, or if there are two
/// classes and it is chosen by a mean over both; nothing otherwise.
std::optional<std::string> note_on_metric(const definition& def,
                                          const dataset_info& info);

/// A sentence to warn with if the model would hear neighbours, but the dataset
/// has none for its seeds (`note_on_target`); nothing otherwise.
std::optional<std::string> note_on_graph(const definition& def,
                                         const dataset_info& info);

/// The same as `problems_with` for a definition without its source; the error
/// has all problems.
result<void> check_against(const definition& def, const dataset_info& info,
                           data_use use = data_use::training);

/// The same with the dataset, partitioned or not, in a folder.
result<void> check_definition_against(const definition_source& source,
                                      const std::filesystem::path& data);

/// Whether what other daemons send can be checked, if the definition wants it
/// to be: that takes digests of blocks, which older partitionings lack.
result<void> check_provable(const definition& def,
                            const partitioned_graph& graph);

/// What edge types may be called in a definition, for suggestions: full names,
/// and middle ones.
std::vector<std::string> edge_type_names(const dataset_info& info);

/// What to sample for training: the fanouts of every hop and edge type, and
/// whether weights of edges are wanted. Fails if a fanout names an edge type
/// that there is not.
result<sampling_scheme> resolve_fanouts(const definition& def,
                                        const dataset_info& info);

/// What to sample for evaluation. With `neighbours: all` every in-edge, once,
/// of each edge type and hop that training samples from.
result<sampling_scheme> resolve_evaluation_fanouts(const definition& def,
                                                   const dataset_info& info);

} // namespace graphmill
