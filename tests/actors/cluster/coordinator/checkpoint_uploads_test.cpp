#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/coordinator/runs/checkpoint_uploads.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

const checkpoint_uploads::time_point start_of_uploads{1h};

/// The first piece of a file of a checkpoint, which is all of a small one.
upload_request first_piece(const std::string& file, std::uint64_t size) {
  upload_request out{file, size, 0, {}};
  out.bytes.resize(std::min<std::uint64_t>(size, upload_piece_bytes),
                   std::byte{1});
  return out;
}

checkpoint_uploads::sender uploader(int number, const std::string& home = "h") {
  return {std::to_string(number), home};
}

ec code_of_take(checkpoint_uploads& uploads, int number,
                const upload_request& piece, const std::string& home = "h") {
  return error_of(uploads.take(uploader(number, home), piece, start_of_uploads))
    .code;
}

} // namespace

CATCH_TEST_CASE("an upload is one when all of it is there", "[cluster]") {
  temp_folder top;
  checkpoint_uploads uploads{top / "u" / "1"};
  const auto state = first_piece("state.json", 5);
  auto tensors = first_piece("tensors.safetensors", upload_piece_bytes + 2);
  CATCH_CHECK(error_of(uploads.finish("1")).code == ec::not_found);
  const auto folder =
    value_of(uploads.take(uploader(1), state, start_of_uploads));
  CATCH_CHECK(error_of(uploads.finish("1")).code == ec::invalid_argument);
  CATCH_CHECK(value_of(uploads.take(uploader(1), tensors, start_of_uploads))
              == folder);
  CATCH_CHECK(error_of(uploads.finish("1")).code == ec::invalid_argument);
  // Nothing twice, nothing between.
  CATCH_CHECK(code_of_take(uploads, 1, tensors) == ec::invalid_argument);
  CATCH_CHECK(code_of_take(uploads, 1, state) == ec::invalid_argument);
  tensors.offset = 2 * upload_piece_bytes;
  CATCH_CHECK(code_of_take(uploads, 1, tensors) == ec::invalid_argument);
  tensors.offset = upload_piece_bytes;
  tensors.bytes.resize(2);
  tensors.size = upload_piece_bytes + 3;
  CATCH_CHECK(code_of_take(uploads, 1, tensors) == ec::invalid_argument);
  tensors.size = upload_piece_bytes + 2;
  // It is of one client.
  CATCH_CHECK(code_of_take(uploads, 2, tensors) == ec::not_found);
  value_of(uploads.take(uploader(1), tensors, start_of_uploads));
  CATCH_CHECK(error_of(uploads.finish("2")).code == ec::not_found);
  CATCH_CHECK(value_of(uploads.finish("1")) == folder);
  CATCH_CHECK(error_of(uploads.finish("1")).code == ec::not_found);
}

CATCH_TEST_CASE("an end of a file may not be sent for ever", "[cluster]") {
  checkpoint_uploads uploads{"nowhere/1"};
  value_of(
    uploads.take(uploader(1), first_piece("state.json", 5), start_of_uploads));
  const upload_request nothing{"state.json", 5, 5, {}};
  CATCH_CHECK(code_of_take(uploads, 1, nothing) == ec::invalid_argument);
}

