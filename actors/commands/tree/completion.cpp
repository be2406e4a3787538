#include "actors/commands/options/cli.hpp"
#include "actors/commands/tree/command_tree.hpp"
#include "actors/process/say.hpp"

#include <memory>
#include <string>

namespace graphmill {

void add_completion_command(command_line& cli) {
  auto shell = std::make_shared<std::string>();
  auto* command = cli.app.add_subcommand(
    "completion", "Print the completion script of a shell");
  command->add_option("shell", *shell, "Which shell")
    ->check(CLI::IsMember({"bash", "zsh", "fish"}))
    ->required();
  command->footer(
    "For the current shell:\n"
    "  bash  source <(graphmill completion bash)\n"
    "  zsh   source <(graphmill completion zsh)     after compinit\n"
    "  fish  graphmill completion fish | source\n"
    "Permanently: the same in ~/.bashrc, ~/.zshrc or "
    "~/.config/fish/config.fish.\n"
    "`meson install` and the package install it where shells look for it.");
  command->callback([&cli, shell] {
    cli.run = [&cli, shell]() -> result<int> {
      const auto commands = describe_commands(cli.app);
      say_lines(*shell == "bash"  ? bash_completion(commands)
                : *shell == "zsh" ? zsh_completion(commands)
                                  : fish_completion(commands));
      return 0;
    };
  });
}

void add_manual_command(command_line& cli) {
  auto* command = cli.app.add_subcommand(
    "manual", "Print the manual page, with the help of all commands");
  command->footer("To read it: graphmill manual | man -l -");
  command->callback([&cli] {
    cli.run = [&cli]() -> result<int> {
      say_lines(manual_page(describe_commands(cli.app), GRAPHMILL_VERSION));
      return 0;
    };
  });
}

} // namespace graphmill
