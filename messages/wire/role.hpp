#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace graphmill {

/// What the holder of a key may do in a cluster. The values are those of
/// cluster.capnp, but for the first.
enum class key_role : std::uint8_t {
  all, ///< Everything: of the one key of a cluster whose keys have no roles.
  coordinator,
  daemon,
  client,
  reader, ///< A client that changes nothing.
};

/// As key files and members files name it.
constexpr std::string_view to_string(key_role role) {
  switch (role) {
  case key_role::coordinator:
    return "coordinator";
  case key_role::daemon:
    return "daemon";
  case key_role::client:
    return "client";
  case key_role::reader:
    return "reader";
  default:
    return "all";
  }
}

/// Some roles.
class role_set {
public:
  constexpr role_set(std::initializer_list<key_role> roles) {
    for (const auto role : roles)
      bits_ |= bit_of(role);
  }

  constexpr bool has(key_role role) const {
    return (bits_ & bit_of(role)) != 0;
  }

private:
  static constexpr unsigned bit_of(key_role role) {
    return 1U << static_cast<unsigned>(role);
  }

  unsigned bits_ = 0;
};

/// Whose a public key is. Of a cluster with one key for all: `all` without a
/// name. The default stands for whoever has shown no key because none is asked
/// for.
struct key_holder {
  key_role role = key_role::all;
  std::string name{}; ///< Of the daemon, or of the person or program.
  std::string key{};  ///< Public, as Z85 text.

  friend bool operator==(const key_holder&, const key_holder&) = default;

  static void fields(auto& of, auto visit) {
    visit("role", of.role);
    visit("name", of.name);
    visit("key", of.key);
  }
};

/// How sentences name a holder: daemon "a", read-only client "b".
inline std::string label_of(const key_holder& holder) {
  if (holder.role == key_role::all)
    return "a holder of the cluster's key";
  std::string out{holder.role == key_role::reader ? "read-only client"
                                                  : to_string(holder.role)};
  if (!holder.name.empty())
    out += " \"" + holder.name + '"';
  return out;
}

} // namespace graphmill
