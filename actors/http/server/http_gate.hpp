#pragma once

#include "actors/transport/sessions/token_bucket.hpp"
#include "messages/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// What a request over HTTP says of itself, but for what it wants.
struct http_head {
  std::string method;
  std::optional<std::string> host;          ///< As the header has it.
  std::optional<std::string> authorization; ///< The same.
  std::optional<std::string> action_token;  ///< Graphmill-Token.
  std::optional<std::string> origin;        ///< Of the page that asks.
  std::optional<std::string> fetch_site;    ///< Sec-Fetch-Site.
  std::optional<std::string> fetch_mode;    ///< Sec-Fetch-Mode.
  bool has_body = false;
};

/// A refusal, as status and sentence. Sentences tell nothing of this process.
struct http_refusal {
  unsigned status = 400;
  std::string sentence;
};

/// Whether a Host header names this machine by a loopback name or address, or
/// by `own`. A page of somebody else's, whose name was made to lead here (DNS
/// rebinding), has a browser send that name. The port is anybody's: it may be
/// forwarded.
bool is_own_host(std::string_view header, std::string_view own);

/// Whether a browser says that a page of somebody else asks: by Sec-Fetch-Site,
/// which no page can set, or by an Origin other than the host that is asked if
/// it does not know that. Programs that are no browsers say neither. The rule
/// is that of CrossOriginProtection in Go's net/http.
bool is_cross_site(const http_head& head);

/// Reads the token that requests must show, the one line of a file that nobody
/// but its owner may read: 16 to 512 printable characters without blanks.
result<std::string> read_http_token(const std::filesystem::path& file);

/// Who may ask, and what may be asked, before anybody looks for a page. Used by
/// the server's thread alone; it is told the time.
class http_gate {
public:
  /// @param own The host at which the server listens, as its user named it.
  /// @param any_host Do not look at the Host header.
  /// @param token Empty: none is needed.
  /// @param action_token Of whoever changes something. Empty: nobody may.
  http_gate(std::string own, bool any_host, std::string token,
            std::string action_token = {});

  /// Of what only tells something. @param from The numeric address of who asks.
  /// @returns nothing if the request is to be answered.
  std::optional<http_refusal>
  refuses(const http_head& head, const std::string& from, session_time now);

  /// The same of a POST to what changes something.
  std::optional<http_refusal> refuses_action(const http_head& head,
                                             const std::string& from,
                                             session_time now);

  /// Wrong tokens that a host may show at once, and in a second after that. One
  /// that has shown more is told to ask later; the right token always counts.
  static constexpr double wrong_at_once = 5;
  static constexpr double wrong_per_second = 0.2;
  /// Hosts that are remembered for it; more than that are one together.
  static constexpr std::size_t most_hosts = 256;

private:
  std::optional<http_refusal> refuses_host(const http_head& head) const;
  std::optional<http_refusal> refuses_token(const http_head& head,
                                            const std::string& from,
                                            session_time now);
  /// Of who has shown what is no token. @param unknown Unless it is too often.
  http_refusal counted(http_refusal unknown, const std::string& from,
                       session_time now);
  token_bucket& bucket_of(const std::string& from, session_time now);

  std::string own_;
  bool any_host_;
  std::string token_;
  std::string action_token_;
  std::map<std::string, token_bucket> wrong_; ///< By group of hosts.
};

} // namespace graphmill
