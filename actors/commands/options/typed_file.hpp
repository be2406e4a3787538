#pragma once

#include <filesystem>
#include <string>

namespace graphmill {

/// A file of a type, as "TYPE=FILE" names it.
struct typed_file {
  std::string type; ///< Empty: none is named.
  std::filesystem::path file;
};

/// Splits "TYPE=FILE", or takes a file alone. Behind a slash, '=' belongs to a
/// path, unless only the words behind it are a file: then what stands before is
/// taken for a type, to be refused by that name.
typed_file split_typed_file(const std::string& text);

} // namespace graphmill
