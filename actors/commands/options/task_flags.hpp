#pragma once

#include <string>
#include <vector>

namespace graphmill {

/// The flags of tasks of edges, as they were given. A value with "<task>="
/// before it is of that task alone.
struct task_flags {
  std::vector<std::string> kinds; ///< One for each task.
  std::string name;               ///< Of the only task.
  std::vector<std::string> edges;
  std::vector<std::string> splits; ///< Shares of edges.
  /// How splits are made; without a task, of nodes, too. Empty: random.
  std::vector<std::string> by;
};

} // namespace graphmill
