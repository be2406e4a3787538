#pragma once

#include "messages/base/error.hpp"

#include <string.h> // explicit_bzero

#include <filesystem>
#include <string>

namespace graphmill {

/// The key pair of a cluster (Curve25519, in Z85 text of 40 characters each).
/// Every daemon and every client of a cluster holds the same pair: whoever has
/// it may do everything, whoever has not may do nothing, not even ask. Every
/// copy is wiped when it goes away.
struct curve_keys {
  std::string public_key;
  std::string secret_key;
  std::string file{}; ///< Where they were read, for errors; empty: nowhere.

  ~curve_keys() { ::explicit_bzero(secret_key.data(), secret_key.size()); }
};

/// Draws a new pair.
result<curve_keys> make_keys();

/// Writes a pair to a new file that the owner alone can read. Fails if there is
/// a file.
result<void> write_keys(const curve_keys& keys,
                        const std::filesystem::path& file);

/// Reads a pair. Fails with permission if others than the owner can read the
/// file, and with invalid_data if the two keys do not belong together. Never
/// waits, whatever the file is.
result<curve_keys> read_keys(const std::filesystem::path& file);

} // namespace graphmill
