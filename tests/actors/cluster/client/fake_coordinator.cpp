#include "tests/actors/cluster/client/fake_coordinator.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

namespace graphmill::test {

fake_coordinator::fake_coordinator(const std::filesystem::path& key) {
  value_of(write_keys(value_of(key.empty() ? make_keys() : read_keys(key)),
                      key_file()));
  start("tcp://127.0.0.1:0");
}

void fake_coordinator::start(const std::string& listen) {
  transport_options options;
  options.name = "fake";
  options.listen = listen;
  options.keys = value_of(read_keys(key_file()));
  options.on_request = [this](const incoming_request& request) {
    serve(request);
  };
  transport_ = value_of(transport::start(std::move(options)));
  address_ = transport_->self().address;
}

void fake_coordinator::restart() {
  transport_.reset();
  start(address_);
}

void fake_coordinator::on(method method_id, handler answer) {
  const std::lock_guard lock{mutex_};
  handlers_[method_id] = std::move(answer);
}

int fake_coordinator::count(method method_id) const {
  const std::lock_guard lock{mutex_};
  const auto found = counts_.find(method_id);
  return found == counts_.end() ? 0 : found->second;
}

void fake_coordinator::serve(const incoming_request& request) {
  const std::lock_guard lock{mutex_};
  ++counts_[request.method];
  const auto found = handlers_.find(request.method);
  if (found == handlers_.end())
    request.reply.reply(fail(ec::invalid_argument, "not expected: {}",
                             to_string(request.method)));
  else
    request.reply.reply(found->second(request.data));
}

std::string address_of_nobody() {
  return fake_coordinator{}.address();
}

} // namespace graphmill::test
