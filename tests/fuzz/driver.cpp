#include "tests/fuzz/mutation.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#ifdef GRAPHMILL_ADDRESS_SANITIZER
#  include <sanitizer/common_interface_defs.h>
#endif

// Runs harnesses without libFuzzer: with any compiler, by count and not by
// time, and the same inputs each time. For the tests, and to repeat a finding.

namespace {

using namespace graphmill::fuzz;
namespace fs = std::filesystem;

constexpr std::uint64_t default_seed = 20240;

constexpr const char* help =
  "usage: test_fuzz [HARNESS ...] [--runs N] [--seed N] [--file FILE ...]\n"
  "       test_fuzz --list | --write-seeds DIR\n\n"
  "Runs the seeds of harnesses (of all, if none is named) and inputs that are\n"
  "changed from them. What ends the process is kept in fuzz-finding-HARNESS "
  "in\n"
  "the present folder.\n\n"
  "  --runs N           changed inputs of each harness (default: its own "
  "number)\n"
  "  --seed N           what the changes are drawn by\n"
  "  --file FILE ...    runs these inputs alone, of one harness\n"
  "  --list             names all harnesses and what they feed\n"
  "  --write-seeds DIR  writes the seeds to DIR/HARNESS/\n";

/// The input that runs, in a file which outlives the process: written through a
/// mapping, so that there is nothing to do when it ends. Gone if all is well.
class last_input {
public:
  explicit last_input(std::string_view harness)
    : path_("fuzz-finding-" + std::string{harness}) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0 || ::ftruncate(file_, longest_input) != 0) {
      std::perror(path_.c_str());
      std::exit(2);
    }
    at_ = ::mmap(nullptr, longest_input, PROT_READ | PROT_WRITE, MAP_SHARED,
                 file_, 0);
    if (at_ == MAP_FAILED) {
      std::perror(path_.c_str());
      std::exit(2);
    }
    now_ = this;
  }
  ~last_input() {
    now_ = nullptr;
    ::munmap(at_, longest_input);
    ::close(file_);
    ::unlink(path_.c_str());
  }
  last_input(const last_input&) = delete;
  last_input& operator=(const last_input&) = delete;

  void keep(std::string_view input, std::uint64_t run) {
    size_ = std::min(input.size(), longest_input);
    std::memcpy(at_, input.data(), size_);
    run_ = run;
  }

  /// What the process says when it ends for what an input did to it.
  static void tell() {
    if (now_ == nullptr)
      return;
    // What is left if this fails has zeros at its end.
    const auto cut = ::ftruncate(now_->file_, static_cast<off_t>(now_->size_));
    std::array<char, 300> line{};
    const auto length = std::snprintf(
      line.data(), line.size(), "==fuzz== %s after seed %llu, run %llu%s\n",
      now_->path_.c_str(), static_cast<unsigned long long>(seed),
      static_cast<unsigned long long>(now_->run_), cut == 0 ? "" : ", padded");
    if (length > 0) {
      const auto told =
        ::write(2, line.data(), static_cast<std::size_t>(length));
      (void)told;
    }
    now_ = nullptr;
  }

  static inline std::uint64_t seed = default_seed;

private:
  static inline last_input* now_ = nullptr;
  std::string path_;
  int file_ = -1;
  void* at_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t run_ = 0;
};

void on_abort(int) {
  last_input::tell();
}

/// Sees to it that the end of the process is told of.
void tell_of_the_end() {
#ifdef GRAPHMILL_ADDRESS_SANITIZER
  __sanitizer_set_death_callback(last_input::tell);
#endif
  struct sigaction act {};
  act.sa_handler = on_abort;
  act.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGABRT, &act, nullptr);
}

struct options {
  std::vector<harness> chosen;
  std::vector<std::string> files;
  int runs = -1;
};

void run(const harness& which, const options& how) {
  last_input now{which.name};
  if (!how.files.empty()) {
    for (const auto& file : how.files) {
      const auto input = get_file(file);
      now.keep(input, 0);
      run_within_limits(which, input);
    }
    return;
  }
  auto pool = which.seeds();
  mutator changes{last_input::seed};
  std::uint64_t done = 0;
  for (const auto& input : pool) {
    now.keep(input, done);
    run_within_limits(which, input);
  }
  const auto runs = how.runs >= 0 ? how.runs : which.test_runs;
  for (int i = 0; i < runs; ++i) {
    const auto input = changes.next(pool);
    now.keep(input, ++done);
    run_within_limits(which, input);
  }
  std::printf("%-18.*s %3zu seeds, %d changed inputs\n",
              static_cast<int>(which.name.size()), which.name.data(),
              pool.size(), runs);
  std::fflush(stdout);
}

int write_seeds(const fs::path& folder) {
  for (const auto& one : harnesses()) {
    const auto place = folder / one.name;
    fs::create_directories(place);
    int number = 0;
    for (const auto& seed : one.seeds())
      put_file(place / ("seed-" + std::to_string(number++)), seed);
  }
  return 0;
}

int list() {
  for (const auto& one : harnesses())
    std::printf("%-18.*s %.*s\n", static_cast<int>(one.name.size()),
                one.name.data(), static_cast<int>(one.feeds.size()),
                one.feeds.data());
  return 0;
}

[[noreturn]] void misused(const std::string& what) {
  std::fprintf(stderr, "test_fuzz: %s\n%s", what.c_str(), help);
  std::exit(2);
}

} // namespace

int main(int argc, char** argv) {
  options how;
  bool files = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc)
        misused(word + " needs a value");
      return argv[i];
    };
    if (word == "--help") {
      std::printf("%s", help);
      return 0;
    }
    if (word == "--list")
      return list();
    if (word == "--write-seeds")
      return write_seeds(value());
    if (word == "--runs")
      how.runs = std::atoi(value().c_str());
    else if (word == "--seed")
      last_input::seed = std::strtoull(value().c_str(), nullptr, 10);
    else if (word == "--file")
      files = true;
    else if (files)
      how.files.push_back(word);
    else {
      const auto before = how.chosen.size();
      for (const auto& one : harnesses())
        if (one.name == word)
          how.chosen.push_back(one);
      if (how.chosen.size() == before)
        misused("there is no harness " + word);
    }
  }
  if (files && how.chosen.size() != 1)
    misused("files are of one harness");
  if (how.chosen.empty())
    how.chosen.assign(harnesses().begin(), harnesses().end());
  tell_of_the_end();
  for (const auto& one : how.chosen)
    run(one, how);
}
