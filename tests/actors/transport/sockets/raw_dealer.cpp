#include "tests/actors/transport/sockets/raw_dealer.hpp"

#include "tests/support/catch.hpp"

#include <unistd.h>

#include <utility>

namespace graphmill::test {

raw_dealer::raw_dealer(const std::string& address)
  : socket_(context_, ZMQ_DEALER), monitor_(context_, ZMQ_PAIR) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::reconnect_ivl, -1);
  socket_.set(zmq::sockopt::rcvtimeo, 60000);
  zmq_socket_monitor(socket_.handle(), "inproc://events",
                     ZMQ_EVENT_DISCONNECTED);
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.set(zmq::sockopt::rcvtimeo, 60000);
  monitor_.connect("inproc://events");
  socket_.connect(address);
}

raw_dealer::~raw_dealer() {
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
}

void raw_dealer::send(const message& outgoing) {
  CATCH_REQUIRE(try_send(outgoing) == sent::done);
}

sent raw_dealer::try_send(const message& outgoing) {
  return send_message(socket_, nullptr, outgoing, counters_);
}

message raw_dealer::receive() {
  for (int i = 0; i < 60000; ++i) {
    if (auto got = receive_message(socket_, false, counters_)) {
      CATCH_REQUIRE(got->content);
      return std::move(*got->content);
    }
    ::usleep(1000);
  }
  CATCH_FAIL("no message came");
  return {};
}

bool raw_dealer::closed() {
  zmq::message_t event;
  return monitor_.recv(event).has_value();
}

} // namespace graphmill::test
