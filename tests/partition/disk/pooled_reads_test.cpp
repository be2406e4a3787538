#include "partition/disk/block_reads.hpp"
#include "partition/files/file_io.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// How many more threads the system gives; negative: as many as are wanted.
std::atomic<int> threads_left{-1};

struct thread_limit {
  explicit thread_limit(int count) { threads_left = count; }
  ~thread_limit() { threads_left = -1; }
};

using thread_starter = int (*)(pthread_t*, const pthread_attr_t*,
                               void* (*)(void*), void*);

} // namespace

/// Stands before the library's own, since a limit of the system that holds for
/// root, too, would hold for the whole machine.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                              void* (*body)(void*), void* with) {
  static const auto real =
    reinterpret_cast<thread_starter>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left >= 0 && threads_left-- == 0) {
    threads_left = 0;
    return EAGAIN;
  }
  return real(thread, how, body, with);
}

CATCH_TEST_CASE("a pool reads with the threads that the system gives it",
                "[partition][disk]") {
  const temp_folder folder;
  const auto path = folder / "numbers";
  value_of(write_text(path, "0123456789"));
  const auto file = value_of(open_file(path, O_RDONLY));
  for (int given : {1, 2, 5}) {
    CATCH_INFO(given << " threads");
    const thread_limit limit{given};
    const auto reads = pooled_reads(8);
    std::string text(10, ' ');
    for (std::uint32_t i = 0; i < text.size(); ++i)
      reads->begin({.fd = file.get(),
                    .offset = i,
                    .to = reinterpret_cast<std::byte*>(&text[i]),
                    .size = 1,
                    .tag = i});
    std::vector<block_reads::outcome> done;
    while (done.size() < text.size())
      reads->collect(true, done);
    CATCH_CHECK(text == "0123456789");
  }
}

CATCH_TEST_CASE("a pool without any thread is refused, and nobody dies",
                "[partition][disk]") {
  const thread_limit limit{0};
  CATCH_CHECK_THROWS_AS(pooled_reads(8), std::system_error);
}
