#include "tests/actors/transport/network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::chrono_literals;

// Keys with roles, with real sockets.

namespace {

/// A coordinator that echoes, and whoever has a key of its cluster.
class role_cluster {
public:
  role_cluster() : leader_(new_keys(key_role::coordinator, "first")) {
    let_in(leader_);
  }

  curve_keys new_keys(key_role role, const std::string& name) const {
    auto out = value_of(make_keys());
    out.role = role;
    out.name = name;
    out.file = "/keys/of/" + name;
    out.coordinator_key =
      role == key_role::coordinator ? out.public_key : leader_.public_key;
    return out;
  }

  void let_in(const curve_keys& keys) {
    table.add({keys.role, keys.name, keys.public_key});
  }

  transport_options with(transport_options options,
                         const curve_keys& keys) const {
    options.keys = keys;
    options.local_folder = home / "local";
    options.liveness.refused_after = 1s; // Until another key is believed in.
    return options;
  }

  std::unique_ptr<transport> lead() {
    auto options = with(echo_daemon("first"), leader_);
    options.admitted = table;
    options.on_log = [this](const std::string& line) { logged.put(line); };
    return start(std::move(options));
  }

  const curve_keys& leader() const { return leader_; }

  temp_folder home;
  key_table table;
  collector<std::string> logged;

private:
  curve_keys leader_;
};

/// Asks until it is answered, or no more: a new table counts soon, not at once.
result<payload> ask_until(bool answered, transport& from,
                          const std::string& address) {
  auto answer = ask(from, address, method::status);
  for (int i = 0; i < 1000 && bool(answer) != answered; ++i)
    answer = ask(from, address, method::status);
  return answer;
}

} // namespace

CATCH_TEST_CASE("a key of a table lets in, in its role, until it is revoked",
                "[transport][roles]") {
  role_cluster all;
  const auto alice = all.new_keys(key_role::client, "alice");
  const auto bob = all.new_keys(key_role::client, "bob");
  all.let_in(alice);
  const auto before = all.table;
  const auto server = all.lead();
  const auto& address = server->self().address;
  const auto as_alice = start(all.with(client("submit"), alice));
  const auto as_bob = start(all.with(client("status"), bob));
  value_of(ask(*as_alice, address, method::submit));
  value_of(ask(*as_alice, address, method::fetch_file));
  const auto forbidden = error_of(ask(*as_alice, address, method::join));
  CATCH_CHECK(forbidden.code == ec::permission);
  CATCH_CHECK(forbidden.message.find("client \"alice\"") != std::string::npos);
  const auto unknown = error_of(ask(*as_bob, address, method::status));
  CATCH_CHECK(unknown.code == ec::permission);
  CATCH_CHECK(unknown.message.find("/keys/of/bob") != std::string::npos);
  CATCH_CHECK(unknown.message.find("members file") != std::string::npos);
  // One is added and the other revoked, without a restart.
  all.table = {};
  all.let_in(all.leader());
  all.let_in(bob);
  server->admit(all.table);
  CATCH_CHECK(error_of(ask_until(false, *as_alice, address)).code
              == ec::permission);
  value_of(ask(*as_bob, address, method::status));
  server->admit(before);
  value_of(ask_until(true, *as_alice, address));
}

CATCH_TEST_CASE("what is under way fails when its key is revoked",
                "[transport][roles]") {
  role_cluster all;
  const auto alice = all.new_keys(key_role::client, "alice");
  all.let_in(alice);
  auto options = all.with(daemon("first"), all.leader());
  options.admitted = all.table;
  collector<responder> held;
  options.on_request = [&held](incoming_request request) {
    held.put(std::move(request.reply));
  };
  const auto server = start(std::move(options));
  const auto caller = start(all.with(client("watch"), alice));
  collector<ec> ended;
  caller->request(server->self().address, method::watch, {}, patient,
                  [&ended](const result<payload>& answer) {
                    ended.put(answer ? ec::internal : answer.error().code);
                  });
  held.wait(1);
  all.table = {};
  all.let_in(all.leader());
  server->admit(all.table);
  CATCH_CHECK(ended.wait(1) == std::vector{ec::permission});
}

