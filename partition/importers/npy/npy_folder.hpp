#pragma once

#include "messages/base/error.hpp"
#include "partition/files/npy/npy.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The files of a folder for `import_npy`, which remembers what was opened, so
/// that no array is left out in silence. What the user ignores counts as not
/// there. Not thread-safe.
class npy_folder {
public:
  /// Lists the files. Fails if the folder is none, or lacks a file that is to
  /// be ignored.
  /// @param ignore Names of files, with or without ".npy".
  static result<npy_folder> open(const std::filesystem::path& path,
                                 const std::vector<std::string>& ignore);

  const std::filesystem::path& path() const { return path_; }
  bool has(const std::string& name) const { return names_.contains(name); }
  /// All files, in the order of their names.
  const std::set<std::string>& names() const { return names_; }
  /// What is in it, as the end of a sentence: the first names.
  std::string content() const;
  const std::vector<std::string>& ignored() const { return ignored_; }

  /// The place of a file that is read.
  std::filesystem::path take(const std::string& name);
  result<npy_array> array(const std::string& name);
  /// Nothing if it is not there.
  result<std::optional<npy_array>> array_if_there(const std::string& name);
  /// The array of one of several names, behind a prefix. Nothing if none is
  /// there; fails if several are.
  /// @param what They are, for the error: "weights of the same edges".
  result<std::optional<npy_array>>
  only_array_of(std::span<const std::string_view> names,
                const std::string& prefix, std::string_view what);

  /// Fails, and names them, if files that look like data have not been taken.
  /// Says what they may be meant for where that is known.
  /// @param types Names of the node types, if files are called after them.
  result<void> expect_all_taken(std::span<const std::string> types) const;

private:
  std::filesystem::path path_;
  std::set<std::string> names_;
  std::set<std::string> taken_;
  std::vector<std::string> ignored_;
};

/// What a file that nothing reads may be meant for, as the end of a sentence;
/// empty if nobody knows.
/// @param name Of the file, with or without a node type before it.
std::string_view meaning_of_stray(std::string_view name);

} // namespace graphmill
