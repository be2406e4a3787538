#pragma once

#include <boost/iostreams/categories.hpp>

#include <ios>
#include <memory>

namespace graphmill {

/// Unpacks a Zstandard file of any number of frames, as a source of
/// Boost.Iostreams, whose own filter ends behind the first frame. Copies share
/// the place where they read. Does not own the file.
class zstd_source {
public:
  using char_type = char;
  using category = boost::iostreams::source_tag;

  /// @param fd At its begin.
  explicit zstd_source(int fd);

  /// Throws `std::runtime_error` if the file is cut short or damaged.
  /// @returns the number of bytes, or -1 at the end.
  std::streamsize read(char* to, std::streamsize most);

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace graphmill