CATCH_TEST_CASE("a daemon is known by its key and not by what it says",
                "[transport][roles]") {
  role_cluster all;
  const auto second = all.new_keys(key_role::daemon, "second");
  all.let_in(second);
  const auto server = all.lead();
  const auto& address = server->self().address;
  const auto honest = start(all.with(echo_daemon("second"), second));
  value_of(ask(*honest, address, method::join));
  CATCH_CHECK(error_of(ask(*honest, address, method::submit)).code
              == ec::permission);
  const auto liar = start(all.with(echo_daemon("third"), second));
  const auto refused = error_of(ask(*liar, address, method::join));
  CATCH_CHECK(refused.code == ec::permission);
  CATCH_CHECK(refused.message.find("daemon \"second\"") != std::string::npos);
}

CATCH_TEST_CASE("daemons reach each other by the keys of the table",
                "[transport][roles]") {
  role_cluster all;
  const auto second = all.new_keys(key_role::daemon, "second");
  const auto third = all.new_keys(key_role::daemon, "third");
  const auto a = start(all.with(echo_daemon("second"), second));
  const auto b = start(all.with(echo_daemon("third"), third));
  const auto& address = b->self().address;
  // Nobody has told them of each other.
  CATCH_CHECK(error_of(ask(*a, address, method::gather)).code
              == ec::permission);
  auto of_b = key_table::of(third);
  of_b.add({key_role::daemon, "second", second.public_key});
  b->admit(of_b);
  // Another one in the place of whom it expects is not talked to.
  auto of_a = key_table::of(second);
  of_a.servers[address] = value_of(make_keys()).public_key;
  a->admit(of_a);
  CATCH_CHECK(error_of(ask(*a, address, method::gather)).code
              == ec::permission);
  of_a.servers[address] = third.public_key;
  a->admit(of_a);
  value_of(ask(*a, address, method::gather));
  // It orders nothing.
  CATCH_CHECK(error_of(ask(*a, address, method::deploy)).code
              == ec::permission);
}

CATCH_TEST_CASE("a coordinator asks nobody whose key it does not know",
                "[transport][roles]") {
  role_cluster all;
  const auto second = all.new_keys(key_role::daemon, "second");
  const auto server = all.lead();
  const auto other = start(all.with(echo_daemon("second"), second));
  const auto& address = other->self().address;
  CATCH_CHECK(error_of(ask(*server, address, method::status)).code
              == ec::permission);
  all.let_in(second);
  all.table.servers[address] = second.public_key;
  server->admit(all.table);
  value_of(ask(*server, address, method::status));
  all.table = {};
  all.let_in(all.leader());
  server->admit(all.table);
  CATCH_CHECK(error_of(ask(*server, address, method::status)).code
              == ec::permission);
}

CATCH_TEST_CASE("keys with roles and keys for all do not fit each other",
                "[transport][roles]") {
  role_cluster all;
  auto shared = value_of(make_keys());
  shared.file = "/keys/of/all";
  const auto alice = all.new_keys(key_role::client, "alice");
  all.let_in(alice);
  const auto with_roles = all.lead();
  const auto without = start(all.with(echo_daemon("plain"), shared));
  const auto as_all = start(all.with(client("status"), shared));
  const auto as_alice = start(all.with(client("status"), alice));
  const auto by_all =
    error_of(ask(*as_all, with_roles->self().address, method::status));
  CATCH_CHECK(by_all.code == ec::permission);
  CATCH_CHECK(by_all.message.find("/keys/of/all") != std::string::npos);
  CATCH_CHECK(by_all.message.find("graphmill-keys 2") != std::string::npos);
  const auto by_alice =
    error_of(ask(*as_alice, without->self().address, method::status));
  CATCH_CHECK(by_alice.code == ec::permission);
  CATCH_CHECK(by_alice.message.find("/keys/of/alice") != std::string::npos);
  CATCH_CHECK(by_alice.message.find("graphmill-keys 1") != std::string::npos);
}
