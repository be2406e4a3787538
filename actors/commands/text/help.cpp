#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/say.hpp"
#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace graphmill {

namespace {

struct help_options {
  std::string topic;
  bool json = false;
};

constexpr std::string_view introduction =
  "A definition is a YAML file. It says on which dataset a model is trained, "
  "and how. Only `dataset` is required; every other field has a default. "
  "Fields of a section are written below it, as in\n";

constexpr std::string_view example = R"(
  dataset: wordnet
  sampler:
    fanouts: [10, 10]
  model: {kind: sage, hidden: 256}

On the command line the same fields are overridden by --set:

  graphmill train wordnet.yaml --set model.hidden=64 --set sampler.replicas=3

)";

std::string describe(const field_description& field, const std::string& key) {
  auto out = fmt::format("  {}\n", key);
  out += wrapped(field.range.empty()
                   ? field.type
                   : fmt::format("{}, {}", field.type, field.range),
                 6);
  if (!field.default_value.empty())
    out += fmt::format("      {}{}\n",
                       field.default_value == "required" ? "" : "default ",
                       field.default_value);
  return out + wrapped(field.help + '.', 6);
}

std::string definition_help() {
  auto out = wrapped(introduction.substr(0, introduction.size() - 1), 0);
  out += example;
  std::string section;
  for (const auto& field : describe_definition()) {
    const auto dot = field.path.find('.');
    const auto here =
      dot == std::string::npos ? std::string{} : field.path.substr(0, dot);
    if (here != section)
      out += fmt::format("\n{}\n", here);
    section = here;
    out +=
      describe(field, dot == std::string::npos ? field.path
                                               : field.path.substr(dot + 1));
  }
  return out;
}

nlohmann::json definition_help_json() {
  auto list = nlohmann::json::array();
  for (const auto& field : describe_definition())
    list.push_back({{"field", field.path},
                    {"type", field.type},
                    {"default", field.default_value},
                    {"range", field.range},
                    {"help", field.help}});
  return list;
}

result<int> help(CLI::App& app, const help_options& options) {
  if (options.topic.empty()) {
    // `app.help()` would give that of the command at hand, which is this one.
    const auto text = app.get_formatter()->make_help(
      &app, app.get_name(), CLI::AppFormatMode::Normal);
    say_lines(text);
    return 0;
  }
  if (options.topic == "definition") {
    if (options.json)
      say("{}\n", one_line(definition_help_json()));
    else
      say_lines(definition_help());
    return 0;
  }
  say_lines(app.get_subcommand(options.topic)->help(app.get_name()));
  return 0;
}

/// A slip of the pen is a wrong command line.
void expect_topic(const CLI::App& app, const std::string& topic) {
  std::vector<std::string> topics{"definition"};
  for (const auto* command : app.get_subcommands(nullptr))
    topics.push_back(command->get_name());
  if (!topic.empty() && std::ranges::find(topics, topic) == topics.end())
    refuse_words(fmt::format("there is no help on {}; there is on {}{}",
                             in_quotes(topic), fmt::join(topics, ", "),
                             suggestion(topic, topics)));
}

} // namespace

void add_help_command(command_line& cli) {
  auto options = std::make_shared<help_options>();
  auto* command = cli.app.add_subcommand(
    "help", "Help on a command, or on the fields of a definition");
  command->add_option(
    "topic", options->topic,
    "A command, or `definition` for the fields of a definition");
  command->add_flag("--json", options->json,
                    "For `definition`: print one line of JSON");
  command->callback([&cli, options] {
    expect_topic(cli.app, options->topic);
    cli.run = [&cli, options] { return help(cli.app, *options); };
  });
}

} // namespace graphmill
