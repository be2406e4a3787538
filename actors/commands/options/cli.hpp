#pragma once

#include "messages/base/error.hpp"
#include "messages/base/progress.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace graphmill {

/// The command line. Parsing fills options and chooses `run`, which `main`
/// calls. Both can be tested separately.
struct command_line {
  CLI::App app{"Trains graph neural networks on graphs too large for one "
               "machine.",
               "graphmill"};
  /// The work of the chosen command; its value is the exit code. An error is
  /// reported by `say_failure`, with --json also as one line on standard
  /// output: {"error": a sentence, "code": one of `ec`}. The same holds for a
  /// wrong command line, whose exit code is 2.
  std::function<result<int>()> run;
};

/// Prints the reason of a failure as one sentence on standard error.
/// @returns its exit code: `exit_failure`, or `exit_cancelled`.
int say_failure(const error& reason);

/// For callbacks of commands: refuses words that are each right, but not
/// together. Ends the parsing as a wrong option does, with exit code 2.
[[noreturn]] void refuse_words(const std::string& sentence);

/// For `check` of an option: accepts the values that a parser of ours accepts,
/// and refuses others with the parser's sentence.
template <class Parse>
std::function<std::string(const std::string&)> parsed_by(Parse parse) {
  return [parse](const std::string& text) {
    const auto read = parse(text);
    return read ? std::string{} : read.error().message;
  };
}

/// Lets an option come several times, with one value each time: the words
/// behind that are arguments of the command.
CLI::Option* one_each(CLI::Option* option);

/// Prints a sentence on standard error. Quoted lines are indented, so none can
/// look like one of ours.
void say_sentence(std::string_view sentence);

/// One registration function per command. Each adds its subcommand with help
/// and options, and its callback sets `run`. engine.cpp lists all of them,
/// main.cpp those that need neither models nor actors.
using register_command = void (*)(command_line&);

void add_import_command(command_line& cli);
void add_inspect_command(command_line& cli);
void add_append_command(command_line& cli);
void add_partition_command(command_line& cli);
void add_validate_command(command_line& cli);
void add_plan_command(command_line& cli);
void add_help_command(command_line& cli);
void add_completion_command(command_line& cli);
void add_manual_command(command_line& cli);
void add_train_command(command_line& cli);
void add_resume_command(command_line& cli);
void add_evaluate_command(command_line& cli);
void add_predict_command(command_line& cli);
void add_bench_command(command_line& cli);
void add_submit_command(command_line& cli);
void add_watch_command(command_line& cli);
void add_status_command(command_line& cli);
void add_top_command(command_line& cli);
void add_trace_command(command_line& cli);
void add_runs_command(command_line& cli);
void add_logs_command(command_line& cli);
void add_events_command(command_line& cli);
void add_cancel_command(command_line& cli);
void add_fetch_command(command_line& cli);
void add_drain_command(command_line& cli);
void add_stop_command(command_line& cli);
void add_chaos_command(command_line& cli);
void add_keygen_command(command_line& cli);
void add_node_command(command_line& cli);
void add_up_command(command_line& cli);

/// Shows progress on standard error. On a terminal it is a bar on a line of its
/// own. A progress without a phase removes the bar, and the end of the callback
/// ends it. Otherwise it is a line per phase and every ten seconds. Nothing
/// when `quiet`.
progress_callback show_progress(bool quiet);

/// Clears the terminal of standard output, if it is one that obeys, for text
/// that replaces what was there.
void clear_terminal();

} // namespace graphmill
