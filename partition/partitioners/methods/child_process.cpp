#include "partition/partitioners/methods/child_process.hpp"

#include "partition/files/file_io.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <thread>
#include <utility>

namespace graphmill {

// -- shared_memory

result<shared_memory> shared_memory::make(std::size_t bytes) {
  if (bytes == 0)
    return shared_memory{nullptr, 0};
  auto* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return fail_errno(errno, "cannot share {} bytes with a child process",
                      bytes);
  return shared_memory{data, bytes};
}

shared_memory::shared_memory(shared_memory&& other) noexcept
  : data_(std::exchange(other.data_, nullptr)),
    size_(std::exchange(other.size_, 0)) {}

shared_memory::~shared_memory() {
  if (data_ != nullptr)
    munmap(data_, size_);
}

// -- run_in_child

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Exit codes of the child above those of its work.
constexpr int exit_out_of_memory = 128;
constexpr int exit_exception = 129;
constexpr int exit_abandoned = 130;

double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

/// Bytes of private writable memory, as RLIMIT_DATA counts them.
std::uint64_t data_bytes() {
  std::ifstream status{"/proc/self/status"};
  std::string key;
  while (status >> key) {
    if (std::uint64_t kib = 0; key == "VmData:" && status >> kib)
      return kib << 10;
    status.ignore(4096, '\n');
  }
  return 0;
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0)
    return;
  const auto most = data_bytes() + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit); // Lowering it cannot fail.
}

/// Makes the child a bystander: nothing it does may look like the parent.
void settle_in(std::uint64_t memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number)
    if (std::signal(number, SIG_DFL) == SIG_IGN && number == SIGHUP)
      std::signal(number, SIG_IGN); // As nohup has it.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const auto null = open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::ofstream{"/proc/self/oom_score_adj"} << 1000;
  limit_memory(memory_bytes);
}

[[noreturn]] void be_child(const std::function<int()>& work, int gate,
                           std::uint64_t memory_bytes) {
  settle_in(memory_bytes);
  // The gate opens when the parent is ready, and closes when it is gone.
  char go = 0;
  if (read(gate, &go, 1) != 1)
    _exit(exit_abandoned);
  try {
    _exit(work());
  } catch (const std::bad_alloc&) {
    _exit(exit_out_of_memory);
  } catch (const std::exception&) {
    _exit(exit_exception);
  }
}

/// Kills and buries the child when something goes wrong in between.
class child_guard {
public:
  explicit child_guard(pid_t pid) : pid_(pid) {}
  child_guard(const child_guard&) = delete;
  child_guard& operator=(const child_guard&) = delete;
  ~child_guard() {
    if (pid_ <= 0)
      return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      // interrupted: wait on; a killed child ends soon
    }
  }
  pid_t pid() const { return pid_; }
  void is_buried() { pid_ = -1; }

private:
  pid_t pid_;
};

error cancelled(std::string_view name) {
  return fail(ec::cancelled, "{} was stopped on request", name);
}

result<child_report> child_report_of(int status, const rusage& used,
                                     double seconds, std::string_view name) {
  if (WIFSIGNALED(status)) {
    const auto number = WTERMSIG(status);
    if (number == SIGKILL)
      return fail(ec::out_of_memory,
                  "{} was killed (signal 9) after {:.1f} s, as the system does "
                  "when memory runs out; free some, or take a way that needs "
                  "less: --coarsen always or --method ldg",
                  name, seconds);
    return fail(ec::internal, "{} crashed by signal {} ({}) after {:.1f} s",
                name, number, strsignal(number), seconds);
  }
  const auto code = WEXITSTATUS(status);
  if (code == exit_out_of_memory)
    return fail(ec::out_of_memory, "{} ran out of memory", name);
  if (code >= exit_exception)
    return fail(ec::internal, "{} ended with code {}", name, code);
  return child_report{code, seconds,
                      static_cast<std::uint64_t>(used.ru_maxrss) << 10};
}

result<child_report> wait_for(child_guard& child, const unique_fd& gate,
                              const child_options& options) {
  const auto start = clock::now();
  if (options.on_wait && !options.on_wait(child.pid(), 0))
    return cancelled(options.name);
  if (write(gate.get(), "g", 1) != 1 && errno != EPIPE)
    return fail_errno(errno, "cannot start {}", options.name);
  for (auto pause = 1ms;;
       pause = std::min<std::chrono::milliseconds>(pause * 2, 50ms)) {
    int status = 0;
    rusage used{};
    const auto ended = wait4(child.pid(), &status, WNOHANG, &used);
    if (ended == child.pid()) {
      child.is_buried();
      return child_report_of(status, used, seconds_since(start), options.name);
    }
    if (ended < 0 && errno != EINTR)
      return fail_errno(errno, "lost {}", options.name);
    std::this_thread::sleep_for(pause);
    if (options.on_wait && !options.on_wait(child.pid(), seconds_since(start)))
      return cancelled(options.name);
  }
}

} // namespace

result<child_report> run_in_child(const std::function<int()>& work,
                                  const child_options& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail_errno(errno, "cannot start {}", options.name);
  unique_fd gate_out{ends[0]};
  unique_fd gate_in{ends[1]};
  // Signals wait until the child has let go of the handlers it inherits.
  sigset_t signals;
  sigset_t before;
  sigfillset(&signals);
  pthread_sigmask(SIG_SETMASK, &signals, &before);
  const auto pid = fork();
  const auto failure = errno;
  if (pid != 0)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0)
    return fail_errno(failure, "cannot start {}", options.name);
  if (pid == 0) {
    gate_in.reset();
    be_child(work, gate_out.get(), options.memory_bytes);
  }
  // The parent keeps its reading end, too: writing to a child that is gone then
  // raises no SIGPIPE.
  child_guard child{pid};
  return wait_for(child, gate_in, options);
}

} // namespace graphmill
