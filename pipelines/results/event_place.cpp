#include "pipelines/results/event_place.hpp"

#include "messages/base/identity.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/results/run_folder.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr auto sign_name = "curves.id";
constexpr std::size_t sign_bytes = 33; ///< An identity and the end of a line.

/// Nothing if there is none.
std::optional<std::string> sign_in(const fs::path& folder) {
  std::error_code unknown;
  const auto file = folder / sign_name;
  if (!fs::is_regular_file(fs::symlink_status(file, unknown)))
    return std::nullopt;
  auto text = read_text(file, sign_bytes);
  if (!text || text.value().size() != sign_bytes)
    return std::nullopt;
  return std::move(text).value();
}

} // namespace

result<void> make_event_place(const fs::path& link, const fs::path& place) {
  GRAPHMILL_TRYV(make_folders(place.parent_path()));
  // One call that looks and makes: between two somebody else could make it.
  if (::mkdir(place.c_str(), S_IRWXU) != 0) {
    if (errno != EEXIST)
      return fail_errno(errno, "cannot make the folder {}", place.string());
    return fail(ec::invalid_argument,
                "{} is there already, maybe with the curves of another run: "
                "name another folder for --tensorboard",
                place.string());
  }
  const auto sign = draw_identity() + "\n";
  GRAPHMILL_TRYV(write_file(place / sign_name, sign));
  GRAPHMILL_TRYV(write_file(link.parent_path() / sign_name, sign));
  std::error_code failed;
  fs::create_directory_symlink(place, link, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot make {}, a link to {}",
                      link.string(), place.string());
  return ok();
}

result<fs::path> event_place(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_symlink(fs::symlink_status(folder, failed)))
    return folder;
  const auto place = fs::read_symlink(folder, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot read {}", folder.string());
  const auto there = fs::symlink_status(place, failed);
  if (place.is_absolute() && !fs::exists(there))
    return fail(ec::not_found,
                "{}, where the curves of the run are to lie by the link {}, is "
                "not there any more",
                place.string(), folder.string());
  const auto sign = sign_in(folder.parent_path());
  if (place.is_absolute() && fs::is_directory(there) && sign
      && sign_in(place) == sign)
    return place;
  return fail(ec::permission,
              "{} is a link to {}, which was not made for the curves of this "
              "run: look who has laid it there, and remove it",
              folder.string(), place.string());
}

} // namespace graphmill
