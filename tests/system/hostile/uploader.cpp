// A client that uploads a checkpoint which it has not looked at, to a
// coordinator without a key.
//   uploader submit ADDRESS FOLDER DEFINITION  what `state` and `tensors` in
//   the
//                                              folder hold, with the digests
//                                              that they should have, and has a
//                                              run go on with it
//   uploader hold ADDRESS BYTES                begins an upload of that many
//                                              bytes, and sends no more, until
//                                              its standard input is closed
// Says "taken", or what it was refused for, which ends it.

#include "actors/cluster/client/client.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/file_io.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace graphmill;

/// In a state, where the digest of the tensors belongs.
constexpr std::string_view tensors_mark = "DIGEST OF TENSORS";

std::string hash_of(std::string_view text) {
  content_hash hash;
  hash.update(text);
  return hash.digest();
}

result<void> send_all(cluster_client& client, const std::string& file,
                      std::string_view content) {
  upload_request piece;
  piece.file = file;
  piece.size = content.size();
  do {
    const auto next = content.substr(piece.offset, upload_piece_bytes);
    piece.bytes.resize(next.size());
    std::memcpy(piece.bytes.data(), next.data(), next.size());
    GRAPHMILL_TRYV(client.upload(piece));
    piece.offset += next.size();
  } while (piece.offset < content.size());
  return ok();
}

result<void> submit(cluster_client& client, const std::filesystem::path& from,
                    const std::string& definition) {
  constexpr auto most = std::size_t{1} << 30;
  GRAPHMILL_TRY(const auto source, load_definition(definition, {}));
  GRAPHMILL_TRY(const auto tensors, read_text(from / "tensors", most));
  GRAPHMILL_TRY(auto state, read_text(from / "state", most));
  const auto at = state.find(tensors_mark);
  if (at == std::string::npos)
    return fail(ec::invalid_argument, "the state has no place for a digest");
  state.replace(at, tensors_mark.size(), hash_of(tensors));
  const auto whole =
    R"({"digest":")" + hash_of(state) + R"(","state":)" + state + "}\n";
  GRAPHMILL_TRYV(send_all(client, "state.json", whole));
  GRAPHMILL_TRYV(send_all(client, "tensors.safetensors", tensors));
  resume_request wanted;
  wanted.uploaded = true;
  wanted.with_changes = true;
  GRAPHMILL_TRYV(client.resume(source.value, wanted));
  return ok();
}

result<void> begin_upload(cluster_client& client, std::uint64_t size) {
  upload_request piece;
  piece.file = "tensors.safetensors";
  piece.size = size;
  piece.bytes.resize(std::min<std::uint64_t>(size, upload_piece_bytes));
  return client.upload(piece);
}

} // namespace

int main(int count, char** texts) {
  const std::vector<std::string> given(texts + 1, texts + count);
  const auto holds = given.size() == 3 && given[0] == "hold";
  if (!holds && !(given.size() == 4 && given[0] == "submit")) {
    std::cerr << "usage: uploader submit ADDRESS FOLDER DEFINITION | hold "
                 "ADDRESS BYTES\n";
    return 2;
  }
  auto made = cluster_client::make(
    {.command = "uploader", .address = given[1], .insecure = true});
  if (!made) {
    std::cerr << made.error().message << '\n';
    return 1;
  }
  auto client = std::move(made).value();
  const auto done =
    holds ? begin_upload(client, std::strtoull(given[2].c_str(), nullptr, 10))
          : submit(client, given[2], given[3]);
  std::cout << (done ? "taken" : done.error().message) << std::endl;
  while (holds && done && std::getchar() != EOF)
    continue;
  return 0;
}
