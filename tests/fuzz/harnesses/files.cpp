#include "tests/fuzz/harness.hpp"
#include "tests/support/temp_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace graphmill::fuzz {

std::vector<std::string_view> files_in(std::string_view input,
                                       std::size_t count) {
  std::vector<std::string_view> out;
  while (out.size() + 1 < count) {
    const auto end = input.find(file_separator);
    out.push_back(input.substr(0, end));
    input = end == std::string_view::npos
              ? std::string_view{}
              : input.substr(end + file_separator.size());
  }
  out.push_back(input);
  return out;
}

std::string joined(std::initializer_list<std::string_view> files) {
  std::string out;
  for (const auto& file : files) {
    if (&file != files.begin())
      out += file_separator;
    out += file;
  }
  return out;
}

const std::filesystem::path& scratch() {
  static const test::temp_folder folder;
  return folder.path();
}

void put_file(const std::filesystem::path& path, std::string_view content) {
  const auto file =
    ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0, "cannot write a file for a reader: see $TMPDIR");
  const auto written = ::write(file, content.data(), content.size());
  ::close(file);
  require(written == static_cast<ssize_t>(content.size()),
          "cannot write a file for a reader: see $TMPDIR");
}

std::string get_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

} // namespace graphmill::fuzz
