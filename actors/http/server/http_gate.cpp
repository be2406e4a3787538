#include "actors/http/server/http_gate.hpp"

#include "actors/transport/sessions/address.hpp"
#include "partition/files/file_io.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

namespace graphmill {

namespace {

constexpr std::size_t shortest_token = 16;
constexpr std::size_t longest_token = 512;

char lowered(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a')
                                        : letter;
}

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lowered, lowered);
}

/// Of a Host header; nothing if it is none.
std::optional<std::string_view> name_in(std::string_view header) {
  const auto digits = [](std::string_view port) {
    return port.size() <= 5 && std::ranges::all_of(port, [](char c) {
             return c >= '0' && c <= '9';
           });
  };
  std::size_t end = header.find(':');
  if (header.starts_with('[')) {
    const auto close = header.find(']');
    if (close == std::string_view::npos)
      return std::nullopt;
    end = close + 1 == header.size() ? std::string_view::npos : close + 1;
    if (end != std::string_view::npos && header[end] != ':')
      return std::nullopt;
  }
  if (end != std::string_view::npos && !digits(header.substr(end + 1)))
    return std::nullopt;
  auto name = header.substr(0, end);
  if (name.starts_with('[')) {
    name = name.substr(1, name.size() - 2);
    if (name.find(':') == std::string_view::npos)
      return std::nullopt;
  }
  const auto is_of_name = [](char c) {
    const auto letter = lowered(c);
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9')
           || c == '.' || c == '-' || c == '_' || c == ':';
  };
  if (name.empty() || !std::ranges::all_of(name, is_of_name))
    return std::nullopt;
  return name;
}

/// A name that only looks like a number, as 127.example.org, is none.
bool is_loopback_name(std::string_view name) {
  const std::string text{name};
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  if (::inet_pton(AF_INET6, text.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six);
  return equal_but_case(name, "localhost");
}

/// In a time that does not depend on what is equal. Of digests, for these are
/// of one length.
bool is_same_secret(std::string_view a, std::string_view b) {
  const auto digest = [](std::string_view text) {
    std::array<unsigned char, crypto_generichash_BYTES> out{};
    crypto_generichash(out.data(), out.size(),
                       reinterpret_cast<const unsigned char*>(text.data()),
                       text.size(), nullptr, 0);
    return out;
  };
  const auto left = digest(a);
  const auto right = digest(b);
  return sodium_memcmp(left.data(), right.data(), left.size()) == 0;
}

/// What follows a scheme of the Authorization header; nothing if it is another
/// scheme's.
std::optional<std::string_view> shown_by(std::string_view scheme,
                                         std::string_view header) {
  if (!equal_but_case(header.substr(0, scheme.size()), scheme))
    return std::nullopt;
  return header.substr(scheme.size());
}

/// The password of "user:password" in base64 (RFC 7617); empty if there is
/// none.
std::string password_in(std::string_view credentials) {
  // Of libsodium's letters bytes above ASCII are some, too.
  if (!std::ranges::all_of(credentials,
                           [](char c) { return c > ' ' && c <= '~'; }))
    return {};
  std::string out(credentials.size(), '\0');
  std::size_t size = 0;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()),
                        out.size(), credentials.data(), credentials.size(),
                        nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL)
      != 0)
    return {};
  out.resize(size);
  const auto colon = out.find(':');
  return colon == std::string::npos ? std::string{} : out.substr(colon + 1);
}

} // namespace

bool is_own_host(std::string_view header, std::string_view own) {
  const auto name = name_in(header);
  return name && (is_loopback_name(*name) || equal_but_case(*name, own));
}

result<std::string> read_http_token(const std::filesystem::path& file) {
  GRAPHMILL_TRY(const auto from, open_file(file, O_RDONLY));
  struct stat about {};
  if (::fstat(from.get(), &about) != 0)
    return fail_errno(errno, "cannot read the token file {}", file.string());
  if (!S_ISREG(about.st_mode))
    return fail(ec::invalid_data, "{} is no file with a token", file.string());
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(ec::permission,
                "others can read the token file {}: chmod 600 it, and put "
                "another token in if somebody may have read it",
                file.string());
  std::array<char, longest_token + 2> bytes{};
  GRAPHMILL_TRY(
    const auto size,
    read_some(from.get(), std::as_writable_bytes(std::span{bytes}), file));
  std::string token{bytes.data(), size};
  while (token.ends_with('\n') || token.ends_with('\r'))
    token.pop_back();
  if (token.size() < shortest_token || token.size() > longest_token
      || !std::ranges::all_of(token,
                              [](char c) { return c > ' ' && c <= '~'; }))
    return fail(ec::invalid_data,
                "the token file {} must hold one line of {} to {} printable "
                "characters without blanks; `openssl rand -hex 32` makes one",
                file.string(), shortest_token, longest_token);
  return token;
}

