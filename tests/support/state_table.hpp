#pragma once

#include "tests/support/catch.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

/// What can happen to a machine of states, each under a name. A machine has
/// types `state` and `task`, says by `now()` in which state it is, and answers
/// whatever happens to it with what is to be done.
template <class Machine>
using event_table =
  std::map<std::string, std::function<typename Machine::task(Machine&)>>;

template <class Machine>
struct transition {
  typename Machine::state to;
  typename Machine::task then;
};

/// What an event does in a state. One that is not here leaves the machine where
/// it is, and asks for nothing.
template <class Machine>
using transition_table =
  std::map<std::pair<std::string, typename Machine::state>,
           transition<Machine>>;

/// Lets every event happen in every state.
/// @param at Brings a new machine into a state.
/// @param also_check Is given the machine after each event.
template <class Machine>
void check_transitions(
  const std::vector<typename Machine::state>& states,
  Machine (*at)(typename Machine::state), const event_table<Machine>& events,
  const transition_table<Machine>& transitions,
  const std::function<void(const Machine&)>& also_check = {}) {
  for (const auto& [name, event] : events)
    for (const auto from : states) {
      CATCH_INFO(name << " in state " << int(from));
      const auto it = transitions.find({name, from});
      const auto expected = it == transitions.end()
                              ? transition<Machine>{from, Machine::task::none}
                              : it->second;
      auto machine = at(from);
      CATCH_CHECK(int(event(machine)) == int(expected.then));
      CATCH_CHECK(int(machine.now()) == int(expected.to));
      if (also_check)
        also_check(machine);
    }
}

} // namespace graphmill::test
