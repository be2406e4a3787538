#include "actors/cluster/client/upload_files.hpp"

#include "partition/files/file_io.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <fcntl.h>

#include <algorithm>

namespace graphmill {

namespace fs = std::filesystem;

namespace {

/// Sends a file. @returns its size.
/// @param before, total Bytes of the files before it, and of all.
result<std::uint64_t> upload_one(cluster_client& client, const fs::path& path,
                                 std::uint64_t before, std::uint64_t total,
                                 const progress_callback& tell) {
  GRAPHMILL_TRY(const auto file, open_file(path, O_RDONLY));
  upload_request piece;
  piece.file = path.filename().string();
  GRAPHMILL_TRY(piece.size, file_size(file.get(), path));
  do {
    piece.bytes.resize(
      std::min<std::uint64_t>(upload_piece_bytes, piece.size - piece.offset));
    GRAPHMILL_TRYV(read_at(file.get(), piece.bytes, piece.offset, path));
    GRAPHMILL_TRYV(client.upload(piece));
    piece.offset += piece.bytes.size();
    if (tell)
      tell({"upload", before + piece.offset, total});
  } while (piece.offset < piece.size);
  return piece.size;
}

result<std::uint64_t> bytes_in_file(const fs::path& path) {
  GRAPHMILL_TRY(const auto file, open_file(path, O_RDONLY));
  GRAPHMILL_TRY(const auto size, file_size(file.get(), path));
  return std::uint64_t{size};
}

} // namespace

result<void> upload_files(cluster_client& client,
                          const std::vector<fs::path>& files,
                          const progress_callback& tell) {
  std::uint64_t total = 0;
  for (const auto& file : files) {
    GRAPHMILL_TRY(const auto size, bytes_in_file(file));
    total += size;
  }
  std::uint64_t sent = 0;
  for (const auto& file : files) {
    GRAPHMILL_TRY(const auto size, upload_one(client, file, sent, total, tell));
    sent += size;
  }
  return ok();
}

result<void> upload_checkpoint(cluster_client& client, const fs::path& folder,
                               const progress_callback& tell) {
  // The small one first: so it is known soon if nothing is taken.
  return upload_files(
    client, {folder / checkpoint_state_file, folder / checkpoint_tensors_file},
    tell);
}

} // namespace graphmill
