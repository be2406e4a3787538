#include "actors/commands/options/interrupt_flag.hpp"

namespace graphmill {

interrupt_flag::interrupt_flag() {
  raised().store(false);
  const auto raise = [](int) { raised().store(true); };
  handle(SIGINT, raise, SA_RESETHAND);
  handle(SIGTERM, raise, SA_RESETHAND);
  handle(SIGPIPE, SIG_IGN, 0);
  struct sigaction now {};
  if (sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
    handle(SIGHUP, raise, 0);
}

interrupt_flag::~interrupt_flag() {
  for (const auto& [number, action] : before_)
    if (number != SIGHUP || !raised()) // What is left is to say why.
      sigaction(number, &action, nullptr);
}

std::atomic<bool>& interrupt_flag::raised() {
  static std::atomic<bool> flag{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
  return flag;
}

void interrupt_flag::handle(int number, void (*handler)(int), unsigned flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags | SA_RESTART);
  before_.emplace_back(number, action);
  sigaction(number, &action, &before_.back().second);
}

} // namespace graphmill
