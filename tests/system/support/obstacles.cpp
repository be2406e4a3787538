// What a process may meet and a test cannot wait for. Preloaded; it does as the
// environment says:
//   REFUSED_THREADS  once this file exists, no more threads than the number in
//   it
//                    are started, as where a limit is reached
//   SLOW_FSYNC       a file whose name has this in it is synchronised only when
//                    the file SLOW_FSYNC_UNTIL exists; a file of that name and
//                    ".begun" says that it waits
//   LATE_CLOCK       once this file exists, the time of day is an hour earlier,
//                    as where somebody sets the clock back; clocks that only go
//                    forward are left alone

#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::atomic<int> started{0};

/// How many threads may still be started; negative: any number.
int most_threads() {
  const char* name = std::getenv("REFUSED_THREADS");
  auto* file = name == nullptr ? nullptr : std::fopen(name, "r");
  if (file == nullptr) {
    started = 0;
    return -1;
  }
  auto most = -1;
  if (std::fscanf(file, "%d", &most) != 1)
    most = -1;
  std::fclose(file);
  return most;
}

std::string path_of(int descriptor) {
  std::array<char, 4096> path{};
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto size = readlink(link.c_str(), path.data(), path.size());
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void await_leave() {
  const char* until = std::getenv("SLOW_FSYNC_UNTIL");
  if (auto* file = std::fopen((std::string{until} + ".begun").c_str(), "w"))
    std::fclose(file);
  while (access(until, F_OK) != 0)
    usleep(10000);
}

/// Seconds that the time of day is set back by.
time_t lateness() {
  const char* file = std::getenv("LATE_CLOCK");
  return file != nullptr && access(file, F_OK) == 0 ? 3600 : 0;
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                              void* (*body)(void*), void* with) {
  const auto most = most_threads();
  if (most >= 0 && started++ >= most)
    return EAGAIN;
  static const auto create = real<decltype(pthread_create)>("pthread_create");
  return create(thread, how, body, with);
}

extern "C" int fsync(int descriptor) {
  const char* slow = std::getenv("SLOW_FSYNC");
  if (slow != nullptr && path_of(descriptor).find(slow) != std::string::npos)
    await_leave();
  static const auto synchronise = real<decltype(fsync)>("fsync");
  return synchronise(descriptor);
}

extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
  static const auto look = real<int(clockid_t, timespec*)>("clock_gettime");
  const auto done = look(which, now);
  if (done == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
    now->tv_sec -= lateness();
  return done;
}

extern "C" int gettimeofday(timeval* now, void* zone) noexcept {
  static const auto look = real<int(timeval*, void*)>("gettimeofday");
  const auto done = look(now, zone);
  if (done == 0)
    now->tv_sec -= lateness();
  return done;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr)
    *out = now.tv_sec;
  return now.tv_sec;
}
