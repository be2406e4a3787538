#include "actors/commands/options/run_tags.hpp"

#include "pipelines/definition/definition_checks.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <algorithm>

namespace graphmill {

void add_tag_option(CLI::App& command, std::vector<std::string>& tags) {
  command
    .add_option("--tag", tags,
                "Add a word to the name of the run and its folder: --tag "
                "baseline (repeatable)")
    ->type_name("WORD")
    ->allow_extra_args(false);
}

result<void> add_tags(definition& def, std::span<const std::string> tags) {
  for (const auto& tag : tags) {
    if (tag.empty() || !std::ranges::all_of(tag, is_name_character))
      return fail(ec::invalid_argument,
                  "--tag {}: a tag has only letters, digits, '.', '_' and '-', "
                  "because it is part of the name of a folder",
                  in_quotes(tag));
    def.name += '-' + tag;
  }
  if (def.name.size() > longest_run_name)
    return fail(ec::invalid_argument,
                "with --tag the run's name has {} characters, and may have {}",
                def.name.size(), longest_run_name);
  return ok();
}

} // namespace graphmill
