#include "actors/cluster/client/fetch_run.hpp"

#include "partition/files/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Far more than a run folder has.
constexpr std::size_t most_files = 10000;

/// A folder beside its target that takes its place, or goes away. Nobody but
/// its owner may enter it, then or later.
class scratch_folder {
public:
  static result<scratch_folder> create(const fs::path& target) {
    std::error_code failed;
    scratch_folder out;
    out.target_ = fs::absolute(target, failed);
    if (failed)
      return fail_errno(failed.value(), "cannot find {}", target.string());
    const auto parent = out.target_.parent_path();
    GRAPHMILL_TRYV(make_folders(parent));
    auto pattern = (parent / ".fetch-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      return fail_errno(errno, "cannot make a folder in {}", parent.string());
    out.path_ = pattern;
    return out;
  }
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  scratch_folder(scratch_folder&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})) {
  }
  scratch_folder& operator=(scratch_folder&& other) noexcept {
    std::swap(target_, other.target_);
    std::swap(path_, other.path_);
    return *this;
  }

  const fs::path& path() const { return path_; }

  /// Fails if there is something at the target, an empty folder excepted.
  result<void> commit() {
    GRAPHMILL_TRYV(sync_tree(path_));
    if (::rename(path_.c_str(), target_.c_str()) != 0)
      return fail_errno(errno, "cannot rename {} to {}", path_.string(),
                        target_.string());
    path_.clear();
    return sync_folder(target_.parent_path());
  }

private:
  scratch_folder() = default;
  fs::path target_;
  fs::path path_;
};

/// @param before Bytes of the files before it.
result<std::uint64_t> fetch_one(cluster_client& client, const std::string& run,
                                const std::string& file, const fs::path& to,
                                std::uint64_t before,
                                const progress_callback& tell) {
  GRAPHMILL_TRYV(make_folders(to.parent_path()));
  GRAPHMILL_TRY(const auto out,
                open_file(to, O_WRONLY | O_CREAT | O_EXCL, file_access::owner));
  std::uint64_t offset = 0;
  for (;;) {
    GRAPHMILL_TRY(const auto piece, client.fetch_file({run, file, offset}));
    GRAPHMILL_TRYV(write_all(out.get(), piece.bytes, to));
    offset += piece.bytes.size();
    if (tell)
      tell({"fetch", before + offset, 0}); // No size in all is known.
    if (offset >= piece.size)
      return offset;
  }
}

} // namespace

bool is_plain_path(const std::string& file) {
  const fs::path path{file};
  return !file.empty() && file.find('\0') == std::string::npos
         && path.is_relative() && path.has_filename()
         && std::ranges::none_of(path, [](const fs::path& part) {
              return part == ".." || part == "." || part.empty();
            });
}

result<fetched_run> fetch_run(cluster_client& client, const std::string& run,
                              const fs::path& folder,
                              const progress_callback& tell) {
  std::error_code ignored;
  if (fs::exists(folder, ignored))
    return fail(ec::invalid_argument,
                "{} is there already; choose another folder by --out",
                folder.string());
  GRAPHMILL_TRY(auto list, client.fetch_file({run, {}, 0}));
  if (list.files.size() > most_files)
    return fail(ec::invalid_data, "the coordinator names {} files of run {}",
                list.files.size(), run);
  fetched_run out;
  GRAPHMILL_TRY(auto scratch, scratch_folder::create(folder));
  for (const auto& file : std::set(list.files.begin(), list.files.end())) {
    if (!is_plain_path(file))
      return fail(ec::invalid_data,
                  "the coordinator names a file \"{}\" of run {}", file, run);
    GRAPHMILL_TRY(
      const auto bytes,
      fetch_one(client, run, file, scratch.path() / file, out.bytes, tell));
    out.bytes += bytes;
    out.files.push_back(file);
  }
  GRAPHMILL_TRYV(scratch.commit());
  return out;
}

} // namespace graphmill
