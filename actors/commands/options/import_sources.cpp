#include "actors/commands/options/import_sources.hpp"

#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

namespace graphmill {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t source_block_bytes = std::size_t{1} << 20;
constexpr std::size_t most_changes_told = 10;

bool is_standard_input(const fs::path& file) {
  return file == standard_input;
}

/// Reads what is left of an open file, and gives it to `visit`.
template <class Visit>
result<void> read_rest(int fd, const fs::path& path, Visit visit) {
  std::vector<std::byte> block(source_block_bytes);
  for (;;) {
    GRAPHMILL_TRY(const auto got, read_some(fd, block, path));
    GRAPHMILL_TRYV(visit(std::span{block}.first(got)));
    if (got < block.size())
      return ok();
  }
}

/// A pipe is standard input, and read to its end.
result<file_digest> digest_file(const fs::path& path) {
  unique_fd file;
  struct stat about {};
  const auto piped = is_standard_input(path) && ::fstat(0, &about) == 0
                     && !S_ISREG(about.st_mode);
  if (!piped) {
    GRAPHMILL_TRY(file, open_file(path, O_RDONLY));
  }
  content_hash hash;
  std::uint64_t bytes = 0;
  GRAPHMILL_TRYV(read_rest(piped ? STDIN_FILENO : file.get(), path,
                           [&](std::span<const std::byte> block) {
                             hash.update(block);
                             bytes += block.size();
                             return result<void>{};
                           }));
  return file_digest{bytes, hash.digest()};
}

/// The record of a file; nothing: there is none.
const nlohmann::json* find_record(const nlohmann::json& recorded,
                                  const std::string& path) {
  for (const auto& each : recorded)
    if (each.is_object() && each.value("path", nlohmann::json{}) == path)
      return &each;
  return nullptr;
}

/// A field of a record that is a number; what is none is no file's.
std::int64_t number_in(const nlohmann::json& record, const char* key) {
  const auto at = record.find(key);
  return at != record.end() && at->is_number_integer() ? at->get<std::int64_t>()
                                                       : -1;
}

} // namespace

import_sources::import_sources(std::vector<fs::path> files) {
  for (auto& file : files) {
    std::optional<file_stamp> stamp;
    if (!is_standard_input(file))
      if (const auto now = stamp_file(file))
        stamp = now.value();
    sources_.push_back({std::move(file), stamp});
  }
}

result<nlohmann::json> import_sources::record() const {
  auto out = nlohmann::json::array();
  for (const auto& [file, stamp] : sources_) {
    GRAPHMILL_TRY(const auto digest, digest_file(file));
    nlohmann::json record{{"path", file.string()},
                          {"bytes", digest.bytes},
                          {"digest", digest.digest}};
    if (!is_standard_input(file)) {
      GRAPHMILL_TRY(const auto now, stamp_file(file));
      if (!stamp || !stamp->same_content(now) || now.size != digest.bytes)
        return fail(ec::invalid_data,
                    "{} has changed during the import: import it again",
                    file.string());
      record["modified"] = now.modified;
    }
    out.push_back(std::move(record));
  }
  return out;
}

result<void> import_sources::expect_same(const nlohmann::json& recorded,
                                         const fs::path& folder) const {
  std::vector<std::string> changes;
  for (const auto& [file, stamp] : sources_) {
    const auto* before = find_record(recorded, file.string());
    if (before == nullptr) {
      changes.push_back(file.string() + " is new");
      continue;
    }
    if (stamp
        && static_cast<std::int64_t>(stamp->size) == number_in(*before, "bytes")
        && stamp->modified == number_in(*before, "modified"))
      continue;
    const auto now = digest_file(file);
    if (!now && now.error().code == ec::not_found)
      changes.push_back(file.string() + " is gone");
    else if (!now)
      return now.error();
    else if (now->digest != before->value("digest", nlohmann::json{}))
      changes.push_back(file.string() + " has changed");
  }
  for (const auto& each : recorded) {
    const auto path = each.is_object() ? each.value("path", nlohmann::json{})
                                       : nlohmann::json{};
    if (std::ranges::none_of(sources_, [&path](const source& now) {
          return path == now.file.string();
        }))
      changes.push_back((path.is_string() ? path.get<std::string>() : "a file")
                        + " is gone");
  }
  if (changes.empty())
    return ok();
  std::string told;
  for (std::size_t i = 0; i < changes.size() && i < most_changes_told; ++i)
    told += (i == 0 ? "" : ", ") + changes[i];
  if (changes.size() > most_changes_told)
    told += fmt::format(" and {} more", changes.size() - most_changes_told);
  return fail(ec::invalid_argument,
              "{} holds a dataset whose sources have changed: {}; --replace "
              "imports them again, and --out chooses another folder",
              folder.string(), told);
}

result<void> keep_standard_input(const fs::path& folder) {
  struct stat about {};
  if (::fstat(STDIN_FILENO, &about) != 0)
    return fail_errno(errno, "cannot read standard input");
  // A file that was read in part is kept from there on.
  if (S_ISREG(about.st_mode) && ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
    return ok();
  auto path = (folder / "standard-input-XXXXXX").string();
  const unique_fd file{::mkstemp(path.data())};
  if (file.get() < 0)
    return fail_errno(errno, "cannot keep standard input in {}",
                      folder.string());
  ::unlink(path.c_str());
  GRAPHMILL_TRYV(read_rest(STDIN_FILENO, standard_input,
                           [&](std::span<const std::byte> block) {
                             return write_all(file.get(), block, path);
                           }));
  if (::lseek(file.get(), 0, SEEK_SET) != 0
      || ::dup2(file.get(), STDIN_FILENO) < 0)
    return fail_errno(errno, "cannot keep standard input");
  return ok();
}

} // namespace graphmill
