#pragma once

#include "messages/base/error.hpp"
#include "messages/wire/role.hpp"

#include <string.h> // explicit_bzero

#include <filesystem>
#include <string>
#include <string_view>

namespace graphmill {

/// A key pair (Curve25519, in Z85 text of 40 characters each). In a cluster
/// without roles every daemon and every client holds the same pair: whoever has
/// it may do everything, whoever has not may do nothing, not even ask. With
/// roles everybody has a pair of their own, and the coordinator knows the
/// public keys (members.hpp). Every copy is wiped when it goes away.
struct curve_keys {
  std::string public_key;
  std::string secret_key;
  std::string file{}; ///< Where they were read, for errors; empty: nowhere.
  key_role role = key_role::all;
  std::string name{};            ///< Of the holder; empty without a role.
  std::string coordinator_key{}; ///< Public; empty without a role.

  ~curve_keys() { ::explicit_bzero(secret_key.data(), secret_key.size()); }
};

/// Draws a new pair, without a role.
result<curve_keys> make_keys();

/// Whether a text is a public key, in the one way to write it.
bool is_public_key(const std::string& text);

/// Whether holders of keys may have this name: letters, digits, `.`, `_`, `-`.
bool is_member_name(std::string_view name);

/// The role that a file names, `all` if there is none of that name.
key_role role_named(std::string_view name);

/// Writes a pair to a new file that the owner alone can read. Fails if there is
/// a file.
result<void> write_keys(const curve_keys& keys,
                        const std::filesystem::path& file);

/// Reads a pair. Fails with permission if others than the owner can read the
/// file, and with invalid_data if the two keys do not belong together, or role
/// and keys do not. Never waits, whatever the file is.
result<curve_keys> read_keys(const std::filesystem::path& file);

} // namespace graphmill
