#include "actors/commands/options/program.hpp"

#include "actors/commands/options/definition_options.hpp"
#include "actors/commands/options/exit_codes.hpp"
#include "actors/commands/options/usage_text.hpp"
#include "actors/process/say.hpp"
#include "actors/transport/sockets/descriptors.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace graphmill {
namespace {

/// Whether the command that was chosen has --json, and got it.
bool wants_json(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (!chosen.empty())
    return wants_json(*chosen.front());
  const auto* flag = app.get_option_no_throw("--json");
  return flag != nullptr && flag->count() != 0;
}

void say_json(const error& failure) {
  say("{}\n", one_line({{"error", failure.message},
                        {"code", to_string(failure.code)}}));
}

int tell_failure(const command_line& cli, const error& reason) {
  if (wants_json(cli.app))
    say_json(reason);
  return say_failure(reason);
}

int carry_out(const command_line& cli) {
  const auto done = cli.run();
  return done ? done.value() : tell_failure(cli, done.error());
}

/// Says what is wrong with the command line. Options may not have been parsed
/// to the end, so that --json is looked for among the words.
int refuse_usage(const CLI::App& app, const CLI::ParseError& wrong,
                 std::span<char* const> words) {
  const auto sentence = usage_text(app, wrong);
  if (std::ranges::find(words, std::string_view{"--json"}) != words.end())
    say_json(fail(ec::invalid_argument, "{}", sentence));
  std::fflush(stdout);
  say(stderr, "{}\nRun with --help for more information.\n", sentence);
  return exit_usage;
}

/// What all commands share, below the list of them.
std::string exit_codes_text() {
  std::string out = "Exit codes:\n";
  for (const auto& [code, text] : exit_meanings)
    out += fmt::format("  {:>3}  {}\n", code, text);
  return out
         + "SIGTERM and a closed terminal end a command as Ctrl-C does. node, "
           "top and\n"
           "status --watch then end in order, with another code. More: "
           "graphmill manual,\n"
           "graphmill help definition, and --help of each command.";
}

/// A sentence may quote lines of a file or of another program.
std::string below_each_other(std::string_view sentence) {
  std::string out;
  for (const char c : sentence) {
    out += c;
    if (c == '\n')
      out += "  ";
  }
  return out;
}

} // namespace

CLI::Option* one_each(CLI::Option* option) {
  return option->expected(1)->allow_extra_args(false)->multi_option_policy(
    CLI::MultiOptionPolicy::TakeAll);
}

void refuse_words(const std::string& sentence) {
  throw CLI::ValidationError{sentence}; // `run_program` takes it.
}

void say_sentence(std::string_view sentence) {
  std::fflush(stdout);
  say_lines(stderr, "graphmill: " + below_each_other(sentence) + '\n');
}

int say_failure(const error& reason) {
  say_sentence(to_string(reason));
  return reason.code == ec::cancelled ? exit_cancelled : exit_failure;
}

int run_program(int argc, char** argv,
                std::span<const register_command> commands) {
  raise_descriptor_limit();
  command_line cli;
  cli.app.require_subcommand(1);
  for (auto add : commands)
    add(cli);
  cli.app.set_version_flag("--version", GRAPHMILL_VERSION);
  cli.app.footer(exit_codes_text());
  try {
    cli.app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    // Help and version come this way, too, with 0.
    if (wrong.get_exit_code() == 0)
      return cli.app.exit(wrong);
    return refuse_usage(cli.app, wrong, {argv, static_cast<std::size_t>(argc)});
  }
  try {
    const auto code = carry_out(cli);
    if (code != 0)
      return code;
    const auto printed = flush_output();
    return printed ? code : say_failure(printed.error());
  } catch (const std::bad_alloc&) {
    // What a file claims to have may be true, and too much for this machine.
    return tell_failure(
      cli, fail(ec::out_of_memory, "there is not enough memory for this"));
  } catch (const std::exception& bug) {
    const error reason =
      fail(ec::internal, "unexpected exception: {}", bug.what());
    if (wants_json(cli.app))
      say_json(reason);
    say_sentence(reason.message);
    return exit_defect;
  }
}

} // namespace graphmill
