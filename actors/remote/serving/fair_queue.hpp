#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace graphmill {

/// What several others want, each in the order in which it came; they take
/// turns. Not thread-safe.
template <class T>
class fair_queue {
public:
  void push(const std::string& whose, T what) {
    auto& line = lines_[whose];
    if (line.empty())
      turns_.push_back(whose);
    line.push_back(std::move(what));
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// Whose turn it is. @pre not empty
  const std::string& turn() const { return turns_.front(); }
  /// How many there are who want something.
  std::size_t lines() const { return turns_.size(); }
  /// The next one's turn comes; this one's, after all others. @pre not empty
  void pass() {
    turns_.push_back(std::move(turns_.front()));
    turns_.pop_front();
  }

  /// What whose turn it is wants first. @pre not empty
  T& front() { return lines_.find(turns_.front())->second.front(); }

  /// Takes it out; the next one's turn comes. @pre not empty
  T pop() {
    const auto at = lines_.find(turns_.front());
    auto out = std::move(at->second.front());
    at->second.pop_front();
    --size_;
    if (at->second.empty())
      lines_.erase(at);
    else
      turns_.push_back(turns_.front());
    turns_.pop_front();
    return out;
  }

private:
  std::map<std::string, std::deque<T>> lines_; ///< None is empty.
  std::deque<std::string> turns_;
  std::size_t size_ = 0;
};

} // namespace graphmill
