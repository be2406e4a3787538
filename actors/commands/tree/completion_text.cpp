#include "actors/commands/tree/command_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace graphmill {

namespace {

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// Text with a sign put before each of some others.
std::string escaped(std::string_view text, std::string_view signs,
                    std::string_view with) {
  std::string out;
  for (const char c : text) {
    if (signs.find(c) != std::string_view::npos)
      out += with;
    out += c;
  }
  return out;
}

/// For bash and zsh, where nothing has a meaning between single quotes.
std::string in_shell_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

/// For fish, where a backslash has one, too.
std::string in_fish_quotes(std::string_view text) {
  return "'" + escaped(text, "\\'", "\\") + "'";
}

/// The first line of a text.
std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> names_of(const std::vector<command_description>& of) {
  std::vector<std::string> out;
  for (const auto& command : of)
    out.push_back(command.name);
  return out;
}

bool is_long(std::string_view name) {
  return name.starts_with("--");
}

/// What may follow one of the names of an option.
struct option_names {
  std::vector<std::string> all;    ///< Of every option.
  std::vector<std::string> valued; ///< Behind which a value must stand.
};

option_names names_of(const std::vector<option_description>& options) {
  option_names out;
  for (const auto& option : options) {
    if (option.positional)
      continue;
    out.all.insert(out.all.end(), option.names.begin(), option.names.end());
    if (!option.value.empty() && !option.may_lack_value)
      out.valued.insert(out.valued.end(), option.names.begin(),
                        option.names.end());
  }
  return out;
}

constexpr std::string_view bash_function = R"(
_graphmill() {
  local current=${COMP_WORDS[COMP_CWORD]} before=
  local at=graphmill commands= options= valued= values= word
  local -i i
  COMPREPLY=()
  ((COMP_CWORD > 0)) && before=${COMP_WORDS[COMP_CWORD - 1]}
  # Bash takes --split=test for three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  _graphmill_words "$at"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == -* ]] && continue
    [[ " $commands " == *" $word "* ]] || break
    at+=" $word"
    _graphmill_words "$at"
  done
  _graphmill_values "$at $before"
  if [[ -n $values && $current != -* ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ " $valued " == *" $before "* ]]; then
    return # A file, or nothing that is known.
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}

complete -o default -F _graphmill graphmill
)";

/// An option for _arguments, once for each of its names.
std::string zsh_option(const option_description& option) {
  std::string out;
  const auto help = escaped(first_line(option.help), "\\[]:", "\\");
  std::string value;
  if (!option.value.empty())
    value = fmt::format(
      ":{}{}:{}", option.may_lack_value ? ":" : "",
      escaped(option.value, "\\[]:", "\\"),
      option.choices.empty() ? "_files" : "(" + join(option.choices) + ")");
  for (const auto& name : option.names) {
    // Behind a name the sign says how its value may follow.
    const auto* sign = option.value.empty()    ? ""
                       : option.may_lack_value ? "=-"
                       : is_long(name)         ? "="
                                               : "+";
    out +=
      " \\\n    "
      + in_shell_quotes(fmt::format("*{}{}[{}]{}", name, sign, help, value));
  }
  return out;
}

std::string zsh_function(const command_description& command) {
  return "_" + [&command] {
    auto out = command.words;
    for (auto& c : out)
      if (c == ' ')
        c = '_';
    return out;
  }();
}

/// The function for a command whose commands have functions already.
std::string zsh_text(const command_description& command) {
  std::string options;
  std::string places; // Of words that are one of a few.
  auto place = 0;
  for (const auto& option : command.options)
    if (!option.positional)
      options += zsh_option(option);
    else if (++place; !option.choices.empty())
      places += fmt::format(" \\\n    '{}:{}:({})'", place,
                            option.names.front(), join(option.choices));
  auto out = fmt::format("\n{}() {{\n", zsh_function(command));
  if (command.commands.empty())
    return out + "  _arguments" + options + places
           + " \\\n    '*:file:_files'\n}\n";
  out += "  local curcontext=$curcontext state\n"
         "  local -a line commands=(\n";
  for (const auto& each : command.commands)
    out += "    "
           + in_shell_quotes(each.name + ":"
                             + escaped(first_line(each.help), "\\:", "\\"))
           + "\n";
  out += "  )\n  _arguments -C" + options
         + " \\\n    '1: :->command' '*:: :->rest'\n"
           "  case $state in\n"
           "    command) _describe command commands ;;\n"
           "    rest)\n"
           "      case $words[1] in\n";
  for (const auto& each : command.commands)
    out += fmt::format("        {}) {} ;;\n", each.name, zsh_function(each));
  return out + "      esac ;;\n  esac\n}\n";
}

