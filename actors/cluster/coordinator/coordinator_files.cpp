#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/coordinator/members/coordinator_limits.hpp"
#include "actors/transport/sessions/address.hpp"

#include <memory>
#include <utility>

// Files of runs that clients fetch, and checkpoints that they upload.

namespace graphmill {

/// Whether the thread for files may get one more job; else the request is
/// answered.
bool coordinator::has_room_for_files(const responder& reply) {
  if (thread_.waiting() < coordinator_limits::file_requests)
    return true;
  reply.reply(fail(ec::unavailable,
                   "{} requests for files of runs wait at the coordinator "
                   "already: ask again",
                   coordinator_limits::file_requests));
  return false;
}

void coordinator::fetch_file(const payload& data, const responder& reply) {
  if (!has_room_for_files(reply))
    return;
  thread_.post(
    [runs = config_.runs, data, reply] { reply.reply(file(runs, data)); },
    [reply](const error& reason) { reply.reply(reason); });
}

result<payload> coordinator::file(const std::filesystem::path& runs,
                                  const payload& data) {
  GRAPHMILL_TRY(const auto wanted, decode_file_request(data));
  GRAPHMILL_TRY(const auto piece, read_run_file(runs, wanted));
  return encode(piece);
}

/// Answers when the piece is written.
void coordinator::upload(const incoming_request& request) {
  const auto& reply = request.reply;
  if (!has_room_for_files(reply))
    return;
  auto piece = decode_upload_request(request.data);
  if (!piece) {
    reply.reply(piece.error());
    return;
  }
  const auto folder =
    uploads_.take({request.from.incarnation, host_group(request.host)},
                  piece.value(), clock::now());
  if (!folder) {
    reply.reply(folder.error());
    return;
  }
  thread_.post(
    [folder = folder.value(), piece = std::move(piece).value(), reply] {
      if (const auto written = folder->write(piece); !written)
        reply.reply(written.error());
      else
        reply.reply(payload{});
    },
    [reply](const error& reason) { reply.reply(reason); });
}

/// Its files go on the thread for files, for that may take a while. Null: none.
void coordinator::drop(checkpoint_uploads::folder_ptr upload) {
  if (upload)
    thread_.post([gone = std::move(upload)]() mutable { gone.reset(); },
                 [](const error&) {});
}

void coordinator::drop_overdue_uploads(clock::time_point now) {
  for (auto& upload : uploads_.overdue(now))
    drop(std::move(upload));
}

} // namespace graphmill
