#include "actors/transport/sockets/connections/authenticator.hpp"

#include "actors/transport/sockets/connections/wire_io.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace graphmill {

namespace {

// The parts of a question.
constexpr std::size_t request_part = 1;
constexpr std::size_t domain_part = 2;
constexpr std::size_t address_part = 3;
constexpr std::size_t mechanism_part = 5;
constexpr std::size_t key_part = 6; ///< Only where the mechanism has one.

constexpr std::size_t raw_key = 32;

/// The key that a question is about, as text; empty if there is none.
std::string key_in(const std::vector<zmq::message_t>& question) {
  std::array<char, raw_key * 5 / 4 + 1> text;
  if (question.size() != key_part + 1
      || question[mechanism_part].to_string_view() != "CURVE"
      || question[key_part].size() != raw_key)
    return {};
  zmq_z85_encode(text.data(),
                 static_cast<const std::uint8_t*>(question[key_part].data()),
                 raw_key);
  return text.data();
}

} // namespace

authenticator::authenticator(zmq::context_t& context,
                             std::shared_ptr<const key_table> table,
                             std::function<void(const std::string&)> refused)
  : socket_(context, ZMQ_ROUTER), table_(std::move(table)),
    refused_(std::move(refused)) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
}

void authenticator::answer() {
  for (;;) {
    // Who asks, up to an empty part, and then the question.
    std::vector<zmq::message_t> way;
    std::vector<zmq::message_t> question;
    for (bool more = true, in_way = true; more;) {
      zmq::message_t part;
      if (!socket_.recv(part, zmq::recv_flags::dontwait))
        return;
      more = part.more();
      const auto ends_way = in_way && part.size() == 0;
      (in_way ? way : question).push_back(std::move(part));
      in_way = in_way && !ends_way;
    }
    if (question.size() <= request_part)
      continue;
    const auto key = key_in(question);
    const auto has_key = !key.empty() && table_->find(key) != nullptr;
    const auto comes_locally =
      question.size() == mechanism_part + 1
      && question[mechanism_part].to_string_view() == "NULL"
      && question[domain_part].to_string_view() == local_domain;
    const auto admitted = has_key || comes_locally;
    if (!admitted)
      refused_(question.size() > address_part
                 ? question[address_part].to_string()
                 : "");
    for (auto& part : way)
      socket_.send(part, zmq::send_flags::sndmore);
    const auto more = zmq::send_flags::sndmore;
    socket_.send(zmq::str_buffer("1.0"), more);
    socket_.send(question[request_part], more);
    socket_.send(admitted ? zmq::str_buffer("200") : zmq::str_buffer("400"),
                 more);
    socket_.send(
      admitted ? zmq::buffer("OK", 2) : zmq::buffer("another key", 11), more);
    socket_.send(has_key ? zmq::buffer(key) : zmq::const_buffer{}, more);
    socket_.send(zmq::message_t{}, zmq::send_flags::none);
  }
}

} // namespace graphmill
