#include "tests/actors/cluster/client/fake_coordinator.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

namespace graphmill::test {

fake_coordinator::fake_coordinator(std::optional<curve_keys> keys)
  : keys_(std::move(keys)) {
  start("tcp://127.0.0.1:0");
}

void fake_coordinator::start(const std::string& listen) {
  transport_options options;
  options.name = "fake";
  options.listen = listen;
  options.keys = keys_;
  options.on_request = [this](const incoming_request& what) { serve(what); };
  transport_ = value_of(transport::start(std::move(options)));
  address_ = transport_->self().address;
}

void fake_coordinator::restart() {
  transport_.reset();
  start(address_);
}

void fake_coordinator::on(method what, handler answer) {
  const std::lock_guard lock{mutex_};
  handlers_[what] = std::move(answer);
}

int fake_coordinator::count(method what) const {
  const std::lock_guard lock{mutex_};
  const auto found = counts_.find(what);
  return found == counts_.end() ? 0 : found->second;
}

void fake_coordinator::serve(const incoming_request& what) {
  const std::lock_guard lock{mutex_};
  ++counts_[what.method];
  const auto found = handlers_.find(what.method);
  if (found == handlers_.end())
    what.reply.reply(
      fail(ec::invalid_argument, "not expected: {}", to_string(what.method)));
  else
    what.reply.reply(found->second(what.data));
}

std::string address_of_nobody() {
  return fake_coordinator{}.address();
}

} // namespace graphmill::test
