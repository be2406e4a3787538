#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/say.hpp"
#include "actors/transport/sockets/connections/keys.hpp"

#include <memory>

namespace graphmill {

namespace {

struct keygen_options {
  std::string file = "graphmill.key";
  bool json = false;
};

result<int> keygen(const keygen_options& options) {
  forbid_core_dumps();
  GRAPHMILL_TRY(const auto keys, make_keys());
  GRAPHMILL_TRYV(write_keys(keys, options.file));
  if (options.json)
    say("{}\n",
        one_line({{"file", options.file}, {"public_key", keys.public_key}}));
  else
    say("{} holds the keys of a new cluster.\nCopy it to the machines "
        "of its daemons and users, and name it there by --key or\n"
        "GRAPHMILL_KEY. Whoever can read it can use the cluster. What one user\n"
        "does on one machine needs none: your own key is used there.\n",
        options.file);
  return 0;
}

} // namespace

void add_keygen_command(command_line& cli) {
  auto options = std::make_shared<keygen_options>();
  auto* command = cli.app.add_subcommand(
    "keygen", "Make the key file that keeps others out of a cluster");
  command->add_option("file", options->file, "The file to make")
    ->capture_default_str();
  command->add_flag("--json", options->json, "Print one line of JSON");
  command->callback(
    [&cli, options] { cli.run = [options] { return keygen(*options); }; });
}

} // namespace graphmill
