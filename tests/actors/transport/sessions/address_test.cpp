#include "actors/transport/sessions/address.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;
using namespace graphmill::test;

CATCH_TEST_CASE("addresses are read and written", "[transport]") {
  const auto read = [](std::string_view text) {
    return value_of(parse_endpoint(text));
  };
  CATCH_CHECK(read("tcp://10.0.0.1:7800") == endpoint{"10.0.0.1", 7800});
  CATCH_CHECK(read("host.example:1") == endpoint{"host.example", 1});
  CATCH_CHECK(read("tcp://[::1]:65535") == endpoint{"::1", 65535});
  CATCH_CHECK(read("tcp://*:0") == endpoint{"*", 0});
  for (const auto* text : {"tcp://10.0.0.1:7800", "tcp://[fe80::1]:5"})
    CATCH_CHECK(to_string(read(text)) == text);
  for (const auto* text :
       {"", "tcp://", "tcp://:1", "host", "host:", "host:x", "host:65536",
        "host:-1", "host:1x", "::1:5", "tcp://[]:5", "udp://host:1", "a b:1",
        "tcp://host:1/path", "tcp://a;b:1", "tcp://[::1:5"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of(parse_endpoint(text)).code == ec::invalid_argument);
  }
}

CATCH_TEST_CASE("several addresses are read, each once", "[transport]") {
  using names = std::vector<std::string>;
  CATCH_CHECK(value_of(parse_endpoints("a:1")) == names{"tcp://a:1"});
  CATCH_CHECK(value_of(parse_endpoints("a:1,tcp://[::1]:2,tcp://a:1"))
              == names{"tcp://a:1", "tcp://[::1]:2"});
  for (const auto* text : {"", "a:1,", ",a:1", "a:1,b"}) {
    CATCH_INFO(text);
    CATCH_CHECK(error_of(parse_endpoints(text)).code == ec::invalid_argument);
  }
  std::string many = "a:1";
  for (std::size_t n = 2; n <= most_endpoints; ++n)
    many += ",a:" + std::to_string(n);
  CATCH_CHECK(value_of(parse_endpoints(many)).size() == most_endpoints);
  CATCH_CHECK_FALSE(parse_endpoints(many + ",b:1"));
}

CATCH_TEST_CASE("loopback and wildcard addresses are told apart",
                "[transport]") {
  for (const auto* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost"})
    CATCH_CHECK(is_loopback({host, 1}));
  for (const auto* host : {"*", "0.0.0.0", "::"}) {
    CATCH_CHECK(is_wildcard({host, 1}));
    CATCH_CHECK_FALSE(is_loopback({host, 1}));
  }
  for (const auto* host : {"10.0.0.1", "example.org", "128.0.0.1"}) {
    CATCH_CHECK_FALSE(is_wildcard({host, 1}));
    CATCH_CHECK_FALSE(is_loopback({host, 1}));
  }
}

CATCH_TEST_CASE("this machine's addresses are found", "[transport]") {
  CATCH_CHECK(value_of(address_of_interface("lo")).starts_with("127."));
  CATCH_CHECK(error_of(address_of_interface("no-such-one")).code
              == ec::not_found);
  CATCH_CHECK(value_of(address_towards({"127.0.0.1", 9})) == "127.0.0.1");
  CATCH_CHECK(error_of(address_towards({"no such host", 9})).code
              == ec::not_found);
  CATCH_CHECK(value_of(resolve_host("127.0.0.1")) == "127.0.0.1");
  CATCH_CHECK_FALSE(any_address().empty());
}
