#include "actors/http/api/query_fields.hpp"
#include "actors/http/metrics/metric_writer.hpp"
#include "actors/http/server/http_gate.hpp"
#include "tests/fuzz/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What requests over HTTP say of themselves, and ask for; names by others in
// metrics.

namespace graphmill::fuzz {

namespace {

constexpr std::string_view fuzz_token = "0123456789abcdef";

/// Written without the gate: a name of this machine, or a number of loopback.
void require_own_host(std::string_view header) {
  const auto in_brackets = header.starts_with('[');
  std::string name{in_brackets ? header.substr(1, header.find(']') - 1)
                               : header.substr(0, header.find(':'))};
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const auto has_only = [&name](std::string_view letters) {
    return name.find_first_not_of(letters) == std::string::npos;
  };
  const auto is_own =
    in_brackets ? has_only("0:.1") && name.ends_with('1')
                    && std::ranges::count(name, '1') == 1
                : name == "localhost" || name == "watch.example"
                    || (has_only("0123456789.") && name.starts_with("127."));
  require(is_own, "another host is taken for this one");
}

/// Written without the gate: what base64 stands for, until its first letter
/// that is none of its own.
std::string from_base64(std::string_view text) {
  static constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const auto c : text) {
    const auto value = letters.find(c);
    if (value == std::string_view::npos)
      break;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffffU;
    count += 6;
    if (count >= 8)
      out += static_cast<char>(bits >> (count -= 8) & 0xffU);
  }
  return out;
}

/// "Bearer TOKEN", or "Basic" with the token as password.
bool shows_token(std::string_view authorization) {
  if (authorization.size() == 7 + fuzz_token.size()
      && authorization.ends_with(fuzz_token))
    return true;
  const auto shown = from_base64(
    authorization.substr(std::min<std::size_t>(6, authorization.size())));
  const auto colon = shown.find(':');
  return colon != std::string::npos && shown.substr(colon + 1) == fuzz_token;
}

void require_one_label(std::string_view name) {
  const auto label = metric_label("daemon", name);
  const std::string_view begin = "daemon=\"";
  require(label.starts_with(begin) && label.size() > begin.size(),
          "a label without its name");
  auto value = std::string_view{label}.substr(begin.size());
  while (value.size() > 1) {
    require(value.front() != '"' && value.front() != '\n',
            "a name ends its label");
    const auto escape = value.front() == '\\';
    require(!escape || value[1] == '\\' || value[1] == '"',
            "an escape that labels do not have");
    value.remove_prefix(escape ? 2 : 1);
  }
  require(value == "\"", "a label without an end");
}

void read_http(std::string_view input) {
  const auto words = files_in(input, 3);
  http_head head;
  head.method = words[0];
  head.host = words[1];
  head.authorization = words[2];
  head.action_token = words[2];
  http_gate open{"watch.example", false, {}};
  if (!open.refuses(head, "127.0.0.1", {})) {
    require(head.method == "GET" || head.method == "HEAD",
            "a method that changes something");
    require_own_host(*head.host);
  }
  http_gate closed{"watch.example", false, std::string{fuzz_token}};
  if (!closed.refuses(head, "127.0.0.1", {}))
    require(shows_token(*head.authorization),
            "another token is taken for the right one");
  http_gate acting{"watch.example", false, {}, std::string{fuzz_token}};
  if (!acting.refuses_action(head, "127.0.0.1", {})) {
    require(*head.action_token == fuzz_token, "somebody acts without a token");
    require_own_host(*head.host);
  }
  require_one_label(input);
}

std::vector<std::string> http_requests() {
  return {
    joined({"GET", "localhost:7880", "Bearer 0123456789abcdef"}),
    joined({"HEAD", "127.0.0.1", "bearer 0123456789abcdeg"}),
    joined({"GET", "[::1]:80", ""}),
    joined({"GET", "10.0.0.1:80", ""}),
    joined({"GET", "[fe80::1]", ""}),
    joined({"POST", "Watch.Example:1", "Basic eDp5"}),
    joined({"GET", "localhost:7880", "Basic YW55OjAxMjM0NTY3ODlhYmNkZWY="}),
    joined({"POST", "localhost:7880", "0123456789abcdef"}),
    "d\"0\\",
  };
}

// -- what they ask for: "run=a%20b&after=7"

void read_query(std::string_view input) {
  for (const auto* name : {"run", "after", "", "a"})
    if (const auto field = field_in(input, name)) {
      require(field->find('&') == std::string_view::npos,
              "a field that goes on behind its end");
      require(field->data() >= input.data()
                && field->data() + field->size() <= input.data() + input.size(),
              "a field beyond its query");
      if (const auto number = decimal_in(*field))
        require(number_in(input, name) == number,
                "a number of a field that is another one");
    }
  const auto plain = decoded(input);
  const auto signs = std::ranges::count(input, '%');
  require(signs != 0 || plain == std::string{input},
          "a text without signs that was decoded to another one");
  if (plain)
    require(plain->size() + 2 * static_cast<std::size_t>(signs) == input.size(),
            "a sign that stands for more than one byte");
}

std::vector<std::string> queries() {
  return {"run=cora-1%20b&after=7", "a=%2&run", "after=18446744073709551616",
          "=&&a==%00", "run=%e2%82%AC&run=2"};
}

} // namespace

const harness http_query_harness{
  "http_query", "what requests over HTTP ask for", read_query, queries, 20000};
const harness http_harness{"http", "requests over HTTP, labels of metrics",
                           read_http, http_requests, 20000};

} // namespace graphmill::fuzz
