#include "actors/commands/options/cli.hpp"
#include "actors/commands/options/definition_options.hpp"
#include "actors/process/core_dumps.hpp"
#include "actors/process/say.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/sockets/connections/members.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/wire/cluster.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace graphmill {

namespace {

struct keygen_options {
  std::string file;
  std::string members = "graphmill.members";
  std::string coordinator;
  std::string daemon;
  std::string client;
  bool read_only = false;
  std::string revoke;
  bool json = false;
};

/// Whose key is to be made; without a role, that of all.
result<key_holder> holder_of(const keygen_options& options) {
  key_holder out;
  if (!options.coordinator.empty())
    out = {key_role::coordinator, options.coordinator, {}};
  else if (!options.daemon.empty())
    out = {key_role::daemon, options.daemon, {}};
  else if (!options.client.empty())
    out = {options.read_only ? key_role::reader : key_role::client,
           options.client,
           {}};
  if (out.role != key_role::all && !is_member_name(out.name))
    return fail(ec::invalid_argument,
                "\"{}\" is no name for {}: use at most {} letters, digits, "
                "'.', '_' and '-'",
                out.name, to_string(out.role), longest_member_name);
  return out;
}

result<int> make_shared_key(const std::string& file, bool json) {
  GRAPHMILL_TRY(const auto keys, make_keys());
  GRAPHMILL_TRYV(write_keys(keys, file));
  if (json)
    say("{}\n", one_line({{"file", file}, {"public_key", keys.public_key}}));
  else
    say("{} holds the keys of a new cluster.\n"
        "Copy it to the machines of its daemons and users, and give it there "
        "as --key or\n"
        "GRAPHMILL_KEY. Whoever can read it can use the cluster. On one "
        "machine, one user\n"
        "needs no key file: commands use the user's own key.\n",
        file);
  return 0;
}

/// Draws the pair, and says in it whose it is and who leads the cluster.
result<curve_keys> draw_keys(const key_holder& holder,
                             const std::string& members) {
  GRAPHMILL_TRY(auto keys, make_keys());
  keys.role = holder.role;
  keys.name = holder.name;
  keys.coordinator_key = keys.public_key;
  if (holder.role == key_role::coordinator)
    return keys;
  GRAPHMILL_TRY(const auto all, read_members(members));
  keys.coordinator_key = coordinator_of(all).key;
  return keys;
}

/// Lines for people.
std::string what_to_do(const key_holder& holder, const std::string& file,
                       const std::string& members) {
  switch (holder.role) {
  case key_role::coordinator:
    return format_printable(
      "{1} lists the members of the cluster. Start the coordinator with\n"
      "`graphmill node --key {0} --members {1}`, and make the other keys with\n"
      "`graphmill keygen --daemon NAME` or --client NAME.\n",
      file, members);
  case key_role::daemon:
    return format_printable("Its public key is in {1}.\n"
                            "Move {0} to its machine and start it with "
                            "`graphmill node --key {0} --join ...`.\n",
                            file, members);
  default:
    return format_printable(
      "Its public key is in {1}.\n"
      "Move {0} to its owner, who gives it as --key or GRAPHMILL_KEY.\n",
      file, members);
  }
}

result<int> make_own_key(key_holder holder, const keygen_options& options,
                         const std::string& file) {
  GRAPHMILL_TRY(const auto keys, draw_keys(holder, options.members));
  holder.key = keys.public_key;
  GRAPHMILL_TRYV(write_keys(keys, file));
  const auto listed = holder.role == key_role::coordinator
                        ? make_members(options.members, holder)
                        : add_member(options.members, holder);
  if (!listed) { // A key that nobody knows is of no use.
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    return listed.error();
  }
  if (options.json)
    say("{}\n", one_line({{"file", file},
                          {"public_key", keys.public_key},
                          {"role", to_string(holder.role)},
                          {"name", holder.name},
                          {"members", options.members}}));
  else
    say_lines(format_printable("{} holds the key of {}. Keep it secret.\n",
                               file, label_of(holder))
              + what_to_do(holder, file, options.members));
  return 0;
}

result<int> revoke(const keygen_options& options) {
  GRAPHMILL_TRY(const auto gone,
                revoke_member(options.members, options.revoke));
  if (options.json)
    say("{}\n", one_line({{"members", options.members}, {"revoked", gone}}));
  else
    say("{} of \"{}\" {} removed from {}.\n"
        "A coordinator that uses the file applies this within seconds.\n",
        pluralized(gone, "key"), options.revoke, gone == 1 ? "is" : "are",
        options.members);
  return 0;
}

result<int> keygen(const keygen_options& options) {
  forbid_core_dumps();
  if (!options.revoke.empty())
    return revoke(options);
  GRAPHMILL_TRY(const auto holder, holder_of(options));
  if (holder.role == key_role::all)
    return make_shared_key(
      options.file.empty() ? "graphmill.key" : options.file, options.json);
  return make_own_key(holder, options,
                      options.file.empty() ? holder.name + ".key"
                                           : options.file);
}

constexpr const char* keygen_footer =
  "A key without a role is for all: whoever has it may do everything.\n"
  "With roles, each member has its own key and may do what its role allows.\n"
  "The first command makes the members file, which the coordinator reads.\n"
  "The other commands change it:\n"
  "  graphmill keygen --coordinator first\n"
  "  graphmill keygen --daemon second\n"
  "  graphmill keygen --client alice\n"
  "  graphmill keygen --client screen --read-only\n"
  "  graphmill keygen --revoke alice\n"
  "To change a key, make another one with the same name in another file, use\n"
  "it, and revoke the old one by its public key: --revoke='KEY'.";

} // namespace

void add_keygen_command(command_line& cli) {
  auto options = std::make_shared<keygen_options>();
  auto* command =
    cli.app.add_subcommand("keygen", "Make the key files of a cluster");
  command->add_option("file", options->file,
                      "File to write; default: graphmill.key, or NAME.key");
  auto* coordinator =
    command->add_option("--coordinator", options->coordinator,
                        "Name of a daemon: make its key as the coordinator of "
                        "a new cluster with roles");
  auto* daemon = command->add_option("--daemon", options->daemon,
                                     "Name of a daemon: make its key");
  auto* client = command->add_option(
    "--client", options->client, "Name of a person or program: make its key");
  command
    ->add_flag("--read-only", options->read_only,
               "With --client: the key may read, but change nothing")
    ->needs(client);
  auto* revoked = command->add_option(
    "--revoke", options->revoke,
    "A name or a public key: remove it from the members file");
  coordinator->excludes(daemon)->excludes(client)->excludes(revoked);
  daemon->excludes(client)->excludes(revoked);
  client->excludes(revoked);
  command
    ->add_option("--members", options->members,
                 "The coordinator's file with the keys of all members")
    ->capture_default_str();
  command->add_flag("--json", options->json, "Print one line of JSON");
  command->footer(keygen_footer);
  command->callback(
    [&cli, options] { cli.run = [options] { return keygen(*options); }; });
}

} // namespace graphmill
