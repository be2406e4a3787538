#include "actors/launch/launch.hpp"

#include "actors/launch/launch_environment.hpp"
#include "actors/launch/part_list.hpp"
#include "actors/transport/sessions/address.hpp"
#include "messages/words/number_text.hpp"

#include <set>

namespace graphmill {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string daemon_name(std::size_t index) {
  return fmt::format("daemon-{}", index);
}

/// The next word of a line, which is taken off it; empty at its end.
std::string_view take_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos)
    return line = {};
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

template <class Number>
result<void> set_number(Number& to, std::string_view key,
                        std::string_view text) {
  const auto number = number_from<Number>(text);
  if (!number || *number == 0)
    return fail(ec::invalid_argument, "{}={} is no positive number in range",
                key, text);
  to = *number;
  return ok();
}

result<void> set_option(launch_host& host, std::string_view key,
                        std::string_view value) {
  if (key == "serve") {
    host.serve = value;
    GRAPHMILL_TRYV(parse_served_parts(value));
    return ok();
  }
  if (key == "data") {
    host.data = value;
    return ok();
  }
  if (key == "address") {
    host.address = value;
    return ok();
  }
  if (key == "port")
    return set_number(host.port, key, value);
  if (key == "slots")
    return set_number(host.slots, key, value);
  return fail(ec::invalid_argument,
              "`{}` is no option of a host; the options are serve, data, "
              "slots, port and address",
              key);
}

result<launch_host> parse_host(std::string_view line) {
  launch_host out;
  out.login = take_word(line);
  if (out.login.front() == '-')
    return fail(ec::invalid_argument, "`{}` is no host", out.login);
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals + 1 == word.size())
      return fail(ec::invalid_argument,
                  "`{}` is no option of a host: write key=value", word);
    GRAPHMILL_TRYV(
      set_option(out, word.substr(0, equals), word.substr(equals + 1)));
  }
  if (out.address.empty())
    out.address = out.login.substr(out.login.rfind('@') + 1);
  GRAPHMILL_TRYV(parse_endpoint(address_of(out)));
  return out;
}

/// Options of `graphmill node`; none where the default is meant.
void add_data_options(const launch_data_options& how,
                      std::vector<std::string>& words) {
  if (how.no_verify)
    words.emplace_back("--no-verify");
  if (how.storage.where != storage_kind::automatic) {
    words.emplace_back("--storage");
    words.emplace_back(how.storage.where == storage_kind::disk ? "disk"
                                                               : "memory");
  }
  if (how.storage.cache_bytes != 0) {
    words.emplace_back("--disk-cache");
    words.push_back(std::to_string(how.storage.cache_bytes));
  }
  if (how.storage.memory_bytes != 0) {
    words.emplace_back("--memory");
    words.push_back(std::to_string(how.storage.memory_bytes));
  }
}

} // namespace

// -- daemons on this machine

std::filesystem::path ready_file(const local_launch& launch,
                                 std::uint32_t index) {
  return launch.ready / daemon_name(index);
}

process_command local_daemon(const local_launch& launch, std::uint32_t index,
                             const std::string& join) {
  const auto serve =
    to_part_text(deal_parts(launch.parts, index, launch.daemons));
  process_command out{daemon_name(index),
                      {launch.program, "node",                  //
                       "--name", daemon_name(index),            //
                       "--data", launch.data.string(),          //
                       "--serve", serve,                        //
                       "--slots", std::to_string(launch.slots), //
                       "--processors",
                       std::to_string(launch.processors), //
                       "--listen",
                       index == 0 && !launch.again_at.empty()
                         ? launch.again_at
                         : "tcp://127.0.0.1:0", //
                       "--ready-file", ready_file(launch, index).string()}};
  const auto more = index == 0
                      ? std::vector<std::string>{"--runs", launch.runs.string()}
                      : std::vector<std::string>{"--join", join};
  out.arguments.insert(out.arguments.end(), more.begin(), more.end());
  if (!launch.key.empty())
    out.arguments.insert(out.arguments.end(), {"--key", launch.key});
  if (launch.insecure)
    out.arguments.emplace_back("--insecure");
  if (index == 0 && launch.again_at.empty())
    out.arguments.emplace_back("--leave-open-runs");
  add_data_options(launch.how, out.arguments);
  out.hidden = launcher_variables();
  return out;
}

// -- daemons on other machines

result<std::vector<launch_host>> parse_hosts(std::string_view text,
                                             const std::string& origin) {
  std::vector<launch_host> out;
  std::set<std::string> addresses;
  std::string problems;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(blanks) == std::string_view::npos)
      continue;
    auto host = parse_host(line);
    if (host && !addresses.insert(address_of(host.value())).second)
      host = fail(ec::invalid_argument,
                  "{} is there already; each daemon of a machine needs its own "
                  "port (port=7801)",
                  address_of(host.value()));
    if (host)
      out.push_back(std::move(host).value());
    else
      problems += fmt::format("{}{}:{}: {}", problems.empty() ? "" : "\n",
                              origin, number, host.error().message);
  }
  if (!problems.empty())
    return error{ec::invalid_argument, std::move(problems)};
  if (out.empty())
    return fail(ec::invalid_argument, "{} names no host", origin);
  return out;
}

std::string address_of(const launch_host& host) {
  return to_string(endpoint{host.address, host.port});
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "@%_+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
    return std::string{text};
  std::string out = "'";
  for (const auto letter : text)
    out += letter == '\'' ? std::string{"'\\''"} : std::string(1, letter);
  return out + '\'';
}

std::string remote_command(const remote_launch& launch, std::size_t index) {
  const auto& host = launch.hosts[index];
  const auto& data = host.data.empty() ? launch.data : host.data;
  const auto slots = host.slots == 0 ? launch.slots : host.slots;
  std::vector<std::string> words{
    launch.program, "node", "--name",  daemon_name(index),
    "--data",       data,   "--slots", std::to_string(slots)};
  const auto add = [&words](std::string flag, std::string value) {
    words.push_back(std::move(flag));
    words.push_back(std::move(value));
  };
  if (is_loopback({host.address, host.port})) {
    add("--listen", address_of(host));
  } else {
    const auto is_v6 = host.address.find(':') != std::string::npos;
    add("--listen", to_string(endpoint{is_v6 ? "::" : "*", host.port}));
    add("--advertise", host.address);
  }
  if (!host.serve.empty())
    add("--serve", host.serve);
  if (index != 0)
    add("--join", address_of(launch.hosts.front()));
  else if (!launch.runs.empty())
    add("--runs", launch.runs);
  if (!launch.key.empty())
    add("--key", launch.key);
  if (launch.insecure)
    words.emplace_back("--insecure");
  if (index == 0 && !launch.again)
    words.emplace_back("--leave-open-runs");
  add_data_options(launch.how, words);
  std::string out = "exec";
  for (const auto& word : words)
    out += ' ' + shell_quoted(word);
  return out;
}

process_command remote_daemon(const remote_launch& launch, std::size_t index) {
  const auto& host = launch.hosts[index];
  return {fmt::format("{} on {}", daemon_name(index), host.login),
          {"ssh", "-tt", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o",
           "ServerAliveInterval=15", "--", host.login,
           remote_command(launch, index)}};
}

} // namespace graphmill
