#include "partition/dataset/verification/verified_files.hpp"

#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "partition/files/json_text.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

namespace graphmill {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int memory_version = 1;
constexpr std::size_t largest_memory = std::size_t{1} << 26;
/// Folders that are remembered; the ones not written for longest go first.
constexpr std::size_t most_remembered = 500;
/// The coarsest clock of a file system: FAT's.
constexpr std::int64_t tick = 2'000'000'000;

std::string name_in_full(const fs::path& path) {
  std::error_code failed;
  auto out = fs::weakly_canonical(path, failed);
  return failed ? path.lexically_normal().string() : out.string();
}

/// One home may serve many machines, on each of which the folder is another.
std::string name_of(const fs::path& data) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  content_hash hash;
  hash.update(std::string_view{host.data()});
  hash.update(std::string_view{"\0", 1});
  hash.update(name_in_full(data));
  return hash.digest() + ".json";
}

/// Whether it belongs to this user, and nobody else may write to it.
bool is_own(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid()
         && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0
         && !S_ISLNK(about.st_mode);
}

result<void> make_private(const fs::path& folder) {
  std::error_code failed;
  if (!fs::exists(folder.parent_path(), failed)) {
    GRAPHMILL_TRYV(make_folders(folder.parent_path()));
  }
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the folder {}", folder.string());
  if (!is_own(folder))
    return fail(ec::permission,
                "{} belongs to somebody else, or others may write to it",
                folder.string());
  return ok();
}

void forget_oldest(const fs::path& memory) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (fs::directory_iterator at{memory, failed}, end; !failed && at != end;
       at.increment(failed)) {
    std::error_code unknown;
    files.emplace_back(at->last_write_time(unknown), at->path());
  }
  if (files.size() <= most_remembered)
    return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - most_remembered);
  for (const auto& [time, path] : files)
    fs::remove(path, failed);
}

json to_json(const file_stamp& stamp) {
  return {stamp.device, stamp.inode, stamp.size, stamp.modified, stamp.changed};
}

/// Nothing unless it is five whole numbers: what `get` makes of a number beyond
/// 64 bits, which is read as a fraction, is undefined.
std::optional<file_stamp> stamp_from(const json& in) {
  const auto whole = [](const json& value) {
    return value.is_number_integer();
  };
  if (!in.is_array() || in.size() != 5
      || !std::all_of(in.begin(), in.end(), whole))
    return std::nullopt;
  return file_stamp{in[0].get<std::uint64_t>(), in[1].get<std::uint64_t>(),
                    in[2].get<std::uint64_t>(), in[3].get<std::int64_t>(),
                    in[4].get<std::int64_t>()};
}

} // namespace

fs::path user_memory() {
  const auto* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path{cache}.is_absolute())
    return fs::path{cache} / "graphmill" / "verified";
  const auto* home = std::getenv("HOME");
  if (home != nullptr && fs::path{home}.is_absolute())
    return fs::path{home} / ".cache" / "graphmill" / "verified";
  return {};
}

verified_files verified_files::open(const fs::path& data,
                                    const fs::path& memory) {
  verified_files out;
  if (memory.empty())
    return out;
  out.file_ = memory / name_of(data);
  out.known_ = read(out.file_);
  return out;
}

verified_files::entries verified_files::read(const fs::path& file) {
  if (!is_own(file.parent_path()) || !is_own(file))
    return {};
  const auto got = read_json(file, largest_memory);
  if (!got)
    return {};
  entries out;
  try {
    const auto& in = got.value();
    if (integer_of(in.at("format_version")) != memory_version)
      return {};
    for (const auto& [path, about] : in.at("files").items()) {
      const auto stamp = stamp_from(about.at("state"));
      if (!stamp)
        return {};
      out[path] = {*stamp, about.at("digest").get<std::string>()};
    }
  } catch (const json::exception&) {
    return {};
  }
  return out;
}

std::int64_t verified_files::unix_now() {
  using namespace std::chrono;
  const auto since = system_clock::now().time_since_epoch();
  return duration_cast<nanoseconds>(since).count();
}

namespace {

/// What files that were verified for a record have: its digest, and, where that
/// is also over texts, which are no files and have no state, what these were.
std::string mark_of(const digest_record& record) {
  content_hash texts;
  auto plain = true;
  for (const auto& piece : record.pieces) {
    texts.update(fmt::format("{}:", piece.text.size()));
    texts.update(piece.text);
    plain = plain && piece.text.empty();
  }
  return plain ? record.digest : record.digest + "-" + texts.digest();
}

} // namespace

bool verified_files::knows(const digest_record& record) const {
  if (record.digest.empty())
    return false;
  const auto mark = mark_of(record);
  return std::ranges::all_of(record.pieces, [&](const auto& piece) {
    if (piece.file.empty())
      return true;
    const auto at = known_.find(name_in_full(piece.file));
    return at != known_.end() && at->second.stamp == piece.stamp
           && at->second.digest == mark;
  });
}

void verified_files::add(const digest_record& record) {
  const auto mark = mark_of(record);
  for (const auto& piece : record.pieces)
    if (!piece.file.empty())
      known_[name_in_full(piece.file)] = {piece.stamp, mark};
}

result<void> verified_files::save(std::int64_t now) const {
  if (file_.empty())
    return ok();
  GRAPHMILL_TRYV(make_private(file_.parent_path()));
  auto merged = read(file_); // Another process may have added its own parts.
  for (const auto& [path, about] : known_)
    merged[path] = about;
  auto files = json::object();
  for (const auto& [path, about] : merged)
    if (about.stamp.changed <= now - tick)
      files[path] = {{"state", to_json(about.stamp)}, {"digest", about.digest}};
  if (files.empty())
    return ok();
  const json out{{"format_version", memory_version},
                 {"files", std::move(files)}};
  GRAPHMILL_TRY(auto scratch, scratch_file::create(file_, file_access::owner));
  const auto text = out.dump(1, ' ', false, json::error_handler_t::replace);
  GRAPHMILL_TRYV(
    write_all(scratch.fd(), std::as_bytes(std::span{text}), file_));
  GRAPHMILL_TRYV(scratch.commit());
  forget_oldest(file_.parent_path());
  return ok();
}

} // namespace graphmill
