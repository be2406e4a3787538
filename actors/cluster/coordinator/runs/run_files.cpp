#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/history/run_journal.hpp"
#include "partition/files/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;
using run_journal::is_plain_name;

namespace {

/// What one answer brings of a file: 8 MiB.
constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;

} // namespace

result<file_reply> read_run_file(const fs::path& runs,
                                 const file_request& wanted) {
  if (!is_plain_name(wanted.run))
    return fail(ec::invalid_argument,
                "\"{}\" is no id of a run: `graphmill runs` lists them",
                wanted.run);
  if (!wanted.file.empty() && !is_plain_name(wanted.file))
    return fail(ec::invalid_argument, "\"{}\" of run \"{}\" is no file name",
                wanted.file, wanted.run);
  const auto folder = runs / wanted.run;
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return fail(ec::not_found,
                "the coordinator has no folder of run \"{}\": it has been "
                "removed, or there never was such a run",
                wanted.run);
  file_reply out;
  if (wanted.file.empty()) {
    for (fs::directory_iterator entry{folder, failed}, end;
         !failed && entry != end; entry.increment(failed)) {
      std::error_code unknown; // Of that file alone.
      if (fs::is_regular_file(entry->symlink_status(unknown)))
        out.files.push_back(entry->path().filename().string());
    }
    if (failed)
      return fail_errno(failed.value(), "cannot list the files of run \"{}\"",
                        wanted.run);
    std::sort(out.files.begin(), out.files.end());
    return out;
  }
  // No link: it might lead to a file that is no part of the run.
  const auto path = folder / wanted.file;
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
  const auto size = file ? file_size(file.value().get(), path)
                         : result<std::size_t>{file.error()};
  if (!size)
    return fail(ec::not_found, "run \"{}\" has no file \"{}\"", wanted.run,
                wanted.file);
  out.size = size.value();
  if (wanted.offset >= out.size)
    return out;
  const auto most = wanted.most == 0 ? piece_bytes : wanted.most;
  out.bytes.resize(std::min({piece_bytes, most, out.size - wanted.offset}));
  ::lseek(file.value().get(), static_cast<off_t>(wanted.offset), SEEK_SET);
  // Who asks misses what cannot be read, by the size.
  const auto got = read_some(file.value().get(), out.bytes, path);
  out.bytes.resize(got ? got.value() : 0);
  return out;
}

} // namespace graphmill
