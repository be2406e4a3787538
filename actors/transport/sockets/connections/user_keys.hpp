#pragma once

#include "actors/transport/sockets/connections/keys.hpp"
#include "messages/base/error.hpp"

#include <filesystem>
#include <optional>

namespace graphmill {

/// Where the key of this process's user lies: graphmill/key in
/// $XDG_CONFIG_HOME, else in ~/.config. Fails if the environment names neither
/// by an absolute path.
result<std::filesystem::path> user_key_file();

/// Reads a user's key. If there is none, makes it, and its folder, for their
/// owner alone; of several processes that do so at once, all get the same key.
/// Fails with permission if file or folder belong to another user, or if others
/// can read the file, put another one in its place, or could have.
result<curve_keys> user_keys(const std::filesystem::path& file);

/// The keys that a command is to use.
/// @param file As its user named it; empty: the user's own key is meant.
/// @param insecure The user wants none. Fails if a file is named, too.
result<std::optional<curve_keys>> choose_keys(const std::filesystem::path& file,
                                              bool insecure);

} // namespace graphmill
