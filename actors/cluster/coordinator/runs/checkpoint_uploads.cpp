#include "actors/cluster/coordinator/runs/checkpoint_uploads.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/results/checkpoint_state.hpp"

#include <fcntl.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Hidden, so that it is no run.
fs::path all_uploads_in(const fs::path& runs) {
  return runs / ".uploads";
}

/// How large a file of a checkpoint may be; 0: it has no file of that name.
std::uint64_t largest_upload(const std::string& file) {
  if (file == checkpoint_state_file)
    return coordinator_limits::upload_state_bytes;
  if (file == checkpoint_tensors_file)
    return coordinator_limits::upload_tensor_bytes;
  return 0;
}

/// What names and shapes of tensors may take besides their values.
constexpr std::uint64_t tensor_names_bytes = std::uint64_t{16} << 20;

/// A sentence for a client, whom the paths of this machine do not concern.
/// @param folder With one of its files, or as one of the folders around it.
std::string without_paths(std::string sentence, const fs::path& folder) {
  const auto own = folder.parent_path();
  for (const auto& each : {folder, own, own.parent_path()}) {
    const auto path = each.string();
    if (const auto at = sentence.find(path); at != std::string::npos) {
      const auto end = at + path.size();
      const auto has_more = end < sentence.size() && sentence[end] == '/';
      sentence.replace(at, path.size() + (has_more ? 1 : 0),
                       has_more ? "" : "it");
    }
  }
  return sentence;
}

} // namespace

upload_folder::~upload_folder() {
  std::error_code ignored; // It is cleared when a coordinator starts.
  fs::remove_all(path_, ignored);
}

result<void> upload_folder::write(const upload_request& piece) const {
  const auto write_piece = [&]() -> result<void> {
    if (piece.offset == 0) {
      // All uploads, those of this coordinator, and this one.
      const auto own = path_.parent_path();
      for (const auto& folder : {own.parent_path(), own, path_})
        GRAPHMILL_TRYV(make_private_folder(folder));
    }
    const auto file = path_ / piece.file;
    const auto how = O_WRONLY | O_APPEND | O_NOFOLLOW;
    GRAPHMILL_TRY(const auto out,
                  open_file(file,
                            piece.offset == 0 ? how | O_CREAT | O_EXCL : how,
                            file_access::owner));
    return write_all(out.get(), piece.bytes, file);
  };
  auto written = write_piece();
  if (!written)
    return fail(written.error().code,
                "the coordinator cannot keep what is uploaded: {}",
                without_paths(written.error().message, path_));
  return written;
}

error upload_folder::refused(const error& reason) const {
  return fail(reason.code, "the checkpoint that was uploaded is refused: {}",
              without_paths(reason.message, path_));
}

result<std::optional<learnt_from>> upload_folder::learnt() const {
  auto read = read_checkpoint_state(path_);
  if (!read)
    return refused(read.error());
  return std::move(read).value().content.learnt;
}

result<checkpoint> upload_folder::read(std::uint64_t values) const {
  std::error_code unknown; // That it is not there is told below.
  const auto bytes = fs::file_size(path_ / checkpoint_tensors_file, unknown);
  if (!unknown && bytes > tensor_names_bytes + values * sizeof(float))
    return fail(ec::invalid_argument,
                "the checkpoint that was uploaded is refused: its tensors have "
                "{} bytes, and the weights and moments of its model {}",
                bytes, values * sizeof(float));
  auto read = read_checkpoint(path_);
  if (!read)
    return refused(read.error());
  return read;
}

checkpoint_uploads::~checkpoint_uploads() {
  uploads_.clear();
  std::error_code ignored; // As above.
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored); // Unless others use it.
}

std::uint64_t checkpoint_uploads::bytes_of(const upload& one) {
  std::uint64_t sum = 0;
  for (const auto& [name, file] : one.files)
    sum += file.size;
  return sum;
}

/// A file that has not come, or not all of it; null if all is there.
const char* checkpoint_uploads::missing_of(const upload& one) {
  for (const auto* name : {checkpoint_state_file, checkpoint_tensors_file}) {
    const auto file = one.files.find(name);
    if (file == one.files.end() || file->second.received != file->second.size)
      return name;
  }
  return nullptr;
}

/// Until when the next piece must have come: soon, and not much later than at
/// the least rate. What is there waits for its run.
checkpoint_uploads::time_point
checkpoint_uploads::end_of_patience(const upload& one, time_point now) {
  if (missing_of(one) == nullptr)
    return now + timeouts::upload_piece;
  std::uint64_t received = 0;
  for (const auto& [name, file] : one.files)
    received += file.received;
  const std::chrono::seconds worth{received / coordinator_limits::upload_rate};
  return std::min(now, one.begun + worth) + timeouts::upload_piece;
}

/// Whether one more client may begin.
result<void> checkpoint_uploads::check_place(const sender& from) const {
  const auto of_host = static_cast<std::size_t>(
    std::ranges::count_if(uploads_, [&from](const auto& other) {
      return other.second.home == from.home;
    }));
  if (uploads_.size() < coordinator_limits::uploads
      && of_host < coordinator_limits::uploads_of_host)
    return ok();
  return fail(ec::unavailable,
              "{} checkpoints are being uploaded already, {} of them from your "
              "host: try again when one of them is done",
              uploads_.size(), of_host);
}

