#pragma once

#include "pipelines/definition/yaml/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// A YAML document as plain values, every node with its place in the source.
/// Unlike yaml-cpp's own nodes it keeps duplicate keys, for the reader to
/// report, and has no sharing: anchors, aliases and tags are refused.
struct yaml_node {
  enum class kind : std::uint8_t { null, scalar, list, map };
  kind type = kind::null;
  source_position where;
  std::string text;             ///< What a scalar says.
  std::vector<yaml_node> keys;  ///< Those of a map, in the order of the file.
  std::vector<yaml_node> items; ///< Those of a list, or one per key of a map.
};

/// How a node is called in "`x` is ...".
std::string shown(const yaml_node& node);

/// What a document may not exceed; a definition needs a hundredth of it.
inline constexpr std::size_t yaml_size_limit = 256 << 10;
inline constexpr std::size_t yaml_depth_limit = 16;
inline constexpr std::size_t yaml_node_limit = 20000;

/// Parses one YAML document. Whatever the bytes, it ends soon, in a tree or in
/// at least one problem. An empty document gives a null node.
/// @param origin What problems and positions name as their source.
/// @param lines Whether positions have a line; in a flag's value they do not.
/// @returns nothing if `problems` says what is wrong.
std::optional<yaml_node> parse_yaml(std::string_view text,
                                    const std::string& origin, bool lines,
                                    std::vector<problem>& problems);

} // namespace graphmill
