#include "actors/http/server/http_questions.hpp"

#include <utility>

namespace graphmill {

namespace {

constexpr std::chrono::milliseconds answer_look{10};

} // namespace

void http_questions::ask(const http_question& whom, const http_request& what,
                         taker then) {
  auto place = std::make_shared<slot>();
  waiting_.push_back(
    {place, std::move(then),
     std::chrono::steady_clock::now() + most_.question_patience});
  whom(what, [place = std::move(place)](http_answer answer) {
    const std::lock_guard lock{place->mutex};
    if (!place->answer)
      place->answer = std::move(answer);
  });
  if (!looks_)
    look_later();
}

void http_questions::look_later() {
  timer_.expires_after(answer_look);
  timer_.async_wait([this](const boost::system::error_code& failed) {
    looks_ = false;
    if (!failed)
      look();
  });
  looks_ = true;
}

/// Whoever is told may ask the next question.
void http_questions::look() {
  const auto now = std::chrono::steady_clock::now();
  for (auto& one : std::exchange(waiting_, {})) {
    std::unique_lock lock{one.from->mutex};
    auto answer = std::exchange(one.from->answer, std::nullopt);
    lock.unlock();
    if (!answer && now >= one.until)
      answer = http_sentence(504, "the coordinator has not answered yet; what "
                                  "was asked for may still be done");
    if (answer)
      one.then(*std::move(answer));
    else
      waiting_.push_back(std::move(one));
  }
  if (!waiting_.empty() && !looks_)
    look_later();
}

} // namespace graphmill