bool is_cross_site(const http_head& head) {
  if (head.fetch_site)
    return *head.fetch_site != "same-origin" && *head.fetch_site != "none";
  if (!head.origin)
    return false;
  const std::string_view origin{*head.origin};
  const auto end = origin.find("://");
  return end == std::string_view::npos || !head.host
         || !equal_but_case(origin.substr(end + 3), *head.host);
}

http_gate::http_gate(std::string own, bool any_host, std::string token,
                     std::string action_token)
  : own_(std::move(own)), any_host_(any_host), token_(std::move(token)),
    action_token_(std::move(action_token)) {}

std::optional<http_refusal> http_gate::refuses(const http_head& head,
                                               const std::string& from,
                                               session_time now) {
  if (auto refusal = refuses_host(head))
    return refusal;
  if (!token_.empty())
    if (auto refusal = refuses_token(head, from, now))
      return refusal;
  if (head.method != "GET" && head.method != "HEAD")
    return http_refusal{405, "only GET and HEAD are answered"};
  if (head.has_body)
    return http_refusal{413, "a request may have no body"};
  return std::nullopt;
}

/// The token stands in a header of its own: a page of somebody else cannot send
/// that without asking first, which is refused (405).
std::optional<http_refusal> http_gate::refuses_action(const http_head& head,
                                                      const std::string& from,
                                                      session_time now) {
  if (auto refusal = refuses_host(head))
    return refusal;
  if (is_cross_site(head))
    return http_refusal{403, "the request comes from another site"};
  if (action_token_.empty())
    return http_refusal{403, "it only shows: the coordinator was started "
                             "without --http-action-token-file"};
  if (head.has_body)
    return http_refusal{413, "a request may have no body"};
  if (!head.action_token)
    return http_refusal{401,
                        "show the token for actions: Graphmill-Token: ..."};
  if (is_same_secret(*head.action_token, action_token_))
    return std::nullopt;
  // This reveals nothing new: the client already has the token for looking.
  const auto looks =
    !token_.empty() && is_same_secret(*head.action_token, token_);
  return counted({401, looks ? "that is the token for looking: actions take "
                               "the one of --http-action-token-file"
                             : "the token for actions is another one: it is in "
                               "the coordinator's --http-action-token-file"},
                 from, now);
}

std::optional<http_refusal>
http_gate::refuses_host(const http_head& head) const {
  if (!head.host || !name_in(*head.host))
    return http_refusal{400, "the request names no host"};
  if (!any_host_ && !is_own_host(*head.host, own_))
    return http_refusal{421, "the request is for another host"};
  return std::nullopt;
}

std::optional<http_refusal> http_gate::refuses_token(const http_head& head,
                                                     const std::string& from,
                                                     session_time now) {
  if (!head.authorization)
    return http_refusal{401, "show the token: Authorization: Bearer ..., or as "
                             "the password of a browser"};
  // Before wrong ones are counted: else whoever shows some would keep out all
  // others of that host.
  const auto bearer = shown_by("bearer ", *head.authorization);
  if (bearer && is_same_secret(*bearer, token_))
    return std::nullopt;
  // Browsers ask their users for a name and a password; the name is anything.
  // From then on they send it by themselves, for pages of others, too: who
  // follows a link from there comes in, and nobody else.
  const auto basic = shown_by("basic ", *head.authorization);
  if (basic && is_same_secret(password_in(*basic), token_)) {
    if (is_cross_site(head) && head.fetch_mode != "navigate")
      return http_refusal{403, "the request comes from another site"};
    return std::nullopt;
  }
  const auto shown = bearer  ? std::string{*bearer}
                     : basic ? password_in(*basic)
                             : "";
  const auto acts =
    !action_token_.empty() && is_same_secret(shown, action_token_);
  return counted({401, acts
                         ? "that is the token for actions: looking takes the "
                           "one of --http-token-file"
                         : "the token is another one: it is in the daemon's "
                           "--http-token-file"},
                 from, now);
}

http_refusal http_gate::counted(http_refusal unknown, const std::string& from,
                                session_time now) {
  auto& wrong = bucket_of(from, now);
  if (wrong.level(now) < 1)
    return {429, "too many wrong tokens: ask again later"};
  wrong.take(now);
  return unknown;
}

token_bucket& http_gate::bucket_of(const std::string& from, session_time now) {
  auto group = host_group(from);
  if (wrong_.size() >= most_hosts)
    std::erase_if(wrong_,
                  [now](const auto& host) { return host.second.is_full(now); });
  if (wrong_.size() >= most_hosts && !wrong_.contains(group))
    group.clear();
  return wrong_
    .try_emplace(std::move(group),
                 token_bucket{wrong_per_second, wrong_at_once})
    .first->second;
}

} // namespace graphmill
