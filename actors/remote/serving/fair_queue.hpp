#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace graphmill {

/// A queue for each of several askers, who take turns. What one asker wants is
/// taken in the order in which it came. Not thread-safe.
template <class T>
class fair_queue {
public:
  /// What is thrown leaves the queue as it was.
  void push(const std::string& asker, T item) {
    auto& line = lines_[asker];
    const auto first = line.empty();
    if (first)
      turns_.push_back(asker);
    try {
      line.push_back(std::move(item));
    } catch (...) {
      if (first)
        turns_.pop_back();
      throw;
    }
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  /// The asker whose turn it is. @pre not empty
  const std::string& turn() const { return turns_.front(); }
  /// How many askers want something.
  std::size_t lines() const { return turns_.size(); }
  /// Skips the asker whose turn it is: the next turn of this one comes after
  /// those of all others. @pre not empty
  void pass() {
    turns_.push_back(std::move(turns_.front()));
    turns_.pop_front();
  }

  /// The first thing that the asker whose turn it is wants. @pre not empty
  T& front() { return lines_.find(turns_.front())->second.front(); }

  /// Takes `front` out, and goes on to the next asker. @pre not empty
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
  /// Empty ones have no turn.
  std::map<std::string, std::deque<T>> lines_;
  std::deque<std::string> turns_;
  std::size_t size_ = 0;
};

} // namespace graphmill