/// Whether there is room for a file that begins.
result<void> checkpoint_uploads::check_size(const sender& from,
                                            const upload_request& piece) const {
  const auto most = largest_upload(piece.file);
  if (most == 0)
    return fail(ec::invalid_argument, "a checkpoint has no file \"{}\"",
                piece.file);
  if (piece.size > most)
    return fail(ec::invalid_argument,
                "{} of the checkpoint has {} bytes, but a coordinator takes no "
                "more than {} of it: copy it into the `checkpoints` of a run "
                "folder there",
                piece.file, piece.size, most);
  std::uint64_t of_client = piece.size;
  std::uint64_t of_host = piece.size;
  std::uint64_t of_all = piece.size;
  for (const auto& [incarnation, other] : uploads_) {
    of_all += bytes_of(other);
    if (other.home == from.home)
      of_host += bytes_of(other);
    if (incarnation == from.incarnation)
      of_client += bytes_of(other);
  }
  if (of_client > coordinator_limits::upload_client_bytes)
    return fail(ec::invalid_argument,
                "the files of the checkpoint have {} bytes, but a coordinator "
                "takes no more than {}: copy it into the `checkpoints` of a "
                "run folder there",
                of_client, coordinator_limits::upload_client_bytes);
  if (of_host > coordinator_limits::upload_host_bytes)
    return fail(ec::unavailable,
                "others are uploading checkpoints from your host, and all of a "
                "host may have {} bytes: try again when one of them is done",
                coordinator_limits::upload_host_bytes);
  if (of_all > coordinator_limits::upload_bytes)
    return fail(ec::unavailable,
                "others are uploading checkpoints, and all together may have "
                "{} bytes: try again when one of them is done",
                coordinator_limits::upload_bytes);
  return ok();
}

result<checkpoint_uploads::folder_ptr>
checkpoint_uploads::take(const sender& from, const upload_request& piece,
                         time_point now) {
  auto known = uploads_.find(from.incarnation);
  const auto begins = piece.offset == 0;
  if (known == uploads_.end() && !begins)
    return fail(ec::not_found,
                "the coordinator has nothing of this upload: it waits for {} s "
                "for the next piece, and for {} bytes a second on the whole, "
                "and may have been started anew; try again",
                timeouts::upload_piece.count() / 1000,
                coordinator_limits::upload_rate);
  if (known == uploads_.end())
    GRAPHMILL_TRYV(check_place(from));
  if (begins) {
    if (known != uploads_.end() && known->second.files.contains(piece.file))
      return fail(ec::invalid_argument, "{} has been uploaded before",
                  piece.file);
    GRAPHMILL_TRYV(check_size(from, piece));
    if (known == uploads_.end()) {
      upload made;
      made.home = from.home;
      made.begun = now;
      made.folder =
        std::make_shared<upload_folder>(folder_ / std::to_string(++begun_));
      known = uploads_.emplace(from.incarnation, std::move(made)).first;
    }
    known->second.files[piece.file].size = piece.size;
  }
  auto& whole = known->second;
  const auto file = whole.files.find(piece.file);
  if (file == whole.files.end() || file->second.size != piece.size
      || file->second.received != piece.offset
      || (!begins && piece.bytes.empty()))
    return fail(ec::invalid_argument,
                "{} bytes at {} of {}, of {} in all, are not what comes next "
                "of this upload",
                piece.bytes.size(), piece.offset, piece.file, piece.size);
  file->second.received += piece.bytes.size();
  whole.until = end_of_patience(whole, now);
  return whole.folder;
}

result<checkpoint_uploads::folder_ptr>
checkpoint_uploads::finish(const std::string& incarnation) {
  const auto known = uploads_.find(incarnation);
  if (known == uploads_.end())
    return fail(ec::not_found,
                "the coordinator has no checkpoint of this client: it keeps "
                "one for {} s, and may have been started anew; upload it again",
                timeouts::upload_piece.count() / 1000);
  if (const auto* missing = missing_of(known->second))
    return fail(ec::invalid_argument,
                "{} of the checkpoint has not been uploaded, or not all of it",
                missing);
  return give_up(incarnation);
}

checkpoint_uploads::folder_ptr
checkpoint_uploads::give_up(const std::string& incarnation) {
  const auto known = uploads_.find(incarnation);
  if (known == uploads_.end())
    return nullptr;
  auto folder = std::move(known->second.folder);
  uploads_.erase(known);
  return folder;
}

std::vector<checkpoint_uploads::folder_ptr>
checkpoint_uploads::overdue(time_point now) {
  std::vector<folder_ptr> out;
  for (auto at = uploads_.begin(); at != uploads_.end();) {
    if (now < at->second.until) {
      ++at;
      continue;
    }
    out.push_back(std::move(at->second.folder));
    at = uploads_.erase(at);
  }
  return out;
}

result<void> clear_uploads(const fs::path& runs) {
  std::error_code failed;
  fs::remove_all(all_uploads_in(runs), failed);
  if (failed)
    return fail_errno(failed.value(), "cannot remove {}",
                      all_uploads_in(runs).string());
  return ok();
}

fs::path uploads_in(const fs::path& runs, std::uint64_t generation) {
  return all_uploads_in(runs) / std::to_string(generation);
}

} // namespace graphmill
