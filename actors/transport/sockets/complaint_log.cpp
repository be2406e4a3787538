#include "actors/transport/sockets/complaint_log.hpp"

#include <fmt/format.h>

namespace graphmill {

void complaint_log::add(const std::string& sentence, time_point now) {
  if (now - since_ >= period) {
    if (count_ > most_complaints)
      log_(fmt::format("left out {} complaints like the last one",
                       count_ - most_complaints));
    since_ = now;
    count_ = 0;
  }
  if (++count_ > most_complaints)
    return;
  if (sentence.size() > most_bytes)
    log_(sentence.substr(0, most_bytes) + "...");
  else
    log_(sentence);
}

} // namespace graphmill
