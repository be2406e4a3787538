#include "messages/base/random.hpp"
#include "partition/files/block_tree.hpp"
#include "tests/support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;

namespace {

/// Byte i is i modulo 251.
std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::byte>(i % 251));
  return out;
}

std::span<const std::byte> block_in(std::span<const std::byte> elements,
                                    const block_layout& layout,
                                    std::int64_t block) {
  return elements.subspan(
    static_cast<std::size_t>(layout.first_row(block))
      * static_cast<std::size_t>(layout.row_bytes),
    static_cast<std::size_t>(layout.bytes_of(block)));
}

} // namespace

CATCH_TEST_CASE("blocks have whole rows", "[partition][files]") {
  const block_layout five{5, 2000};
  CATCH_CHECK(five.rows_per_block() == 2);
  CATCH_CHECK(five.blocks() == 3);
  CATCH_CHECK(five.block_of(3) == 1);
  CATCH_CHECK(five.first_row(2) == 4);
  CATCH_CHECK(five.bytes_of(1) == 4000);
  CATCH_CHECK(five.bytes_of(2) == 2000);
  const block_layout wide{3, 5000};
  CATCH_CHECK(wide.rows_per_block() == 1);
  CATCH_CHECK(wide.blocks() == 3);
  CATCH_CHECK(wide.bytes_of(2) == 5000);
  CATCH_CHECK((block_layout{0, 8}.blocks()) == 0);
  CATCH_CHECK((block_layout{512, 8}.blocks()) == 1);
  CATCH_CHECK((block_layout{513, 8}.blocks()) == 2);
}

CATCH_TEST_CASE("digests of blocks are those that others compute",
                "[partition][files]") {
  // By Python's hashlib.blake2b with digest_size=32: of a byte 0 and a block, of
  // a byte 1 and two digests.
  const auto tree = tree_over(counted(10'000), {5, 2000});
  CATCH_REQUIRE(tree.size() == 6);
  CATCH_CHECK(to_string(tree[0]) 
              == "cf3b93249fa63bd88f562e08534c4340"
                 "eda008f870921f1ef5ff5d941822e6d0");
  CATCH_CHECK(to_string(tree[2]) 
              == "f9d0aeabd3e83e8b43b43cbec1e06112"
                 "94f0becaee66c62facabc4472152b35f");
  CATCH_CHECK(tree[4] == tree[2]); // It has no sibling.
  CATCH_CHECK(to_string(tree[5]) 
              == "94921a659ac124b54c9fe03738e7d1a9"
                 "050a69851d945599fa289dbfb780d096");
  CATCH_CHECK(parse_block_digest(to_string(tree[5])) == tree[5]);
  CATCH_CHECK(tree_over({}, {0, 8}).empty());
}

CATCH_TEST_CASE("only the right digits are a digest", "[partition][files]") {
  const std::string good(64, 'a');
  CATCH_CHECK(parse_block_digest(good));
  for (const auto& bad :
       {std::string{}, std::string(63, 'a'), std::string(65, 'a'),
        std::string(63, 'a') + 'g', '-' + std::string(63, '1'),
        std::string(62, '0') + " 1", "0x" + std::string(62, '1')})
    CATCH_CHECK_FALSE(parse_block_digest(bad));
}

CATCH_TEST_CASE("every block is proved, and no other in its place",
                "[partition][files]") {
  for (std::int64_t blocks = 1; blocks <= 33; ++blocks) {
    CATCH_INFO(blocks << " blocks");
    const block_layout layout{2 * blocks - 1, 2048};
    CATCH_REQUIRE(layout.blocks() == blocks);
    const auto elements =
      counted(static_cast<std::size_t>(layout.rows) * 2048);
    const auto tree = tree_over(elements, layout);
    CATCH_REQUIRE(std::ssize(tree) == nodes_of_tree(blocks));
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::vector<block_digest> proof;
      append_proof(tree, blocks, block, proof);
      CATCH_REQUIRE(std::ssize(proof) == length_of_proof(blocks, block));
      const auto content = block_in(elements, layout, block);
      CATCH_REQUIRE(root_by(content, blocks, block, proof) == tree.back());
      for (std::int64_t other = 0; other < blocks; ++other)
        if (other != block)
          CATCH_REQUIRE(root_by(content, blocks, other, proof) != tree.back());
      proof.emplace_back();
      CATCH_REQUIRE_FALSE(root_by(content, blocks, block, proof));
    }
  }
}

CATCH_TEST_CASE("a flipped bit of a block or its proof is found",
                "[partition][files]") {
  const block_layout layout{23, 1500};
  const auto elements = counted(23 * 1500);
  const auto tree = tree_over(elements, layout);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CATCH_INFO("seed " << seed);
    random_stream draws{seed, 3};
    const auto block = static_cast<std::int64_t>(
      draws.below(static_cast<std::uint32_t>(layout.blocks())));
    const auto sound = block_in(elements, layout, block);
    std::vector<std::byte> content{sound.begin(), sound.end()};
    std::vector<block_digest> proof;
    append_proof(tree, layout.blocks(), block, proof);
    const auto bit = std::byte{1} << draws.below(8);
    if (seed % 2 == 0)
      content[draws.below(static_cast<std::uint32_t>(content.size()))] ^= bit;
    else
      proof[draws.below(static_cast<std::uint32_t>(proof.size()))]
           [draws.below(32)] ^= bit;
    CATCH_CHECK(root_by(content, layout.blocks(), block, proof)
                != tree.back());
  }
}
