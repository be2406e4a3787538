#include "actors/commands/options/exit_codes.hpp"
#include "actors/commands/tree/command_tree.hpp"
#include "pipelines/definition/definition_help.hpp"

#include <fmt/format.h>

#include <string_view>

namespace graphmill {

namespace {

/// Text as roff shows it and does not obey it.
std::string roff(std::string_view text) {
  std::string out;
  auto begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    begins = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string slanted(std::string_view text) {
  return "\\fI" + roff(text) + "\\fR";
}

/// Lines that stay lines.
std::string as_it_stands(std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return ".nf\n" + roff(text) + "\n.fi\n";
}

std::string one_of(const std::vector<std::string>& choices) {
  std::string out;
  for (const auto& choice : choices)
    out += (out.empty() ? "" : "|") + bold(choice);
  return out;
}

/// A sentence of a help text, which may end its first line or be all of it.
std::string sentences(std::string_view help) {
  if (help.find('\n') != std::string_view::npos)
    return as_it_stands(help);
  return roff(help) + (help.ends_with('.') ? "\n" : ".\n");
}

std::string option_text(const option_description& option) {
  std::string names;
  for (const auto& name : option.names)
    names += (names.empty() ? "" : ", ")
             + (option.positional ? slanted(name) : bold(name));
  if (!option.positional && !option.value.empty())
    names += ' '
             + (option.choices.empty() ? slanted(option.value)
                                       : one_of(option.choices));
  auto out = ".TP\n" + names + "\n" + sentences(option.help);
  if (option.positional && !option.choices.empty())
    out += "One of " + one_of(option.choices) + ".\n";
  if (!option.range.empty())
    out += "Within " + roff(option.range) + ".\n";
  if (!option.default_value.empty())
    out += "Default: " + bold(option.default_value) + ".\n";
  if (!option.variable.empty())
    out += "Or " + bold(option.variable) + " in the environment.\n";
  return out;
}

/// "graphmill train [option ...] file"
std::string usage_of(const command_description& command) {
  auto out = bold(command.words) + " [" + slanted("option") + " ...]";
  if (!command.commands.empty())
    out += ' ' + slanted("command");
  for (const auto& option : command.options)
    if (option.positional)
      out += ' '
             + (option.required ? slanted(option.names.front())
                                : "[" + slanted(option.names.front()) + "]");
  return out + "\n";
}

std::string command_text(const command_description& command) {
  auto out = ".SS " + roff(command.words) + "\n" + usage_of(command) + ".PP\n"
             + sentences(command.help);
  for (const auto& option : command.options)
    if (option.names.back() != "--help") // As all have it.
      out += option_text(option);
  if (!command.footer.empty())
    out += ".PP\n" + as_it_stands(command.footer);
  return out;
}

std::string definition_text() {
  std::string out = ".SH DEFINITIONS\n"
                    "A definition is a YAML file. These are its fields; "
                    "a.b is written as the field b of the section a.\n";
  for (const auto& field : describe_definition()) {
    out += ".TP\n" + bold(field.path) + "\n" + roff(field.type)
           + (field.range.empty() ? "" : ", " + roff(field.range));
    if (!field.default_value.empty())
      out += field.default_value == "required"
               ? ", required"
               : "; default " + bold(field.default_value);
    out += ".\n.br\n" + sentences(field.help);
  }
  return out;
}

constexpr std::string_view description =
  R"(.SH DESCRIPTION
Trains graph neural networks by mini\-batches. A
.I dataset
is a folder of arrays that
.B graphmill import
makes of other data; a
.I definition
is a YAML file that says on which dataset which model is trained, and how; a
.I run
leaves a folder with the weights and all that was measured. The same definition
trains in one process
.RB ( graphmill\~train )
and on a cluster of daemons
.RB ( graphmill\~node ", " graphmill\~submit ),
to the same weights.
.PP
All commands but
.BR node ", " completion " and " manual
have
.BR \-\-json ,
which ends standard output with one line of JSON
.RB ( logs " and " events
print one for each line), also when the command fails: its
.I error
then says why, and its
.I code
is a word for the kind of failure.
)";

constexpr std::string_view signals =
  R"(.SH SIGNALS
.TP
.B SIGINT
Ctrl\-C. Commands that train
.RB ( train ", " resume ", " up ", " node )
finish the step, save weights and metrics, and end; a second one ends them at once.
.B watch
and
.B submit \-\-watch
end, and the run goes on.
.BR node ", " top
and
.B status \-\-watch
end as if they were done, with another code than 130.
.BR import " and " partition
clear away what they have begun.
.TP
.B SIGTERM
The same.
.TP
.B SIGHUP
The terminal has been closed: as a first Ctrl\-C, never as a second one. Under
.BR nohup (1)
it is ignored.
.TP
.B SIGPIPE
What is printed to a pipe that is gone is lost, and the work goes on. A command
that only prints what goes on, as
.B graphmill status \-\-watch
does, ends.
)";

constexpr std::string_view environment =
  R"(.SH ENVIRONMENT
.TP
.B OPENBLAS_CORETYPE
With
.B Haswell
at all daemons, those on CPUs of different kinds train together. If it is not
set, and OpenBLAS does not know the CPU, graphmill chooses.
.TP
.B XDG_CACHE_HOME
Which data were found sound is remembered in its folder
.I graphmill
(without it, in
.IR ~/.cache/graphmill ).
.TP
.B XDG_CONFIG_HOME
The user's own key is in its folder
.I graphmill
(without it, in
.IR ~/.config/graphmill ).
.TP
.BR RANK ", " WORLD_SIZE ", " MASTER_ADDR ", " MASTER_PORT " and " SLURM_*
Of launchers: where no flag says otherwise,
.B node
takes its name, addresses and parts from them.
)";

std::string exit_text() {
  std::string out = ".SH EXIT STATUS\n";
  for (const auto& each : exit_meanings)
    out += fmt::format(".TP\n.B {}\n", each.code) + sentences(each.text);
  return out
         + ".PP\n"
           "Commands without anything to save or remove die of a signal, which "
           "shells show as 128 and its number.\n";
}

} // namespace

std::string manual_page(const command_description& root,
                        const std::string& version) {
  auto out = fmt::format(".\\\" Made by `graphmill manual`.\n"
                         ".TH GRAPHMILL 1 \"\" \"graphmill {0}\" "
                         "\"User Commands\"\n"
                         ".SH NAME\ngraphmill \\- train graph neural networks "
                         "on graphs too large for one machine\n"
                         ".SH SYNOPSIS\n{1}",
                         version, usage_of(root));
  out += description;
  out += ".SH COMMANDS\n";
  for (const auto* command : all_commands(root))
    if (command != &root && command->commands.empty())
      out += command_text(*command);
  out += definition_text() + exit_text();
  out += signals;
  out += environment;
  return out;
}

} // namespace graphmill
