#include "actors/transport/sockets/connections/keys.hpp"

#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <zmq.hpp>

#include <filesystem>
#include <fstream>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;
using std::filesystem::perms;

CATCH_TEST_CASE("keys are written for the owner and read again",
                "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "cluster.key";
  const auto keys = value_of(make_keys());
  value_of(write_keys(keys, file));
  CATCH_CHECK((std::filesystem::status(file).permissions() & perms::mask)
              == (perms::owner_read | perms::owner_write));
  const auto read = value_of(read_keys(file));
  CATCH_CHECK(read.public_key == keys.public_key);
  CATCH_CHECK(read.secret_key == keys.secret_key);
  CATCH_CHECK(error_of(write_keys(keys, file)).code == ec::invalid_argument);
  CATCH_CHECK(value_of(make_keys()).secret_key != keys.secret_key);
}

CATCH_TEST_CASE("a key file that others may read is refused",
                "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "cluster.key";
  value_of(write_keys(value_of(make_keys()), file));
  for (const auto open : {perms::group_read, perms::others_read}) {
    std::filesystem::permissions(file, perms::owner_read | open);
    CATCH_CHECK(error_of(read_keys(file)).code == ec::permission);
  }
}

CATCH_TEST_CASE("what is no key file is refused", "[transport][keys]") {
  const temp_folder folder;
  const auto file = folder / "cluster.key";
  CATCH_CHECK(error_of(read_keys(file)).code == ec::not_found);
  CATCH_CHECK_FALSE(read_keys(folder.path()));
  const auto keys = value_of(make_keys());
  const auto other = value_of(make_keys());
  for (const auto& text :
       {std::string{}, std::string(100000, 'x'), std::string(50, '\0'),
        std::string{"graphmill-keys 1\n"},
        "graphmill-keys 1\npublic " + keys.public_key + "\nsecret "
          + other.secret_key + "\n",
        "graphmill-keys 1\npublic " + keys.public_key + "\nsecret "
          + std::string(40, ' ') + "\n"}) {
    std::ofstream{file} << text;
    std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
    CATCH_CHECK(error_of(read_keys(file)).code == ec::invalid_data);
  }
}

CATCH_TEST_CASE("only who has the key is let in", "[transport][keys]") {
  const auto keys = value_of(make_keys());
  auto options = daemon("server");
  options.keys = keys;
  options.on_request = [](incoming_request request) {
    request.reply.reply(payload{});
  };
  const auto server = start(options);
  const auto& address = server->self().address;
  const call_options brief{200s, 1, 300ms};
  const auto ask_as = [&](std::optional<curve_keys> with,
                          const call_options& how) {
    auto asks = client("caller");
    asks.keys = std::move(with);
    const auto caller = start(std::move(asks));
    return ask(*caller, address, method::stop, {}, how);
  };
  value_of(ask_as(keys, patient));
  // No key: known at once.
  CATCH_CHECK(error_of(ask_as(std::nullopt, patient)).code == ec::permission);
  // A whole other pair: it cannot even begin.
  CATCH_CHECK(error_of(ask_as(value_of(make_keys()), brief)).code
              == ec::unavailable);
  value_of(ask_as(keys, patient));
  // A key where the server has none.
  options.keys.reset();
  const auto open = start(options);
  auto asks = client("caller");
  asks.keys = keys;
  CATCH_CHECK(error_of(ask(*start(std::move(asks)), open->self().address,
                           method::stop, {}, patient))
                .code
              == ec::permission);
}

CATCH_TEST_CASE("who knows the public key alone is not let in",
                "[transport][keys]") {
  const auto keys = value_of(make_keys());
  const auto own = value_of(make_keys());
  collector<std::string> logged;
  collector<method> served;
  auto options = daemon("server");
  options.keys = keys;
  options.on_request = [&served](incoming_request request) {
    served.put(request.method);
  };
  options.on_log = [&logged](const std::string& line) { logged.put(line); };
  const auto server = start(std::move(options));
  zmq::context_t context;
  zmq::socket_t thief{context, ZMQ_DEALER};
  thief.set(zmq::sockopt::linger, 0);
  thief.set(zmq::sockopt::curve_publickey, own.public_key);
  thief.set(zmq::sockopt::curve_secretkey, own.secret_key);
  thief.set(zmq::sockopt::curve_serverkey, keys.public_key);
  thief.connect(server->self().address);
  thief.send(zmq::str_buffer("let me in"), zmq::send_flags::none);
  const auto lines = logged.wait(1);
  CATCH_REQUIRE_FALSE(lines.empty());
  CATCH_CHECK(lines[0]
              == "refused a connection from 127.0.0.1 with another "
                 "key");
  const auto counted = server->statistics();
  CATCH_CHECK(counted.refused >= 1);
  CATCH_CHECK(counted.malformed == 0);
  CATCH_CHECK(served.size() == 0);
}
