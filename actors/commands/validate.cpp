#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"
#include "partition/dataset/shard.hpp"
#include "pipelines/definition/validation/validation.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

/// All problems and notes on standard error; for `--json` also as one line on
/// output.
int show_problems(const definition_options& options,
                  const std::vector<problem>& problems, const std::string& data,
                  const std::vector<std::string>& notes = {}) {
  for (const auto& note : notes)
    say(stderr, "warning: {}\n", note);
  for (const auto& problem : problems)
    say(stderr, "{}\n", to_string(problem));
  if (!problems.empty())
    say(stderr, "{}: {} problem{}\n", options.file, problems.size(),
        problems.size() == 1 ? "" : "s");
  if (options.json) {
    auto json = problems_json(options.file, problems, data);
    json["notes"] = notes;
    say("{}\n", one_line(json));
  }
  return problems.empty() ? 0 : 1;
}

result<int> validate(const definition_options& options) {
  auto source = read_definition(options.file, options.overrides);
  auto& problems = source.problems;
  std::string data;
  std::vector<std::string> notes;
  // A file that is no YAML at all gives no definition to go on with.
  if (source.value.dataset.empty())
    return show_problems(options, problems, data);
  auto found = find_dataset(source, options.data);
  if (found) {
    data = found.value().string();
    GRAPHMILL_TRY(const auto graph, partitioned_graph::open(data));
    take_name_at_path(source, options.data, graph.info());
    for (auto& problem : problems_with(source, graph))
      problems.push_back(std::move(problem));
    for (auto note : {note_on_graph(source.value, graph.info()),
                      note_on_metric(source.value, graph.info()),
                      note_on_proofs(source.value, graph)})
      if (note)
        notes.push_back(*std::move(note));
  } else if (!options.data.empty()) {
    source.report({options.file, 0, 0}, found.error().message);
  }
  if (problems.empty() && !options.json)
    say("{}: valid{}\n", options.file,
        data.empty() ? ", but there is no dataset to check it against; give "
                       "its folder with --data"
                     : fmt::format(" for the dataset {} in {}",
                                   source.value.dataset, data));
  return show_problems(options, problems, data, notes);
}

} // namespace

void add_validate_command(command_line& cli) {
  auto options = std::make_shared<definition_options>();
  auto* command = cli.app.add_subcommand(
    "validate", "Check a definition and print all problems");
  add_definition_options(*command, *options);
  command->footer("Fields of a definition: graphmill help definition");
  command->callback(
    [&cli, options] { cli.run = [options] { return validate(*options); }; });
}

} // namespace graphmill
