#include "actors/launch/processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <thread>
#include <utility>

namespace graphmill {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds child_look_interval{10};

/// Of what a process printed, this much goes into an error.
constexpr std::size_t most_words = 1500;
static_assert(most_words < output_tail::kept_bytes);

/// What a process printed last has been read by then, unless somebody else
/// holds on to its output.
constexpr std::chrono::milliseconds output_patience{500};

/// In the child, between fork and exec: calls that are safe there alone.
[[noreturn]] void become(char* const* arguments, char* const* environment,
                         pid_t parent, int input, int output, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL); // Ignored signals stay so in a new program.
  // The parent may have ended before the line above.
  if (::getppid() == parent && ::dup2(input, STDIN_FILENO) >= 0
      && ::dup2(output, STDOUT_FILENO) >= 0
      && ::dup2(output, STDERR_FILENO) >= 0)
    ::execvpe(arguments[0], arguments, environment);
  const auto reason = errno;
  [[maybe_unused]] auto told = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

/// This process's environment without some variables, ended by a null.
std::vector<char*> environment_without(std::span<const char* const> hidden) {
  std::vector<char*> out;
  for (auto** each = environ; *each != nullptr; ++each) {
    const std::string_view entry{*each};
    const auto name = entry.substr(0, entry.find('='));
    if (std::find(hidden.begin(), hidden.end(), name) == hidden.end())
      out.push_back(*each);
  }
  out.push_back(nullptr);
  return out;
}

/// What stands behind the last "graphmill: " that begins a line; empty: nothing
/// does.
std::string_view last_complaint(std::string_view words) {
  constexpr std::string_view begin = "graphmill: ";
  auto at = words.rfind(begin);
  while (at != std::string_view::npos && at != 0 && words[at - 1] != '\n')
    at = words.rfind(begin, at - 1);
  return at == std::string_view::npos ? std::string_view{}
                                      : words.substr(at + begin.size());
}

bool all_ended(std::vector<child_process>& children,
               std::chrono::milliseconds patience) {
  const auto until = clock::now() + patience;
  for (;;) {
    if (std::ranges::none_of(
          children, [](child_process& child) { return child.running(); }))
      return true;
    if (clock::now() >= until)
      return false;
    std::this_thread::sleep_for(child_look_interval);
  }
}

} // namespace

result<child_process> child_process::start(process_command command) {
  child_process out;
  out.name_ = std::move(command.name);
  std::vector<char*> arguments;
  for (auto& argument : command.arguments)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const auto environment = environment_without(command.hidden);
  GRAPHMILL_TRY(out.output_, output_tail::open());
  const unique_fd input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  int report[2];
  if (input.get() < 0 || ::pipe2(report, O_CLOEXEC) != 0)
    return fail_errno(errno, "cannot start {}", out.name_);
  const unique_fd read_end{report[0]};
  unique_fd write_end{report[1]};
  const auto parent = ::getpid();
  out.id_ = ::fork();
  if (out.id_ < 0)
    return fail_errno(errno, "cannot start {}", out.name_);
  if (out.id_ == 0)
    become(arguments.data(), environment.data(), parent, input.get(),
           out.output_->write_end(), write_end.get());
  write_end.reset();
  out.output_->begin();
  int reason = 0;
  // Ends without a byte when the program has started.
  ssize_t got = 0;
  do
    got = ::read(read_end.get(), &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof reason))
    return fail_errno(reason, "cannot start {} by {}", out.name_,
                      command.arguments.front());
  return out;
}

child_process::~child_process() {
  if (id_ < 0)
    return;
  signal(SIGKILL);
  while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
  }
}

child_process::child_process(child_process&& other) noexcept
  : name_(std::move(other.name_)), id_(std::exchange(other.id_, -1)),
    status_(other.status_), output_(std::move(other.output_)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(id_, other.id_);
  std::swap(status_, other.status_);
  std::swap(output_, other.output_);
  return *this;
}

bool child_process::running() {
  if (id_ < 0)
    return false;
  const auto got = ::waitpid(id_, &status_, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR))
    return true;
  // Children of its own end with it.
  ::kill(-id_, SIGKILL);
  id_ = -1;
  return false;
}

void child_process::signal(int number) {
  if (id_ >= 0)
    ::kill(-id_, number);
}

bool child_process::ended_well() const {
  return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

std::string child_process::last_words() const {
  auto text = output_->text();
  if (text.size() > most_words) {
    text.erase(0, text.size() - most_words);
    text.erase(0, text.find('\n') + 1);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  return text;
}

std::string child_process::end_text() const {
  return WIFSIGNALED(status_)
           ? fmt::format("{} was ended by signal {}", name_, WTERMSIG(status_))
           : fmt::format("{} ended with code {}", name_,
                         WIFEXITED(status_) ? WEXITSTATUS(status_) : -1);
}

error child_process::obituary() const {
  output_->wait_for_end(output_patience);
  const auto words = last_words();
  // What a daemon of ours says when it fails: its cause is the one to read.
  if (const auto cause = last_complaint(words); !cause.empty())
    return fail(ec::crashed, "{}\n({} after it said this)", cause, end_text());
  return fail(ec::crashed, "{}{}{}", end_text(),
              words.empty() ? "" : "; it said:\n", words);
}

bool end_all(std::vector<child_process>& children,
             std::chrono::milliseconds patience) {
  if (all_ended(children, patience))
    return true;
  for (auto& child : children)
    child.signal(SIGTERM);
  if (!all_ended(children, patience)) {
    for (auto& child : children)
      child.signal(SIGKILL);
    all_ended(children, patience);
  }
  return false;
}

} // namespace graphmill
