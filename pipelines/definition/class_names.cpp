#include "pipelines/definition/class_names.hpp"

#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace graphmill {

namespace {

/// Names of classes, not more than fit a sentence.
std::string classes_text(const node_type_info& target) {
  constexpr std::int64_t shown = 20;
  if (target.class_names.empty())
    return fmt::format("classes have no names; write a number from 0 to {}",
                       target.class_count - 1);
  std::vector<std::string> names;
  for (std::int64_t c = 0; c < std::min(target.class_count, shown); ++c)
    names.push_back(in_quotes(class_name_of(target, c)));
  if (target.class_count > shown)
    names.push_back(fmt::format("{} more", target.class_count - shown));
  return fmt::format("the classes are {}", fmt::join(names, ", "));
}

} // namespace

std::string class_name_of(const node_type_info& target, std::int64_t of) {
  return target.class_names.empty()
           ? fmt::format("{}", of)
           : target.class_names[static_cast<std::size_t>(of)];
}

result<std::int32_t> class_named(const node_type_info& target,
                                 std::string_view name) {
  for (std::int64_t c = 0; c < target.class_count; ++c)
    if (class_name_of(target, c) == name)
      return static_cast<std::int32_t>(c);
  return fail(ec::invalid_argument, "{} is no class; {}{}", in_quotes(name),
              classes_text(target), suggestion(name, target.class_names));
}

result<std::vector<double>>
class_weights_of(const definition::train_section& train,
                 const node_type_info& target) {
  const auto& named = train.named_class_weights;
  if (named.empty())
    return train.class_weights;
  if (!train.class_weights.empty())
    return fail(ec::invalid_argument,
                "`train.class_weights` is a list and a map at once; leave one "
                "of them out");
  std::vector<double> out(static_cast<std::size_t>(target.class_count), 1.0);
  for (const auto& [name, weight] : named) {
    GRAPHMILL_TRY(const auto of, class_named(target, name));
    out[static_cast<std::size_t>(of)] = weight;
  }
  return out;
}

} // namespace graphmill
