#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "messages/wire/run.hpp"
#include "partition/dataset/dataset.hpp"

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

/// The most values that such a state has; 0 if there is no such model.
std::uint64_t most_state_values(const definition& def,
                                const dataset_info& info);

} // namespace graphmill
