#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

// A tree of hashes (Merkle) over an array: who knows its root can tell of each
// block of the array, by a few digests that come with it, whether it is the one
// that the array had when the root was made. Nobody can make another block that
// fits, not even who chose the array: the hash is BLAKE2b (RFC 7693), unlike
// that of `content_hash`, which finds damage alone.

/// 256 bits of BLAKE2b.
using block_digest = std::array<std::byte, 32>;

/// How the rows of an array are dealt to blocks: each has whole rows, as many
/// as fit into 4 KiB, or one. The last block may have fewer. Value type.
struct block_layout {
  static constexpr std::uint64_t wanted_bytes = 4096;

  std::int64_t rows = 0;
  std::uint64_t row_bytes = 1; ///< Above 0.

  std::int64_t rows_per_block() const {
    return static_cast<std::int64_t>(
      std::max<std::uint64_t>(1, wanted_bytes / row_bytes));
  }
  std::int64_t blocks() const {
    return (rows + rows_per_block() - 1) / rows_per_block();
  }
  std::int64_t block_of(std::int64_t row) const {
    return row / rows_per_block();
  }
  /// @pre 0 <= block < blocks()
  std::int64_t first_row(std::int64_t block) const {
    return block * rows_per_block();
  }
  std::uint64_t bytes_of(std::int64_t block) const {
    const auto count = std::min(rows_per_block(), rows - first_row(block));
    return static_cast<std::uint64_t>(count) * row_bytes;
  }
};

/// Digests in a tree over that many blocks.
std::int64_t nodes_of_tree(std::int64_t blocks);

/// The whole tree: digests of all blocks, then level by level up to the root,
/// which is last. A node without a sibling moves up as it is. Empty if there
/// are no blocks.
/// @param elements All rows of the array.
std::vector<block_digest> tree_over(std::span<const std::byte> elements,
                                    const block_layout& layout);

/// How many digests prove a block, at the most those of any other one, too.
std::int64_t length_of_proof(std::int64_t blocks, std::int64_t block);

/// Appends what proves a block: the siblings on its way to the root.
/// @param tree Of `nodes_of_tree(blocks)` digests. @pre 0 <= block < blocks
void append_proof(std::span<const block_digest> tree, std::int64_t blocks,
                  std::int64_t block, std::vector<block_digest>& to);

/// The root of the tree that has this block at this place, by what is said to
/// prove it; nothing if that has not as many digests as such a proof.
/// @pre 0 <= block < blocks
std::optional<block_digest> root_by(std::span<const std::byte> content,
                                    std::int64_t blocks, std::int64_t block,
                                    std::span<const block_digest> proof);

/// As 64 hexadecimal digits, and back: nothing if it is none.
std::string to_string(const block_digest& digest);
std::optional<block_digest> parse_block_digest(std::string_view text);

} // namespace graphmill
