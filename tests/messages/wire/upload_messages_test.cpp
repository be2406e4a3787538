#include "messages/wire/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("pieces of uploads are full, but for the last one",
                "[messages][cluster]") {
  const auto sent = [](std::uint64_t size, std::uint64_t offset,
                       std::size_t bytes) {
    return decode_upload_request(encode(
      upload_request{"f", size, offset, std::vector(bytes, std::byte{7})}));
  };
  constexpr auto piece = upload_piece_bytes;
  const auto got = value_of(sent(2 * piece + 5, piece, piece));
  CATCH_CHECK(got.file == "f");
  CATCH_CHECK(got.size == 2 * piece + 5);
  CATCH_CHECK(got.offset == piece);
  CATCH_CHECK(got.bytes == std::vector(piece, std::byte{7}));
  CATCH_CHECK(sent(2 * piece + 5, 2 * piece, 5));
  CATCH_CHECK(sent(piece, 0, piece));
  CATCH_CHECK(sent(0, 0, 0));
  CATCH_CHECK(error_of(sent(piece, 0, piece - 1)).code == ec::invalid_argument);
  CATCH_CHECK_FALSE(sent(piece + 1, 0, piece + 1));
  CATCH_CHECK_FALSE(sent(5, 0, 6));
  CATCH_CHECK_FALSE(sent(5, 6, 0));
  CATCH_CHECK_FALSE(sent(~std::uint64_t{0}, ~std::uint64_t{0}, 1));
}

CATCH_TEST_CASE("no byte of a file that goes on is not its end",
                "[messages][cluster]") {
  const file_request asked{"r", "metrics.jsonl", 7};
  const auto nothing_of = [](std::uint64_t size) {
    return encode(file_reply{{}, size, {}});
  };
  const auto refused = error_of(decode_file_reply(nothing_of(8), asked));
  CATCH_CHECK(refused.code == ec::invalid_data);
  CATCH_CHECK(refused.message
              == "the coordinator sent 7 bytes of metrics.jsonl, which has 8: "
                 "it cannot read on there");
  for (const auto size : {7, 6, 0}) // Or it was made shorter meanwhile.
    CATCH_CHECK(
      value_of(decode_file_reply(nothing_of(size), asked)).bytes.empty());
  CATCH_CHECK(
    decode_file_reply(encode(file_reply{{}, 8, {std::byte{1}}}), asked));
}

CATCH_TEST_CASE("a run goes on with a run or with an upload",
                "[messages][cluster]") {
  definition def;
  def.dataset = "d";
  resume_request wanted{.with_changes = true, .uploaded = true};
  const auto got = value_of(decode_resumption(encode_resumption(def, wanted)));
  CATCH_CHECK(got.uploaded);
  CATCH_CHECK(got.with_changes);
  CATCH_CHECK(got.run.empty());
  wanted.run = "r";
  CATCH_CHECK(error_of(decode_resumption(encode_resumption(def, wanted))).code
              == ec::invalid_argument);
  wanted.uploaded = false;
  CATCH_CHECK(value_of(decode_resumption(encode_resumption(def, wanted))).run
              == "r");
}
