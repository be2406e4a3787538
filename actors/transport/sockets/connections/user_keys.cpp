#include "actors/transport/sockets/connections/user_keys.hpp"

#include "actors/transport/sessions/message.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view way_out =
  "name another key file by --key or GRAPHMILL_KEY (`graphmill keygen` makes "
  "one), or another folder for your own by XDG_CONFIG_HOME";

error belongs_to_another(const fs::path& path, uid_t owner) {
  return fail(ec::permission,
              "{} belongs to the user with the number {}, not to you ({}): {}",
              path.string(), owner, ::geteuid(), way_out);
}

result<struct stat> look_at(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return fail_errno(errno, "cannot look at {}", path.string());
  return about;
}

/// Of a file or folder of this user: what another one owns may be a trap.
result<struct stat> look_at_own(const fs::path& path) {
  GRAPHMILL_TRY(auto about, look_at(path));
  if (about.st_uid != ::geteuid())
    return belongs_to_another(path, about.st_uid);
  return about;
}

bool is_missing(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) != 0 && errno == ENOENT;
}

/// Makes a folder, and those above it that are missing, but not in another
/// user's: root, with somebody's HOME, would lock its owner out.
result<void> make_own_folder(const fs::path& folder) {
  const auto above = folder.parent_path();
  if (is_missing(above))
    GRAPHMILL_TRYV(make_own_folder(above));
  GRAPHMILL_TRY(const auto about, look_at(above));
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return belongs_to_another(above, about.st_uid);
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the folder {} for your key ({})",
                      folder.string(), way_out);
  return ok();
}

result<void> check_key_folder(const fs::path& folder) {
  GRAPHMILL_TRY(const auto about, look_at_own(folder));
  if (!S_ISDIR(about.st_mode))
    return fail(ec::permission, "{}, where your key belongs, is no folder: {}",
                folder.string(), way_out);
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(ec::permission,
                "others can replace the key in {}: chmod 700 it, and remove "
                "the key if somebody may have replaced it",
                folder.string());
  return ok();
}

/// Makes the key under another name and gives it its own at once: whoever comes
/// first has made it, and nobody reads half of one.
result<void> make_user_keys(const fs::path& file) {
  GRAPHMILL_TRY(const auto fresh, make_keys());
  const auto draft = file.parent_path() / ("." + draw_identity());
  auto made = write_keys(fresh, draft);
  if (made && ::link(draft.c_str(), file.c_str()) != 0 && errno != EEXIST)
    made =
      fail_errno(errno, "cannot make your key {} ({})", file.string(), way_out);
  ::unlink(draft.c_str());
  return made;
}

} // namespace

result<fs::path> user_key_file() {
  for (const auto& [name, below] :
       {std::pair{"XDG_CONFIG_HOME", ""}, std::pair{"HOME", ".config"}}) {
    const auto* value = std::getenv(name);
    if (value != nullptr && fs::path{value}.is_absolute())
      return fs::path{value} / below / "graphmill" / "key";
  }
  return fail(ec::invalid_argument,
              "there is no place for your key: set HOME, or XDG_CONFIG_HOME, "
              "to a folder of yours; or name a key file by --key or "
              "GRAPHMILL_KEY (`graphmill keygen` makes one)");
}

result<curve_keys> user_keys(const fs::path& file) {
  const auto folder = file.parent_path();
  if (is_missing(folder))
    GRAPHMILL_TRYV(make_own_folder(folder));
  GRAPHMILL_TRYV(check_key_folder(folder));
  if (is_missing(file))
    GRAPHMILL_TRYV(make_user_keys(file));
  GRAPHMILL_TRYV(look_at_own(file));
  return read_keys(file);
}

result<std::optional<curve_keys>> choose_keys(const fs::path& file,
                                              bool insecure) {
  if (insecure && !file.empty())
    return fail(ec::invalid_argument,
                "--insecure means no key, but {} is named by --key or "
                "GRAPHMILL_KEY: leave out one of the two",
                file.string());
  std::optional<curve_keys> out;
  if (insecure)
    return out;
  if (!file.empty()) {
    GRAPHMILL_TRY(out, read_keys(file));
    return out;
  }
  GRAPHMILL_TRY(const auto own, user_key_file());
  GRAPHMILL_TRY(out, user_keys(own));
  return out;
}

} // namespace graphmill
