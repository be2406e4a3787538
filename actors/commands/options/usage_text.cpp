#include "actors/commands/options/usage_text.hpp"

#include "pipelines/definition/definition_help.hpp"
#include "pipelines/definition/words_elsewhere.hpp"
#include "pipelines/definition/yaml/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace graphmill {

namespace {

/// The innermost command that was chosen, and the words that led to it, as in
/// "import csv".
struct chosen_command {
  const CLI::App* app;
  std::string words; ///< Empty: none was.
};

chosen_command chosen_in(const CLI::App& app) {
  chosen_command out{&app, {}};
  for (auto deeper = app.get_subcommands(); !deeper.empty();
       deeper = out.app->get_subcommands()) {
    out.app = deeper.back();
    out.words += (out.words.empty() ? "" : " ") + out.app->get_name();
  }
  return out;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

/// A word that nothing took; empty if all were taken. Of several, the first
/// where a command could have stood, for the others were meant for that; else
/// an option rather than what may be its value.
std::string untaken_word(const CLI::App& app, const CLI::App& command) {
  auto words = app.remaining(true);
  std::erase(words, "--");
  if (words.empty())
    return {};
  const auto option = std::ranges::find_if(words, is_option);
  const auto& word =
    option == words.end() || !command.get_subcommands({}).empty()
      ? words.front()
      : *option;
  return is_option(word) ? word.substr(0, word.find('=')) : word;
}

/// "; did you mean ...": the one that begins so, or else the nearest.
std::string meant(const std::string& word,
                  const std::vector<std::string>& candidates) {
  std::vector<std::string> longer;
  std::ranges::copy_if(
    candidates, std::back_inserter(longer),
    [&word](const std::string& name) { return name.starts_with(word); });
  return longer.size() == 1 ? suggestion(longer.front(), longer)
                            : suggestion(word, candidates);
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> out;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames())
      out.push_back("--" + name);
  return out;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> out;
  for (const auto* one : command.get_subcommands({}))
    out.push_back(one->get_name());
  return out;
}

/// Whose graphs, and tables, are not read by any kind of import.
bool is_python_library(std::string_view word) {
  constexpr auto names = std::to_array<std::string_view>(
    {"pyg", "dgl", "ogb", "networkx", "scipy", "pandas", "pyarrow", "parquet",
     "torch_geometric"});
  return std::ranges::find(names, word) != names.end();
}

/// "; a field of the definition ...": an option that is called like one, here
/// or in another library, of a command that sets them; or why there is none.
/// Empty: it is not.
std::string field_meant(const CLI::App& command, std::string_view option) {
  if (command.get_option_no_throw("--set") == nullptr)
    return {};
  auto name = std::string{
    option.substr(std::min(option.find_first_not_of('-'), option.size()))};
  std::ranges::replace(name, '-', '_');
  if (const auto why = absent_elsewhere(name); !why.empty())
    return fmt::format("; {}", why);
  std::string path{field_elsewhere(name)};
  for (const auto& field : describe_definition())
    if (path.empty()
        && (field.path == name || field.path.ends_with('.' + name)))
      path = field.path;
  return path.empty() ? std::string{}
                      : fmt::format("; a field of the definition is set by "
                                    "--set {}=VALUE",
                                    path);
}

/// Whether somebody has named what to import, and not of which kind it is.
bool names_data(std::string_view word) {
  std::error_code failed;
  return word.find_first_of("./") != word.npos
         || std::filesystem::exists(word, failed);
}

/// "; daemons serve ...": an option of `train` that a cluster has no use for.
std::string cluster_instead(std::string_view command, std::string_view option) {
  if (command == "submit" && option == "--data")
    return "; a cluster trains on the dataset that its daemons serve "
           "(`graphmill node --data`). For another dataset, run `graphmill "
           "stop --all` and restart the daemons, or start a second cluster";
  if (command == "submit" && option == "--runs")
    return "; run folders are made at the coordinator (`graphmill node "
           "--runs`), and `graphmill fetch` copies them here";
  return {};
}

/// "; `--tensorboard` has taken ...": an option whose value may be left out may
/// have taken what was meant for something else, which is missing then.
std::string taken_text(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    const auto& values = option->results();
    if (option->get_expected_min() == 0 && option->get_expected_max() == 1
        && !values.empty() && !values.front().empty())
      return fmt::format(
        "; {} has read {} as its own value: move it behind other words",
        in_quotes(option->get_name()), in_quotes(values.front()));
  }
  return "";
}

} // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& wrong) {
  const auto command = chosen_in(app);
  const auto word = untaken_word(app, *command.app);
  // Values that are wrong are named by CLI11; a word that nothing takes is
  // often why something else is missing.
  const auto code = static_cast<CLI::ExitCodes>(wrong.get_exit_code());
  if (word.empty()
      || (code != CLI::ExitCodes::ExtrasError
          && code != CLI::ExitCodes::RequiredError))
    return code == CLI::ExitCodes::RequiredError
             ? wrong.what() + taken_text(*command.app)
             : wrong.what();
  const auto& name = command.words.empty() ? app.get_name() : command.words;
  if (is_option(word)) {
    auto hint = cluster_instead(command.words, word);
    if (hint.empty())
      hint = field_meant(*command.app, word);
    if (hint.empty())
      hint = meant(word, options_of(*command.app));
    return fmt::format("{} has no option {}{}", in_quotes(name),
                       in_quotes(word), hint);
  }
  const auto commands = commands_of(*command.app);
  if (command.words == "import" && is_python_library(word))
    return fmt::format("`import` has no command {}: examples/to_graphmill.py "
                       "reads graphs of Python libraries",
                       in_quotes(word));
  if (command.words == "import" && names_data(word))
    return fmt::format(
      "`import` needs the kind first, and then {}: csv --edges FILE for "
      "tables, npy FOLDER for arrays; examples/to_graphmill.py reads graphs of "
      "Python libraries",
      in_quotes(word));
  if (!commands.empty())
    return fmt::format("{} has no command {}{}", in_quotes(name),
                       in_quotes(word), meant(word, commands));
  return fmt::format("{} takes no {} here", in_quotes(name), in_quotes(word));
}

} // namespace graphmill
