#pragma once

#include "messages/wire/cluster.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// The folder with what a client has uploaded of a checkpoint. It goes with its
/// last owner, who lets it go on a thread that may wait for the disk, as all of
/// its functions do. One thread at a time.
class upload_folder {
public:
  explicit upload_folder(std::filesystem::path path) : path_(std::move(path)) {}
  ~upload_folder();
  upload_folder(const upload_folder&) = delete;
  upload_folder& operator=(const upload_folder&) = delete;

  /// Puts a piece behind what is there.
  result<void> write(const upload_request& piece) const;

  /// What the weights that were uploaded have learnt, if that is said.
  result<std::optional<learnt_from>> learnt() const;

  /// What has been uploaded, which is trusted as little as any checkpoint.
  /// @param values That its tensors may have together, at the most: they are
  /// read into memory.
  result<checkpoint> read(std::uint64_t values) const;

  const std::filesystem::path& path() const { return path_; }

private:
  error refused(const error& reason) const;

  std::filesystem::path path_;
};

/// Which checkpoints clients are uploading, and how far they are: who may send
/// what next, and when one is given up. Each client, which is an incarnation,
/// sends one. What is taken here is written elsewhere; should that fail, the
/// digests of the checkpoint tell. Pure but for its folder, which goes when it
/// does: the COORDINATOR tells it what happens and when.
class checkpoint_uploads {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using folder_ptr = std::shared_ptr<const upload_folder>;

  struct sender {
    std::string incarnation;
    std::string home; ///< What counts as its host.
  };

  /// @param folder Nobody else uses it. It is made when the first piece is
  /// written.
  explicit checkpoint_uploads(std::filesystem::path folder)
    : folder_(std::move(folder)) {}
  ~checkpoint_uploads();
  checkpoint_uploads(const checkpoint_uploads&) = delete;
  checkpoint_uploads& operator=(const checkpoint_uploads&) = delete;

  /// Takes the next piece of a client's upload, of which the first one begins
  /// it. Fails if it is not the next one, or more than there is room for.
  /// @returns where it is to be written.
  result<folder_ptr> take(const sender& from, const upload_request& piece,
                          time_point now);

  /// What a client has uploaded, all of it; it is not among these any more.
  result<folder_ptr> finish(const std::string& incarnation);

  /// A client is gone. @returns what it had uploaded; null: nothing.
  folder_ptr give_up(const std::string& incarnation);

  /// What has waited for a piece for too long, or comes too slowly on the
  /// whole; it is not among these any more.
  std::vector<folder_ptr> overdue(time_point now);

private:
  struct file {
    std::uint64_t size = 0; ///< That it is to have.
    std::uint64_t received = 0;
  };
  struct upload {
    std::string home;
    std::map<std::string, file> files; ///< By name.
    folder_ptr folder;
    time_point begun;
    time_point until; ///< It is given up then, unless more comes.
  };

  result<void> check_place(const sender& from) const;
  result<void> check_size(const sender& from,
                          const upload_request& piece) const;
  static std::uint64_t bytes_of(const upload& one);
  static const char* missing_of(const upload& one);
  static time_point end_of_patience(const upload& one, time_point now);

  std::filesystem::path folder_;
  std::uint64_t begun_ = 0; ///< Uploads, so far: names of folders.
  std::map<std::string, upload> uploads_; ///< By incarnation.
};

/// Where a coordinator keeps uploads, below its folder of runs. Removes what
/// coordinators before it have left there; what cannot be removed is an error.
/// @param generation Of the coordinator: one before it that has only been
/// frozen keeps to a folder of its own.
result<void> clear_uploads(const std::filesystem::path& runs);
std::filesystem::path uploads_in(const std::filesystem::path& runs,
                                 std::uint64_t generation);

} // namespace graphmill
