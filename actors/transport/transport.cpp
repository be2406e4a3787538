#include "actors/transport/transport.hpp"

#include "actors/transport/sockets/engine.hpp"

#include <utility>

namespace graphmill {

namespace {

void ask_of(mailbox& box, mailbox::request what) {
  const auto asked = what.method;
  if (auto back = box.post(std::move(what)))
    std::get<mailbox::request>(*back).on_reply(
      fail(ec::cancelled, "{} was asked of a transport that has ended",
           to_string(asked)));
}

} // namespace

result<std::unique_ptr<transport>> transport::start(transport_options options) {
  auto made = std::unique_ptr<transport>{new transport};
  made->mailbox_ = std::make_shared<mailbox>();
  made->counters_ = std::make_shared<traffic>();
  made->links_ = std::make_shared<link_board>();
  GRAPHMILL_TRY(made->engine_, engine::make(std::move(options), made->mailbox_,
                                            made->counters_, made->links_));
  made->self_ = made->engine_->self();
  made->thread_ = std::thread{[runs = made->engine_.get()] { runs->run(); }};
  return made;
}

transport::~transport() {
  if (!thread_.joinable())
    return;
  mailbox_->post(mailbox::stop{});
  thread_.join();
}

void transport::request(std::string address, method method_id, payload data,
                        call_options options,
                        std::function<void(result<payload>)> on_reply) {
  ask_of(*mailbox_, {std::move(address), method_id, std::move(data), options,
                     std::move(on_reply)});
}

transport::request_function transport::requests() const {
  return [box = mailbox_](std::string address, method method_id, payload data,
                          call_options options,
                          std::function<void(result<payload>)> on_reply) {
    ask_of(*box, {std::move(address), method_id, std::move(data), options,
                  std::move(on_reply)});
  };
}

void transport::keep(std::string address) {
  mailbox_->post(mailbox::keep{std::move(address), true});
}

void transport::forget(std::string address) {
  mailbox_->post(mailbox::keep{std::move(address), false});
}

void transport::admit(key_table table) {
  mailbox_->post(
    mailbox::admit{std::make_shared<const key_table>(std::move(table))});
}

void transport::disturb(link_fault fault) {
  mailbox_->post(mailbox::disturb{std::move(fault)});
}

traffic transport::statistics() const {
  return *counters_;
}

std::vector<link_standing> transport::links() const {
  return links_->read();
}

} // namespace graphmill
