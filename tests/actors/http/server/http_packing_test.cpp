#include "actors/http/server/http_packing.hpp"

#include "tests/actors/http/raw_client.hpp"
#include "tests/actors/http/served_page.hpp"
#include "tests/support/catch.hpp"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

using shared_text = std::shared_ptr<const std::string>;

shared_text text_of(std::size_t lines) {
  std::string out;
  for (std::size_t i = 0; i < lines; ++i)
    out += "graphmill_steps_total{actor=\"" + std::to_string(i) + "\"} 7\n";
  return std::make_shared<const std::string>(std::move(out));
}

std::string unpacked(const std::string& packed) {
  namespace io = boost::iostreams;
  io::filtering_istreambuf from;
  from.push(io::gzip_decompressor{});
  from.push(io::array_source{packed.data(), packed.size()});
  std::string out;
  io::copy(from, io::back_inserter(out));
  return out;
}

} // namespace

CATCH_TEST_CASE("a body is packed once", "[http_packing]") {
  http_packing packing;
  const auto body = text_of(1000);
  const auto packed = packing.packed(body);
  CATCH_CHECK(unpacked(*packed) == *body);
  CATCH_CHECK(packed->size() < body->size() / 5);
  CATCH_CHECK(packing.packed(body) == packed);
  const auto other = text_of(999);
  CATCH_CHECK(unpacked(*packing.packed(other)) == *other);
  CATCH_CHECK(packing.packed(body) == packed);
  const auto small = text_of(3);
  CATCH_CHECK(packing.packed(small) == small);
}

CATCH_TEST_CASE("what is packed is kept for bodies that there are",
                "[http_packing]") {
  http_packing packing;
  std::vector<std::weak_ptr<const std::string>> made;
  for (std::size_t i = 0; i < 100; ++i) {
    made.push_back(packing.packed(text_of(200 + i)));
    // A new body may lie where one lay that is gone.
    const auto body = text_of(500 + i);
    CATCH_REQUIRE(unpacked(*packing.packed(body)) == *body);
  }
  std::erase_if(made, [](const auto& one) { return one.expired(); });
  CATCH_CHECK(made.size() <= 1);
  // Of those that there are still, the latest ones.
  std::vector<shared_text> bodies;
  for (std::size_t i = 0; i < 100; ++i) {
    bodies.push_back(text_of(200 + i));
    made.push_back(packing.packed(bodies.back()));
  }
  std::erase_if(made, [](const auto& one) { return one.expired(); });
  CATCH_CHECK(made.size() == 8);
}

CATCH_TEST_CASE("a server packs for those who take it", "[http_packing]") {
  auto options = options_with_page();
  const auto body = text_of(1000);
  http_answer page{.body = body};
  options.pages["/long"] = [page](const http_request&) { return page; };
  page.etag = "\"1\"";
  options.pages["/kept"] = [page](const http_request&) { return page; };
  page = {.status = 503, .body = body};
  options.pages["/ill"] = [page](const http_request&) { return page; };
  const auto server = started(std::move(options));
  raw_client client{*server};
  const auto is_packed = [&](const std::string& path,
                             const std::string& takes) {
    const auto got =
      client.ask(request_for(path, "Accept-Encoding: " + takes + "\r\n"));
    if (got.head.find("Content-Encoding: gzip\r\n") == std::string::npos) {
      if (path != "/page")
        CATCH_CHECK(got.body == *body);
      return false;
    }
    CATCH_CHECK(unpacked(got.body) == *body);
    return true;
  };
  for (const auto* takes :
       {"gzip", "GZIP", "gzip, deflate, br", "br, gzip;q=0.5", "gzip;q=1",
        "identity;q=0, gzip;q=0.001"}) {
    CATCH_INFO(takes);
    CATCH_CHECK(is_packed("/long", takes));
  }
  for (const auto* takes : {"", "br", "gzip;q=0", "gzip; q=0.000", "identity",
                            "notgzip", "gzips", "\"gzip", ";;gzip", "*"}) {
    CATCH_INFO(takes);
    CATCH_CHECK_FALSE(is_packed("/long", takes));
  }
  for (const auto* path : {"/page", "/kept", "/ill"}) {
    CATCH_INFO(path);
    CATCH_CHECK_FALSE(is_packed(path, "gzip"));
  }
  CATCH_CHECK(client.ask(request_for("/long")).body == *body);
  // A head tells of the body that GET would bring.
  const auto gzip = "Accept-Encoding: gzip\r\n";
  const auto whole = client.ask(request_for("/long", gzip));
  client.say(request_for("/long", gzip, "HEAD"));
  CATCH_CHECK(client.hear(false).head == whole.head);
}
