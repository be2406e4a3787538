#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace graphmill {

/// An option of a command, or one of its positionals, as it was declared.
struct option_description {
  std::vector<std::string> names; ///< "-q", "--quiet"; of a positional, "file".
  bool positional = false;
  std::string value; ///< What its value is called; empty: a flag.
  bool may_lack_value = false;
  std::vector<std::string> choices; ///< The values that there are, if not any.
  std::string range;         ///< "[1 - 1024]"; empty: none, or not a number.
  std::string default_value; ///< Empty: none.
  std::string variable;      ///< Of the environment, that stands for it.
  bool required = false;
  std::string help; ///< Without a full stop; may have several lines.
};

/// A command with all below it.
struct command_description {
  std::string name;  ///< "csv"
  std::string words; ///< "graphmill import csv"
  std::string help;
  std::string footer;                      ///< In lines, as help shows it.
  std::vector<option_description> options; ///< In the order of help.
  std::vector<command_description> commands;
};

/// What was declared, for all that is made of it: completion and the manual
/// page cannot differ from what is parsed.
command_description describe_commands(const CLI::App& app);

/// The words that choose a command and all below it, outermost first.
std::vector<const command_description*>
all_commands(const command_description& root);

/// A program for the shell that completes commands, options, values that are
/// one of a few, and else names of files.
std::string bash_completion(const command_description& root);
std::string zsh_completion(const command_description& root);
std::string fish_completion(const command_description& root);

/// The manual page in the language of man(7).
std::string manual_page(const command_description& root,
                        const std::string& version);

} // namespace graphmill
