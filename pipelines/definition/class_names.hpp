#pragma once

#include "messages/base/error.hpp"
#include "messages/definition/definition.hpp"
#include "partition/dataset/dataset.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The name of a class, or its number if the classes of the dataset have no
/// names.
std::string class_name_of(const node_type_info& target, std::int64_t of);

/// The class with that name. If the classes have no names, their numbers are
/// their names. Fails with the names that there are.
result<std::int32_t> class_named(const node_type_info& target,
                                 std::string_view name);

/// The weights of classes that a definition gives, as a list or by name: one
/// for each class, or none if all weigh the same. Fails if a name is no class,
/// or if there are both.
result<std::vector<double>>
class_weights_of(const definition::train_section& train,
                 const node_type_info& target);

} // namespace graphmill
