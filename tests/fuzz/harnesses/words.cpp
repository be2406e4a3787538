#include "actors/cluster/client/fetch_run.hpp"
#include "actors/http/server/http_gate.hpp"
#include "actors/launch/launch.hpp"
#include "actors/launch/launch_environment.hpp"
#include "actors/launch/part_list.hpp"
#include "actors/transport/sessions/address.hpp"
#include "actors/transport/sockets/connections/keys.hpp"
#include "actors/transport/sockets/connections/members.hpp"
#include "messages/base/printable.hpp"
#include "partition/files/json_text.hpp"
#include "tests/fuzz/harnesses/printed.hpp"
#include "tests/fuzz/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Short texts: files with keys, addresses, lists of parts and hosts, variables
// of launchers; and names by others, as they are printed.

namespace graphmill::fuzz {

namespace {

void read_key_file(std::string_view input) {
  if (const auto members = parse_members(input, "members")) {
    require(coordinator_of(members.value()).role == key_role::coordinator,
            "members without a coordinator");
    for (const auto& one : members.value())
      require(is_public_key(one.key) && is_member_name(one.name),
              "a member with a key or a name that is none");
  }
  const auto file = scratch() / "key";
  put_file(file, input);
  if (const auto token = read_http_token(file))
    require(token.value().size() >= 16 && token.value().size() <= 512
              && std::ranges::all_of(token.value(),
                                     [](char c) { return c > ' ' && c < 127; }),
            "a token that can be guessed, or cannot be sent");
  const auto keys = read_keys(file);
  if (!keys)
    return;
  require(keys.value().public_key.size() == 40
            && keys.value().secret_key.size() == 40,
          "keys of another length");
  const auto copy = scratch() / "copy of key";
  std::filesystem::remove(copy);
  require(write_keys(keys.value(), copy).has_value(), "keys cannot be written");
  const auto again = read_keys(copy);
  require(again && again.value().secret_key == keys.value().secret_key,
          "keys that were written read as others");
}

/// The pair that the manual of libzmq shows (zmq_curve(7)): nobody's secret.
std::vector<std::string> key_files() {
  return {
    "graphmill-keys 1\n# Whoever can read this file can use the cluster.\n"
    "public Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\n"
    "secret D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs\n",
    "graphmill-members 1\n# A comment\n\n"
    "coordinator a Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\n"
    "reader b rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\n",
    "0123456789abcdef0123456789abcdef\n"};
}

void read_address(std::string_view input) {
  if (const auto where = parse_endpoint(input)) {
    const auto text = to_string(where.value());
    const auto again = parse_endpoint(text);
    if (!again || !(again.value() == where.value()))
      broken("an address that was written down reads as another one: " + text);
    (void)is_wildcard(where.value());
    (void)is_loopback(where.value());
  }
  if (const auto parts = parse_parts(input); parts && !parts.value().empty()) {
    const auto again = parse_parts(to_part_text(parts.value()));
    require(again && again.value() == parts.value(),
            "a list of parts that was written down reads as another one");
  }
  const std::string name{input};
  if (is_plain_path(name)) {
    const auto base = scratch() / "fetched";
    const auto inside = (base / name).lexically_normal();
    require(inside.lexically_relative(base).begin()->string() != "..",
            "a plain path leads out of its folder");
  }
}

std::vector<std::string> addresses() {
  return {"tcp://10.0.0.1:7800", "[::1]:80", "localhost:1",
          "tcp://*:7800",        "0,2-4",    "none",
          "1-3,7,9-10",          "log.txt",  "a/b/../c",
          "host.name:65535"};
}

void read_launch(std::string_view input) {
  const auto files = files_in(input, 2);
  if (const auto hosts = parse_hosts(files[0], "hosts"))
    for (std::size_t i = 0; i < hosts.value().size(); ++i) {
      require(!hosts.value()[i].login.empty(), "a host without a name");
      remote_launch launch;
      launch.hosts = hosts.value();
      (void)address_of(hosts.value()[i]);
      (void)remote_command(launch, i);
      if (i == 20)
        break;
    }
  std::map<std::string, std::string> variables;
  auto rest = files[1];
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const auto found = read_launch_environment(
    [&](const std::string& name) -> std::optional<std::string> {
      const auto at = variables.find(name);
      if (at == variables.end())
        return std::nullopt;
      return at->second;
    },
    2);
  if (found && found.value()) {
    const auto& place = *found.value();
    require(place.rank < place.world, "a rank beyond its world");
    (void)place.serve(5);
  }
  (void)first_slurm_host(std::string{files[1]});
}

std::vector<std::string> launches() {
  return {
    joined({"user@10.0.0.1 serve=0,2-4 data=/srv/parts slots=2 port=7801\n"
            "gpu-box address=10.0.0.7 # comment\n",
            "RANK=1\nWORLD_SIZE=4\nMASTER_ADDR=10.0.0.1\nMASTER_PORT=29500\n"
            "LOCAL_RANK=1\nLOCAL_WORLD_SIZE=2\nCUDA_VISIBLE_DEVICES=0,1\n"}),
    joined(
      {"a\n[::1]\n",
       "SLURM_PROCID=0\nSLURM_NTASKS=2\nSLURM_JOB_NODELIST=n[007-009,12],b\n"}),
    joined({"", "n[007-009,12],login"}),
  };
}

void read_name(std::string_view input) {
  for (const auto breaks : {line_breaks::escape, line_breaks::keep}) {
    const auto text = printable(input, breaks);
    require_printable(text, breaks);
    require(printable(text, breaks) == text,
            "what is printed changes if it is printed again");
  }
  for (const std::size_t most : {0, 3, 10})
    require(shortened(input, most).size() <= std::max<std::size_t>(most, 3),
            "a text is not short");
  if (const auto value = parse_json(input, "a text")) {
    const auto line = value.value().dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
    const auto shown = parse_json(printable(line), "what was printed");
    require(shown && shown.value() == parse_json(line, "a line").value(),
            "JSON says something else after it was printed");
  }
}

std::vector<std::string> names() {
  return {"plain",
          "\x1b[31mred\x07",
          "two\nlines\tand a tab",
          "\xe2\x82\xac \xe2\x80\xae turned",
          "\xff\xc0\xaf",
          "{\"a\\u0007\": \"\xc2\x9b\x7f\"}"};
}

} // namespace

const harness keys_harness{"keys", "files with keys and tokens", read_key_file,
                           key_files, 2000};
const harness addresses_harness{"addresses",
                                "addresses, lists of parts, names of files",
                                read_address, addresses, 20000};
const harness launch_harness{"launch", "hosts files and launchers' variables",
                             read_launch, launches, 4000};
const harness printed_text_harness{
  "printed_text", "names and errors that are printed", read_name, names, 20000};

} // namespace graphmill::fuzz
