#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace graphmill::fuzz {

/// Something that reads what others wrote, and how it is given any bytes.
/// Whoever runs it sees to limits of time and memory; sanitizers see to the
/// rest.
struct harness {
  std::string_view name;  ///< In snake_case: of its corpus, and to choose it.
  std::string_view feeds; ///< What reads the bytes, for `--list`.
  /// Reads one input. Ends the process by `broken` if something is not so that
  /// must be, whatever the bytes.
  void (*run)(std::string_view input);
  /// Inputs to begin with: what is sound, so that changes of it get far.
  std::vector<std::string> (*seeds)();
  /// Changed inputs that the tests run: as many as a second allows.
  int test_runs = 0;
};

/// All harnesses.
std::span<const harness> harnesses();

/// Runs a harness on an input, and ends the process if that takes more than
/// `most_seconds` of processor time, or, in a build with the address sanitizer,
/// if more than `most_bytes` are allocated at a time beyond the input's own
/// size.
void run_within_limits(const harness& which, std::string_view input);

/// A reader has a second for the inputs of a fuzzer, which are small.
/// Sanitizers make code some three times slower.
inline constexpr double most_seconds = 1;
inline constexpr std::size_t most_bytes = std::size_t{64} << 20;
/// Longer inputs are cut. Enough for every header, and for files of some pages.
inline constexpr std::size_t longest_input = std::size_t{1} << 16;

/// Says what is wrong and ends the process, as a sanitizer would.
[[noreturn]] void broken(std::string_view sentence);

inline void require(bool so, std::string_view sentence) {
  if (!so)
    broken(sentence);
}

/// Takes an input apart from its front on. What is behind its end reads as 0.
class cursor {
public:
  explicit cursor(std::string_view text) : left_(text) {}

  template <class T>
  T take() {
    static_assert(std::is_integral_v<T>);
    T out = 0;
    const auto size = std::min(sizeof(T), left_.size());
    if (size != 0)
      std::memcpy(&out, left_.data(), size);
    left_.remove_prefix(size);
    return out;
  }

  std::string_view take_text(std::size_t size) {
    const auto out = left_.substr(0, size);
    left_.remove_prefix(out.size());
    return out;
  }

  bool empty() const { return left_.empty(); }
  std::string_view rest() const { return left_; }

private:
  std::string_view left_;
};

/// Inputs for readers of several files are the files' contents with this
/// between them. Files that are missing at the end are empty.
inline constexpr std::string_view file_separator = "\n%%%%\n";
std::vector<std::string_view> files_in(std::string_view input,
                                       std::size_t count);
std::string joined(std::initializer_list<std::string_view> files);

/// A folder of this process for what a reader wants to have as a file; in
/// memory if $TMPDIR is. It is there to the end.
const std::filesystem::path& scratch();

/// Replaces a file, readable by its owner alone.
void put_file(const std::filesystem::path& path, std::string_view content);
/// The content of a file; empty if there is none.
std::string get_file(const std::filesystem::path& path);

} // namespace graphmill::fuzz
