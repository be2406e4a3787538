#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"

#include <string.h> // explicit_bzero

#include <filesystem>
#include <string>
#include <string_view>

namespace graphmill {

/// A key pair (Curve25519, in Z85 text of 40 characters each). In a cluster
/// without roles, all daemons and clients hold the same pair: a holder may do
/// everything, and others nothing. With roles each member has its own pair, and
/// the coordinator knows the public keys (members.hpp). Every copy is wiped on
/// destruction.
struct curve_keys {
  std::string public_key;
  std::string secret_key;
  std::string file{}; ///< The file of the keys, for errors; empty: none.
  key_role role = key_role::all;
  std::string name{};            ///< Of the holder; empty without a role.
  std::string coordinator_key{}; ///< Public; empty without a role.

  ~curve_keys() { ::explicit_bzero(secret_key.data(), secret_key.size()); }
};

/// Draws a new pair, without a role.
result<curve_keys> make_keys();

/// Whether a text is a public key in its only valid form.
bool is_public_key(const std::string& text);

/// Whether a key holder may have this name: letters, digits, `.`, `_`, `-`.
bool is_member_name(std::string_view name);

/// The role with this name in a file; `all` if there is none.
key_role role_named(std::string_view name);

/// Writes a pair to a new file that only the owner can read. Fails if the file
/// exists.
result<void> write_keys(const curve_keys& keys,
                        const std::filesystem::path& file);

/// Reads a pair. Fails with permission if others can read the file, and with
/// invalid_data if the two keys, or role and keys, do not belong together.
/// Never waits, for any kind of file.
result<curve_keys> read_keys(const std::filesystem::path& file);

} // namespace graphmill
