#pragma once

#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/runs/checkpoint_uploads.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace graphmill {

/// Files between clients and the folder of runs: those of runs, which clients
/// fetch, and checkpoints, which they upload. A thread reads and writes them.
/// Of the COORDINATOR's state, used in its handlers alone.
class file_service {
public:
  using clock = std::chrono::steady_clock;
  using folder_ptr = checkpoint_uploads::folder_ptr;

  /// @param runs The folder of runs. @param uploads Nobody else uses it.
  file_service(cluster_port& port, std::filesystem::path runs,
               std::filesystem::path uploads);

  /// Answers with a piece of a file.
  void fetch(const payload& request, const responder& reply);

  /// Answers when the piece of an upload is written.
  void upload(const incoming_request& request);

  /// What a client has uploaded, all of it, for the run that it submits.
  result<folder_ptr> finish(const std::string& incarnation) {
    return uploads_.finish(incarnation);
  }

  /// A client is gone: what it has uploaded is removed.
  void give_up(const std::string& incarnation) {
    drop(uploads_.give_up(incarnation));
  }

  /// Removes uploads that take too long.
  void look(clock::time_point now);

private:
  bool has_room(const responder& reply);
  void drop(folder_ptr upload);

  cluster_port& port_;
  std::filesystem::path runs_;
  checkpoint_uploads uploads_;
};

} // namespace graphmill
