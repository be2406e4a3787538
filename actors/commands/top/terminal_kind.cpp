#include "actors/commands/top/top_terminal.hpp"

#include <curses.h>
#include <term.h> // Full of macros for what terminals can do, such as `lines`.
#include <unistd.h>

#include <clocale>

namespace graphmill {

bool is_drawable_terminal() {
  std::setlocale(LC_CTYPE, "");
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
    return false;
  int found = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &found) != OK)
    return false;
  char name[] = "cup"; // To put the cursor somewhere.
  const auto* moves = tigetstr(name);
  const auto can = moves != nullptr && moves != reinterpret_cast<char*>(-1);
  del_curterm(cur_term);
  return can;
}

} // namespace graphmill