CATCH_TEST_CASE("uploads are bounded by file, by client and in all",
                "[cluster]") {
  namespace limits = coordinator_limits;
  checkpoint_uploads uploads{"nowhere/1"};
  const std::string state{"state.json"};
  const std::string tensors{"tensors.safetensors"};
  for (const auto* name : {"", "..", "../x", "weights.safetensors"})
    CATCH_CHECK(code_of_take(uploads, 1, first_piece(name, 1))
                == ec::invalid_argument);
  CATCH_CHECK(
    code_of_take(uploads, 1, first_piece(state, limits::upload_state_bytes + 1))
    == ec::invalid_argument);
  const auto large = error_of(uploads.take(
    uploader(1), first_piece(tensors, limits::upload_tensor_bytes + 1),
    start_of_uploads));
  CATCH_CHECK(large.code == ec::invalid_argument);
  CATCH_CHECK(large.message.find("takes no more than 8589934592")
              != std::string::npos);
  // What was refused holds no place: two hosts fill all there is, each a half,
  // with one client or two.
  value_of(uploads.take(uploader(1),
                        first_piece(tensors, limits::upload_tensor_bytes),
                        start_of_uploads));
  CATCH_CHECK(code_of_take(uploads, 1, first_piece(state, 1))
              == ec::invalid_argument);
  CATCH_CHECK(
    error_of(uploads.take(uploader(2), first_piece(state, 1), start_of_uploads))
      .message
    == "others are uploading checkpoints from your host, and all of a host may "
       "have 8589934592 bytes: try again when one of them is done");
  for (const int number : {3, 4})
    value_of(uploads.take(uploader(number, "other"),
                          first_piece(tensors, limits::upload_tensor_bytes / 2),
                          start_of_uploads));
  CATCH_CHECK(code_of_take(uploads, 3, first_piece(state, 1), "other")
              == ec::unavailable);
  CATCH_CHECK(code_of_take(uploads, 5, first_piece(state, 1), "third")
              == ec::unavailable);
  CATCH_CHECK(uploads.give_up("1") != nullptr);
  value_of(uploads.take(uploader(2), first_piece(state, 1), start_of_uploads));
  value_of(uploads.take(uploader(5, "third"),
                        first_piece(tensors, limits::upload_tensor_bytes - 1),
                        start_of_uploads));
}

CATCH_TEST_CASE("uploads have few places, and fewer for a host", "[cluster]") {
  checkpoint_uploads uploads{"nowhere/1"};
  const auto state = first_piece("state.json", 1);
  for (int number = 1; number <= 3; ++number)
    value_of(uploads.take(uploader(number), state, start_of_uploads));
  CATCH_CHECK(code_of_take(uploads, 4, state) == ec::unavailable);
  value_of(uploads.take(uploader(4, "other"), state, start_of_uploads));
  CATCH_CHECK(code_of_take(uploads, 5, state, "third") == ec::unavailable);
  CATCH_CHECK(uploads.give_up("2") != nullptr);
  CATCH_CHECK(uploads.give_up("2") == nullptr);
  value_of(uploads.take(uploader(5, "third"), state, start_of_uploads));
}

CATCH_TEST_CASE("an upload without a piece for a minute is given up",
                "[cluster]") {
  checkpoint_uploads uploads{"nowhere/1"};
  const auto state = first_piece("state.json", 1);
  const auto later = start_of_uploads + 59s;
  const auto first =
    value_of(uploads.take(uploader(1), state, start_of_uploads));
  value_of(uploads.take(uploader(2), state, start_of_uploads));
  value_of(
    uploads.take(uploader(2), first_piece("tensors.safetensors", 1), later));
  CATCH_CHECK(uploads.overdue(later).empty());
  const auto late = uploads.overdue(start_of_uploads + 60s);
  CATCH_REQUIRE(late.size() == 1);
  CATCH_CHECK(late[0] == first);
  CATCH_CHECK(
    code_of_take(uploads, 1,
                 {"state.json", 2 * upload_piece_bytes, upload_piece_bytes, {}})
    == ec::not_found);
  CATCH_CHECK(uploads.finish("2"));
}

