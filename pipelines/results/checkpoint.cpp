#include "pipelines/results/checkpoint.hpp"

#include "messages/base/moments.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/results/checkpoint_state.hpp"
#include "pipelines/results/kept_checkpoints.hpp"
#include "pipelines/results/safetensors.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

constexpr auto tensors_file = checkpoint_tensors_file;
constexpr auto state_file = checkpoint_state_file;
/// Before the name of a folder that is not a checkpoint yet, or no more.
constexpr char unfinished = '.';

constexpr std::size_t epoch_digits = 7;
constexpr std::size_t step_digits = 10;

bool is_checkpoint_name(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() == epoch_digits + 1 + step_digits
         && name[epoch_digits] == '-'
         && std::all_of(name.begin(), name.begin() + epoch_digits, digit)
         && std::all_of(name.begin() + epoch_digits + 1, name.end(), digit);
}

result<file_digest> digest_of_file(const fs::path& path) {
  GRAPHMILL_TRY(const auto file, open_file(path, O_RDONLY));
  file_digest out;
  content_hash hash;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  for (;;) {
    GRAPHMILL_TRY(const auto got, read_some(file.get(), piece, path));
    hash.update(std::span{piece}.first(got));
    out.bytes += got;
    if (got < piece.size())
      break;
  }
  out.digest = hash.digest();
  return out;
}

result<void> remove_folder(const fs::path& folder) {
  std::error_code failed;
  fs::remove_all(folder, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot remove {}", folder.string());
  return ok();
}

result<void> rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot rename {} to {}", from.string(),
                      to.string());
  return ok();
}

/// By a name that nobody looks for: a process that is killed meanwhile leaves
/// no checkpoint of which some files are gone.
result<void> remove_checkpoint(const fs::path& folder,
                               const std::string& name) {
  const auto hidden = folder / (unfinished + name);
  GRAPHMILL_TRYV(remove_folder(hidden));
  GRAPHMILL_TRYV(rename_folder(folder / name, hidden));
  return remove_folder(hidden);
}

/// What was begun and never became a checkpoint, or has ceased to be one.
void remove_unfinished(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry{folder, failed}, end;
       !failed && entry != end; entry.increment(failed)) {
    const auto name = entry->path().filename().string();
    if (name.front() == unfinished && is_checkpoint_name(name.substr(1)))
      found.push_back(entry->path());
  }
  for (const auto& path : found)
    fs::remove_all(path, failed);
}

result<unique_fd> make_file(const fs::path& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_EXCL, file_access::owner);
}

/// Fills a folder that has no name yet by which anybody would look for it, so
/// that its files need no other names before they are whole. All of it is on
/// disk when this returns.
result<void> write_content(const fs::path& folder, const checkpoint& made) {
  GRAPHMILL_TRYV(remove_folder(folder));
  GRAPHMILL_TRYV(make_inner_folder(folder));
  const auto tensors_path = folder / tensors_file;
  GRAPHMILL_TRY(const auto tensors, make_file(tensors_path));
  GRAPHMILL_TRY(const auto digest,
                write_tensors(tensors.get(), tensors_path, *made.state.tensors,
                              {{"format", "graphmill checkpoint"},
                               {"train_steps",
                                std::to_string(made.state.at.train_steps)}}));
  now_at(moment::checkpoint); // Half of it is written.
  const auto state_path = folder / state_file;
  GRAPHMILL_TRY(const auto state, make_file(state_path));
  GRAPHMILL_TRYV(write_checkpoint_state(state.get(), state_path, made, digest));
  // Both are on their way before one is waited for, so that the file system can
  // commit them together. A mere hint.
  ::sync_file_range(state.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  GRAPHMILL_TRYV(sync_file(tensors.get(), tensors_path));
  GRAPHMILL_TRYV(sync_file(state.get(), state_path));
  return sync_folder(folder);
}

/// Has the new folder take its name. One that has it already, of a run that was
/// resumed, goes. It may be the only one that is kept, so the two change names
/// at once, and whoever is killed leaves one of them whole.
result<void> put_in_place(const fs::path& folder, const fs::path& made,
                          const fs::path& target) {
  std::error_code unknown;
  if (fs::exists(fs::symlink_status(target, unknown))) {
    if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(),
                    RENAME_EXCHANGE)
        == 0) {
      GRAPHMILL_TRYV(sync_folder(folder));
      return remove_folder(made);
    }
    // Not all file systems can do that.
    GRAPHMILL_TRYV(remove_folder(target));
  }
  GRAPHMILL_TRYV(rename_folder(made, target));
  return sync_folder(folder);
}

} // namespace

