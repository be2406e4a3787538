#include "actors/cluster/coordinator/records/file_service.hpp"

#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/transport/sessions/address.hpp"

#include <utility>

namespace graphmill {

namespace {

constexpr auto files = cluster_port::lane::files;

} // namespace

file_service::file_service(cluster_port& port, std::filesystem::path runs,
                           std::filesystem::path uploads)
  : port_(port), runs_(std::move(runs)), uploads_(std::move(uploads)) {
  // nop
}

/// Whether the thread for files may get one more job; else the request is
/// answered.
bool file_service::has_room(const responder& reply) {
  if (port_.waiting(files) < coordinator_limits::file_requests)
    return true;
  reply.reply(fail(ec::unavailable,
                   "{} requests for files of runs wait at the coordinator "
                   "already: ask again",
                   coordinator_limits::file_requests));
  return false;
}

void file_service::fetch(const payload& request, const responder& reply) {
  if (!has_room(reply))
    return;
  const auto piece = [runs = runs_, request]() -> result<payload> {
    GRAPHMILL_TRY(const auto wanted, decode_file_request(request));
    GRAPHMILL_TRY(const auto read, read_run_file(runs, wanted));
    return encode(read);
  };
  port_.post(
    files, [piece, reply] { reply.reply(piece()); },
    [reply](const error& reason) { reply.reply(reason); });
}

void file_service::upload(const incoming_request& request) {
  const auto& reply = request.reply;
  if (!has_room(reply))
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
  port_.post(
    files,
    [folder = folder.value(), piece = std::move(piece).value(), reply] {
      if (const auto written = folder->write(piece); !written)
        reply.reply(written.error());
      else
        reply.reply(payload{});
    },
    [reply](const error& reason) { reply.reply(reason); });
}

/// The thread for files removes it, which may take a while. Null: none.
void file_service::drop(folder_ptr upload) {
  if (upload)
    port_.post(
      files, [gone = std::move(upload)]() mutable { gone.reset(); },
      [](const error&) {});
}

void file_service::look(clock::time_point now) {
  for (auto& upload : uploads_.overdue(now))
    drop(std::move(upload));
}

} // namespace graphmill
