#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/dataset.hpp"
#include "pipelines/results/named_tensor.hpp"

#include <cstdint>
#include <vector>

namespace graphmill {

/// Names and shapes of the result of `replica::state` for this definition, in
/// its order, with the best parameters last. Fails as `make_layout` does.
result<std::vector<tensor_shape>> state_shapes(const definition& def,
                                               const dataset_info& info);

/// Whether these are names and shapes of such a state, with or without best
/// parameters. Fails with `invalid_data` and the first wrong one, so that
/// nobody allocates the tensors of another model.
result<void> check_state(const definition& def, const dataset_info& info,
                         const std::vector<tensor_shape>& told);

/// Whether `replica::restore` would accept these tensors: they contain such a
/// state; others are ignored. Fails with `invalid_data` and the first that is
/// missing or has another shape.
result<void> check_restorable(const definition& def, const dataset_info& info,
                              const std::vector<named_tensor>& state);

/// Fails with `invalid_data` if there are weights among these tensors that the
/// model does not have: a part of what was learnt would be lost. Names all edge
/// types that the dataset lacks, or else the first such weight. Ignores moments
/// and best weights.
result<void> check_no_others(const definition& def, const dataset_info& info,
                             const std::vector<named_tensor>& weights);

/// The state of a replica that starts with these weights and has taken no step:
/// moments are 0, and there are no best weights. Ignores other tensors. Fails
/// with `invalid_data` and a weight that is missing, has another shape, or is
/// not the model's.
result<std::vector<named_tensor>>
begin_state(const definition& def, const dataset_info& info,
            const std::vector<named_tensor>& weights);

/// The largest number of values of such a state; 0 if there is no such model.
std::uint64_t most_state_values(const definition& def,
                                const dataset_info& info);

} // namespace graphmill