std::vector<size_change> sizes_until(const checkpoint& made) {
  if (!made.sizes.empty())
    return made.sizes;
  return {{{0, 0}, static_cast<std::uint32_t>(made.world)}};
}

std::string checkpoint_name(const course_position& at) {
  return fmt::format("{:0{}}-{:0{}}", at.epoch, epoch_digits, at.step,
                     step_digits);
}

result<fs::path> write_checkpoint(const fs::path& folder,
                                  const checkpoint& made, std::uint32_t keep) {
  GRAPHMILL_TRYV(make_inner_folder(folder));
  remove_unfinished(folder);
  const auto name = checkpoint_name(made.state.at);
  const auto scratch = folder / (unfinished + name);
  auto written = write_content(scratch, made);
  if (written)
    written = put_in_place(folder, scratch, folder / name);
  if (!written) {
    std::error_code ignored;
    fs::remove_all(scratch, ignored); // Its room may be what others lack.
    return written.error();
  }
  GRAPHMILL_TRYV(keep_newest(folder, keep));
  return folder / name;
}

result<void> keep_newest(const fs::path& folder, std::uint32_t keep) {
  const auto names = checkpoints_in(folder);
  for (std::size_t n = keep; n < names.size(); ++n)
    GRAPHMILL_TRYV(remove_checkpoint(folder, names[n]));
  return ok();
}

namespace {

/// Says why there is none, and whether that is the folder around some.
error no_checkpoint(const fs::path& folder) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown) && !unknown)
    return fail(ec::not_found, "there is no checkpoint {}", folder.string());
  auto out = fail(ec::not_found, "{} is no checkpoint: it has no {}",
                  folder.string(), state_file);
  for (const auto& around : {folder, folder / "checkpoints"})
    if (const auto names = checkpoints_in(around); !names.empty())
      out.message += fmt::format("; the newest of those in it is {}",
                                 (around / names.front()).string());
  return out;
}

} // namespace

result<checkpoint_state> read_checkpoint_state(const fs::path& folder) {
  const auto path = folder / state_file;
  const auto text = read_text(path, largest_checkpoint_state);
  if (!text && text.error().code == ec::not_found)
    return no_checkpoint(folder);
  if (!text)
    return text.error();
  return parse_checkpoint_state(text.value(), path.string());
}

result<checkpoint> read_checkpoint(const fs::path& folder) {
  GRAPHMILL_TRY(auto read, read_checkpoint_state(folder));
  auto& [out, wanted] = read;
  const auto tensors = folder / tensors_file;
  GRAPHMILL_TRY(const auto found, digest_of_file(tensors));
  if (found != wanted)
    return fail(ec::invalid_data,
                "{} is damaged: it has {} bytes with the digest {}, {} tells "
                "of {} with {}",
                tensors.string(), found.bytes, found.digest, state_file,
                wanted.bytes, wanted.digest);
  GRAPHMILL_TRY(auto content, read_safetensors(tensors));
  out.state.tensors = std::make_shared<const std::vector<named_tensor>>(
    std::move(content.tensors));
  return std::move(out);
}

std::vector<std::string> checkpoints_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code failed;
  for (fs::directory_iterator entry{folder, failed}, end;
       !failed && entry != end; entry.increment(failed))
    if (auto name = entry->path().filename().string(); is_checkpoint_name(name))
      out.push_back(std::move(name));
  std::sort(out.begin(), out.end(), std::greater<>{});
  return out;
}

result<std::optional<found_checkpoint>>
newest_checkpoint(const fs::path& folder) {
  std::vector<std::string> damaged;
  for (const auto& name : checkpoints_in(folder)) {
    auto read = read_checkpoint(folder / name);
    if (read)
      return std::optional{
        found_checkpoint{std::move(read).value(), name, std::move(damaged)}};
    damaged.push_back(read.error().message);
  }
  if (damaged.empty())
    return std::optional<found_checkpoint>{};
  return fail(ec::invalid_data,
              "no checkpoint in {} is whole, so there is nothing to go on "
              "from; of the newest one: {}",
              folder.string(), damaged.front());
}

result<void> remove_checkpoints_after(const fs::path& folder,
                                      const std::string& name) {
  for (const auto& other : checkpoints_in(folder))
    if (other > name)
      GRAPHMILL_TRYV(remove_checkpoint(folder, other));
  return ok();
}

} // namespace graphmill