CATCH_TEST_CASE("an upload that trickles is given up", "[cluster]") {
  // A piece of 4 MiB every 5 s, where 1 MiB a second is the least.
  checkpoint_uploads uploads{"nowhere/1"};
  auto piece = first_piece("tensors.safetensors", std::uint64_t{1} << 30);
  auto now = start_of_uploads;
  value_of(uploads.take(uploader(1), piece, now));
  // It may take 60 s, and 4 s for each of the n + 1 pieces after 5 n s.
  for (int n = 1; n <= 59; ++n) {
    now = start_of_uploads + n * 5s;
    CATCH_CHECK(uploads.overdue(now - 1ms).empty());
    piece.offset += upload_piece_bytes;
    CATCH_REQUIRE(uploads.take(uploader(1), piece, now));
  }
  now = start_of_uploads + 60s + 60 * 4s;
  CATCH_CHECK(uploads.overdue(now - 1ms).empty());
  CATCH_CHECK(uploads.overdue(now).size() == 1);
  piece.offset += upload_piece_bytes;
  CATCH_CHECK(code_of_take(uploads, 1, piece) == ec::not_found);
  // One that comes faster has a minute for each piece, and no more.
  piece.offset = 0;
  value_of(uploads.take(uploader(2), piece, now));
  piece.offset = upload_piece_bytes;
  value_of(uploads.take(uploader(2), piece, now + 1s));
  CATCH_CHECK(uploads.overdue(now + 61s - 1ms).empty());
  CATCH_CHECK(uploads.overdue(now + 61s).size() == 1);
}

CATCH_TEST_CASE("a refusal of an upload has no path of the coordinator",
                "[cluster]") {
  temp_folder top;
  checkpoint_uploads uploads{uploads_in(top.path(), 7)};
  const auto tensors = first_piece("tensors.safetensors", 4);
  const auto piece = first_piece("state.json", 4);
  const auto folder =
    value_of(uploads.take(uploader(1), tensors, start_of_uploads));
  value_of(folder->write(tensors));
  CATCH_CHECK(error_of(folder->read(0)).message
              == "the checkpoint that was uploaded is refused: it is no "
                 "checkpoint: it has no state.json");
  value_of(folder->write(piece));
  CATCH_CHECK(error_of(folder->read(0)).message
              == "the checkpoint that was uploaded is refused: state.json is "
                 "damaged, or was cut short");
  const auto refused = error_of(folder->write(piece)); // It is there already.
  CATCH_CHECK(refused.message.find(top.path().string()) == std::string::npos);
  CATCH_CHECK(refused.message.find("state.json") != std::string::npos);
}

CATCH_TEST_CASE("what is uploaded lies in a private folder that goes",
                "[cluster]") {
  temp_folder top;
  const auto own = uploads_in(top.path(), 7);
  auto piece = first_piece("state.json", upload_piece_bytes + 1);
  {
    checkpoint_uploads uploads{own};
    auto folder = value_of(uploads.take(uploader(1), piece, start_of_uploads));
    value_of(folder->write(piece));
    piece.offset = upload_piece_bytes;
    piece.bytes.resize(1);
    value_of(folder->write(piece));
    const auto file = folder->path() / "state.json";
    CATCH_CHECK(fs::file_size(file) == upload_piece_bytes + 1);
    CATCH_CHECK(fs::status(file).permissions()
                == (fs::perms::owner_read | fs::perms::owner_write));
    for (const auto& around : {folder->path(), own, own.parent_path()})
      CATCH_CHECK(fs::status(around).permissions() == fs::perms::owner_all);
    const auto refused = error_of(folder->read(0));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message.find("that was uploaded is refused")
                != std::string::npos);
    // Nothing that is too large for its model is read into memory.
    const auto tensors = folder->path() / "tensors.safetensors";
    std::ofstream{tensors}.close();
    constexpr auto names = std::uintmax_t{16} << 20;
    fs::resize_file(tensors, names + 40);
    CATCH_CHECK(error_of(folder->read(9)).code == ec::invalid_argument);
    CATCH_CHECK(error_of(folder->read(10)).code == ec::invalid_data);
    folder.reset();
    uploads.give_up("1");
    CATCH_CHECK(fs::is_empty(own));
    piece = first_piece("state.json", 1);
    folder = value_of(uploads.take(uploader(2), piece, start_of_uploads));
    value_of(folder->write(piece));
    folder.reset();
    CATCH_CHECK_FALSE(fs::is_empty(own));
  }
  CATCH_CHECK(fs::is_empty(top.path()));
  // Of a coordinator that was killed.
  fs::create_directories(own / "1");
  value_of(clear_uploads(top.path()));
  CATCH_CHECK(fs::is_empty(top.path()));
  value_of(clear_uploads(top.path()));
}
