#include "partition/files/block_tree.hpp"

#include <sodium.h>

#include <charconv>

namespace graphmill {

namespace {

/// What a digest is of. It is hashed, too, so that two digests side by side are
/// never taken for a block, nor a block for them.
enum class hashed : unsigned char { block, pair };

block_digest hash_of(hashed kind, std::span<const std::byte> first,
                     std::span<const std::byte> second = {}) {
  crypto_generichash_state state;
  block_digest out;
  const auto update = [&state](std::span<const std::byte> bytes) {
    crypto_generichash_update(
      &state, reinterpret_cast<const unsigned char*>(bytes.data()),
      bytes.size());
  };
  // They fail for sizes that they do not know only.
  crypto_generichash_init(&state, nullptr, 0, out.size());
  update(std::as_bytes(std::span{&kind, 1}));
  update(first);
  update(second);
  crypto_generichash_final(
    &state, reinterpret_cast<unsigned char*>(out.data()), out.size());
  return out;
}

std::int64_t level_above(std::int64_t nodes) {
  return (nodes + 1) / 2;
}

/// Whether a node has one beside it.
bool has_sibling(std::int64_t nodes, std::int64_t node) {
  return node % 2 == 1 || node + 1 < nodes;
}

/// Calls `visit(first of the level, node in it)` with the siblings on the way
/// of a block to the root.
template <class Visit>
void for_siblings(std::int64_t blocks, std::int64_t block, Visit visit) {
  std::int64_t first = 0;
  for (auto nodes = blocks, node = block; nodes > 1;
       first += nodes, nodes = level_above(nodes), node /= 2)
    if (has_sibling(nodes, node))
      visit(first, node ^ 1);
}

} // namespace

std::int64_t nodes_of_tree(std::int64_t blocks) {
  auto sum = blocks;
  for (auto nodes = blocks; nodes > 1; sum += nodes)
    nodes = level_above(nodes);
  return sum;
}

std::vector<block_digest> tree_over(std::span<const std::byte> elements,
                                    const block_layout& layout) {
  const auto blocks = layout.blocks();
  std::vector<block_digest> tree;
  tree.reserve(static_cast<std::size_t>(nodes_of_tree(blocks)));
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto from = static_cast<std::uint64_t>(layout.first_row(block));
    tree.push_back(hash_of(
      hashed::block,
      elements.subspan(static_cast<std::size_t>(from * layout.row_bytes),
                       static_cast<std::size_t>(layout.bytes_of(block)))));
  }
  std::size_t first = 0;
  for (auto nodes = blocks; nodes > 1; nodes = level_above(nodes)) {
    for (std::int64_t node = 0; node < nodes; node += 2) {
      const auto at = first + static_cast<std::size_t>(node);
      tree.push_back(has_sibling(nodes, node)
                       ? hash_of(hashed::pair, tree[at], tree[at + 1])
                       : block_digest{tree[at]});
    }
    first += static_cast<std::size_t>(nodes);
  }
  return tree;
}

std::int64_t length_of_proof(std::int64_t blocks, std::int64_t block) {
  std::int64_t count = 0;
  for_siblings(blocks, block,
               [&count](std::int64_t, std::int64_t) { ++count; });
  return count;
}

void append_proof(std::span<const block_digest> tree, std::int64_t blocks,
                  std::int64_t block, std::vector<block_digest>& to) {
  for_siblings(blocks, block, [&](std::int64_t first, std::int64_t node) {
    to.push_back(tree[static_cast<std::size_t>(first + node)]);
  });
}

std::optional<block_digest> root_by(std::span<const std::byte> content,
                                    std::int64_t blocks, std::int64_t block,
                                    std::span<const block_digest> proof) {
  if (std::ssize(proof) != length_of_proof(blocks, block))
    return std::nullopt;
  auto digest = hash_of(hashed::block, content);
  auto sibling = proof.begin();
  for_siblings(blocks, block, [&](std::int64_t, std::int64_t node) {
    digest = node % 2 == 1 ? hash_of(hashed::pair, digest, *sibling)
                           : hash_of(hashed::pair, *sibling, digest);
    ++sibling;
  });
  return digest;
}

std::string to_string(const block_digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (auto byte : digest) {
    out += digits[std::to_integer<std::size_t>(byte) >> 4];
    out += digits[std::to_integer<std::size_t>(byte) & 15];
  }
  return out;
}

std::optional<block_digest> parse_block_digest(std::string_view text) {
  block_digest out;
  if (text.size() != 2 * out.size())
    return std::nullopt;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto* from = text.data() + 2 * i;
    unsigned byte = 0;
    const auto [end, wrong] = std::from_chars(from, from + 2, byte, 16);
    if (wrong != std::errc{} || end != from + 2)
      return std::nullopt;
    out[i] = static_cast<std::byte>(byte);
  }
  return out;
}

} // namespace graphmill