constexpr std::string_view fish_functions = R"(
# Whether these words choose the command that is being typed.
function __graphmill_at
    set -l at graphmill
    set -l words (commandline -opc)
    for word in $words[2..-1]
        string match -q -- '-*' $word; and continue
        contains -- "$at $word" $__graphmill_commands; or break
        set at "$at $word"
    end
    test "$at" = "$argv"
end

complete -c graphmill -e
)";

std::string fish_option(const std::string& condition,
                        const option_description& option) {
  auto out = condition;
  for (const auto& name : option.names)
    out += is_long(name) ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    out += " -x -a " + in_fish_quotes(join(option.choices));
  else if (!option.value.empty() && !option.may_lack_value)
    out += " -r";
  return out + " -d " + in_fish_quotes(first_line(option.help)) + "\n";
}

std::string made_by(const char* shell) {
  return fmt::format("# Completion of graphmill for {0}, made by `graphmill "
                     "completion {0}`.\n",
                     shell);
}

} // namespace

std::string bash_completion(const command_description& root) {
  auto words = made_by("bash")
               + "\n# What may stand behind the words that choose a command.\n"
                 "_graphmill_words() {\n  commands= options= valued=\n"
                 "  case $1 in\n";
  std::string values = "\n# The values of an option, if there are but a few.\n"
                       "_graphmill_values() {\n  case $1 in\n";
  for (const auto* command : all_commands(root)) {
    const auto names = names_of(command->options);
    words += fmt::format("    '{}')\n      commands='{}'\n      options='{}'\n"
                         "      valued='{}' ;;\n",
                         command->words, join(names_of(command->commands)),
                         join(names.all), join(names.valued));
    for (const auto& option : command->options)
      for (const auto& name : option.names)
        if (!option.choices.empty())
          values += fmt::format("    '{} {}') values='{}' ;;\n", command->words,
                                option.positional ? command->name : name,
                                join(option.choices));
  }
  return words + "  esac\n}\n" + values + "  esac\n}\n"
         + std::string{bash_function};
}

std::string zsh_completion(const command_description& root) {
  auto out = "#compdef graphmill\n" + made_by("zsh");
  const auto commands = all_commands(root);
  for (auto each = commands.rbegin(); each != commands.rend(); ++each)
    out += zsh_text(**each);
  // Read as a file of $fpath, or by `source`.
  return out
         + "\nif [[ $funcstack[1] == _graphmill ]]; then\n"
           "  _graphmill \"$@\"\nelse\n"
           "  compdef _graphmill graphmill\nfi\n";
}

std::string fish_completion(const command_description& root) {
  auto out = made_by("fish") + "\nset -g __graphmill_commands";
  const auto commands = all_commands(root);
  for (const auto* command : commands)
    out += " \\\n    " + in_fish_quotes(command->words);
  out += '\n' + std::string{fish_functions};
  for (const auto* command : commands) {
    const auto condition = "complete -c graphmill -n "
                           + in_fish_quotes("__graphmill_at " + command->words);
    for (const auto& each : command->commands)
      out += condition + " -f -a " + each.name + " -d "
             + in_fish_quotes(first_line(each.help)) + "\n";
    for (const auto& option : command->options)
      if (!option.positional)
        out += fish_option(condition, option);
      else if (!option.choices.empty())
        out +=
          condition + " -f -a " + in_fish_quotes(join(option.choices)) + "\n";
  }
  return out;
}

} // namespace graphmill
