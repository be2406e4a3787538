#include "messages/work/work_report.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>

namespace graphmill {

namespace {

/// Adds fields to those of the same name.
struct report_sum {
  template <class T>
  void operator()(const char*, T& to, const T& more) const {
    if constexpr (std::is_arithmetic_v<T>)
      to += more;
    else
      T::fields(to, *this, more);
  }

  /// A name, which both have.
  void operator()(const char*, std::string&, const std::string&) const {}

  template <class T>
  void operator()(const char* name, std::optional<T>& to,
                  const std::optional<T>& more) const {
    if (!to)
      to = more;
    else if (more)
      (*this)(name, *to, *more);
  }

  void operator()(const char* name, std::vector<stage_report>& to,
                  const std::vector<stage_report>& more) const {
    auto place = to.begin(); // Behind the last stage that both have.
    for (const auto& stage : more) {
      const auto same =
        std::find_if(to.begin(), to.end(), [&stage](const auto& candidate) {
          return candidate.stage == stage.stage;
        });
      if (same == to.end()) {
        place = std::next(to.insert(place, stage));
      } else {
        (*this)(name, *same, stage);
        place = std::next(same);
      }
    }
  }
};

} // namespace

void work_report::add(const work_report& more) {
  fields(*this, report_sum{}, more);
}

} // namespace graphmill
