#include "actors/transport/sockets/complaint_log.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace graphmill {

namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool has_digit(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos;
}

/// A sentence without its numbers: words with digits in them are alike.
std::string kind_of(std::string_view sentence) {
  std::string out;
  while (!sentence.empty()) {
    std::size_t end = 0;
    while (end < sentence.size() && is_of_word(sentence[end]))
      ++end;
    const auto word = sentence.substr(0, end == 0 ? 1 : end);
    if (has_digit(word))
      out += '#';
    else
      out += word;
    sentence.remove_prefix(word.size());
  }
  return out;
}

} // namespace

void complaint_log::add(const std::string& sentence, time_point now) {
  add(kind_of(std::string_view{sentence}.substr(0, most_bytes)), sentence, now);
}

void complaint_log::add(std::string kind, const std::string& sentence,
                        time_point now) {
  look(now);
  const auto line = sentence.size() > most_bytes
                      ? sentence.substr(0, most_bytes) + "..."
                      : sentence;
  if (kinds_.size() == kinds_told_ && !kinds_.contains(kind)) {
    ++left_out_;
    return;
  }
  auto& of = kinds_[std::move(kind)];
  if (++of.count > most_alike)
    return;
  of.last = line;
  log_(line);
}

void complaint_log::look(time_point now) {
  if (now - since_ < period)
    return;
  for (auto one = kinds_.begin(); one != kinds_.end();) {
    auto& of = one->second;
    if (of.count <= most_alike) {
      one = kinds_.erase(one);
      continue;
    }
    log_(fmt::format("{} more within {} s like: {}", of.count - most_alike,
                     period.count(), of.last));
    of.count = most_alike; // If it goes on, there is nothing new to say.
    ++one;
  }
  if (left_out_ > 0)
    log_(fmt::format("left out {} more complaints of other kinds", left_out_));
  since_ = now;
  left_out_ = 0;
}

} // namespace graphmill
