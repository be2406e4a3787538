#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Names and shapes of what `replica::state` tells in a run by this definition,
/// in its order, best parameters included, which are the last. Fails as
/// `make_layout` does.
result<std::vector<tensor_shape>> state_shapes(const definition& def,
                                               const dataset_info& info);

/// Whether these are names and shapes of such a state, with or without best
/// parameters. Fails with `invalid_data`, and names the first that is not, so
/// that nobody makes room for the tensors of another one.
result<void> check_state(const definition& def, const dataset_info& info,
                         const std::vector<tensor_shape>& told);

/// Whether `replica::restore` would take these tensors: they hold all that such
/// a state has, and others are passed over. Fails with `invalid_data`, and
/// names the first that is missing or has another shape.
result<void> check_restorable(const definition& def, const dataset_info& info,
                              const std::vector<named_tensor>& state);

/// Fails with `invalid_data` if there are weights among these tensors that the
/// model has not: a part of what was learnt would be left out. Names all edge
/// types that the dataset lacks, or else the first such weight. Moments and
/// best weights are passed over.
result<void> check_no_others(const definition& def, const dataset_info& info,
                             const std::vector<named_tensor>& weights);

/// Such a state of a replica that has begun with these weights and has taken no
/// step: moments are 0, and nothing is the best. Other tensors beside the
/// weights are passed over. Fails with `invalid_data`, and names a weight that
/// is missing, has another shape, or is not the model's.
result<std::vector<named_tensor>>
begin_state(const definition& def, const dataset_info& info,
            const std::vector<named_tensor>& weights);

/// The most values that such a state has; 0 if there is no such model.
std::uint64_t most_state_values(const definition& def,
                                const dataset_info& info);

} // namespace graphmill
