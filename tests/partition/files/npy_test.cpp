#include "messages/base/random.hpp"
#include "partition/files/full_disk.hpp"
#include "partition/files/half.hpp"
#include "partition/files/npy/npy.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A version 1.0 file with this dictionary, padded as numpy does, and so many
/// bytes of data.
std::string file_of(const std::string& dictionary, std::size_t data_bytes,
                    char version = 1) {
  const std::size_t preamble = version == 1 ? 10 : 12;
  auto header = dictionary;
  while ((preamble + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  if (version > 1)
    file += {'\0', '\0'};
  return file + header + std::string(data_bytes, '\1');
}

std::string message_of(const temp_folder& folder, const std::string& bytes) {
  std::ofstream{folder / "x.npy", std::ios::binary} << bytes;
  const auto problem = error_of(npy_array::open(folder / "x.npy"));
  CATCH_CHECK(problem.message.find("x.npy") != std::string::npos);
  return problem.message;
}

template <class T>
void round_trip(const temp_folder& folder) {
  const std::vector<T> values{T(1), T(2), T(3), std::numeric_limits<T>::max()};
  value_of(write_npy<T>(folder / "a.npy", values));
  const auto array = value_of(npy_array::open(folder / "a.npy"));
  CATCH_CHECK(array.type() == dtype_of<T>());
  CATCH_CHECK(array.shape() == std::vector<std::int64_t>{4});
  const auto back = value_of(array.as<T>());
  CATCH_CHECK(
    std::equal(back.begin(), back.end(), values.begin(), values.end()));
  CATCH_CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0);
}

} // namespace

CATCH_TEST_CASE("arrays of every type survive", "[partition][npy]") {
  temp_folder folder;
  round_trip<float>(folder);
  round_trip<double>(folder);
  round_trip<std::int8_t>(folder);
  round_trip<std::uint8_t>(folder);
  round_trip<std::int16_t>(folder);
  round_trip<std::int32_t>(folder);
  round_trip<std::uint32_t>(folder);
  round_trip<std::int64_t>(folder);
}

CATCH_TEST_CASE("the file is what numpy would write", "[partition][npy]") {
  temp_folder folder;
  value_of(write_npy<std::int32_t>(folder / "a.npy",
                                   std::vector<std::int32_t>{7, 8, 9}));
  CATCH_CHECK(content_of(folder / "a.npy")
              == file_of("{'descr': '<i4', 'fortran_order': False, 'shape': "
                         "(3,), }",
                         0)
                   + std::string("\7\0\0\0\x8\0\0\0\x9\0\0\0", 12));
}

CATCH_TEST_CASE("a writer fills in the number of rows", "[partition][npy]") {
  temp_folder folder;
  auto out =
    value_of(npy_writer::create(folder / "a.npy", dtype::float32, {3}));
  std::vector<float> rows(3 * 100000);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<float>(i);
  const std::span<const float> table{rows};
  for (std::size_t at = 0; at < rows.size(); at += 1000)
    value_of(out.append(table.subspan(at, 1000)));
  value_of(out.append(table));
  value_of(out.finish());
  const auto array = value_of(npy_array::open(folder / "a.npy"));
  CATCH_CHECK(array.shape() == std::vector<std::int64_t>{200000, 3});
  const auto values = value_of(array.as<float>());
  CATCH_CHECK(std::equal(rows.begin(), rows.end(), values.begin()));
  CATCH_CHECK(
    std::equal(rows.begin(), rows.end(), values.begin() + rows.size()));

  auto ragged =
    value_of(npy_writer::create(folder / "b.npy", dtype::float32, {3}));
  value_of(ragged.append(table.first(4)));
  CATCH_CHECK_FALSE(ragged.finish().has_value());

  auto nothing = value_of(npy_writer::create(folder / "c.npy", dtype::int64));
  value_of(nothing.finish());
  CATCH_CHECK(value_of(npy_array::open(folder / "c.npy")).rows() == 0);
}

CATCH_TEST_CASE("a writer keeps pieces of any size in order",
                "[partition][npy]") {
  const auto seed = GENERATE(1, 2, 3, 4);
  CATCH_INFO("seed " << seed);
  std::mt19937_64 random{static_cast<std::uint64_t>(seed)};
  temp_folder folder;
  // Blocks of the file are 2 MiB large, and smaller ahead of the first of them.
  std::vector<std::int64_t> values((std::size_t{9} << 20) / 8);
  std::iota(values.begin(), values.end(), 0);
  auto out = value_of(npy_writer::create(folder / "a.npy", dtype::int64));
  for (std::span<const std::int64_t> rest{values}; !rest.empty();) {
    const auto most = std::size_t{1} << random() % 20;
    const auto some =
      rest.first(std::min<std::size_t>(1 + random() % most, rest.size()));
    value_of(out.append(some));
    rest = rest.subspan(some.size());
  }
  value_of(out.finish());
  const auto array = value_of(npy_array::open(folder / "a.npy"));
  const auto found = value_of(array.as<std::int64_t>());
  CATCH_CHECK(
    std::equal(values.begin(), values.end(), found.begin(), found.end()));
}

CATCH_TEST_CASE("a file that lacks a piece is not finished",
                "[partition][npy]") {
  const temp_folder folder;
  const std::vector<std::int64_t> piece(100000);
  auto out = value_of(npy_writer::create(folder / "a.npy", dtype::int64));
  const auto refuse = [&out](std::span<const std::byte> bytes, ec code) {
    CATCH_CHECK(error_of(out.append_bytes(bytes)).code == code);
  };
  auto code = ec::no_space;
  CATCH_SECTION("the disk was full") {
    const auto now = std::chrono::steady_clock::now();
    fill_disk(folder.path(), now + std::chrono::hours{1});
    refuse(std::as_bytes(std::span{piece}), code);
    fill_disk(folder.path(), now);
  }
  CATCH_SECTION("it was half an element") {
    code = ec::internal;
    refuse(std::as_bytes(std::span{piece}).first(4), code);
  }
  refuse(std::as_bytes(std::span{piece}), code); // Nor is there another one.
  CATCH_CHECK(error_of(out.finish()).code == code);
  CATCH_CHECK_FALSE(npy_array::open(folder / "a.npy").has_value());
}

CATCH_TEST_CASE("an unfinished file does not open", "[partition][npy]") {
  temp_folder folder;
  {
    auto out = value_of(npy_writer::create(folder / "a.npy", dtype::int64));
    value_of(out.append<std::int64_t>(std::vector<std::int64_t>(100000)));
  }
  CATCH_CHECK_FALSE(npy_array::open(folder / "a.npy").has_value());
}

CATCH_TEST_CASE("headers of any version and spacing are read",
                "[partition][npy]") {
  temp_folder folder;
  const std::vector<std::string> dictionaries{
    "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }",
    "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<i4\"}",
    " {  'shape' : ( 2 , 3 , ) , 'descr' : '<i4' , 'fortran_order' : False }",
  };
  for (const auto& dictionary : dictionaries)
    for (char version : {1, 2, 3}) {
      CATCH_INFO(dictionary << " version " << int{version});
      std::ofstream{folder / "x.npy", std::ios::binary}
        << file_of(dictionary, 24, version);
      const auto array = value_of(npy_array::open(folder / "x.npy"));
      CATCH_CHECK(array.type() == dtype::int32);
      CATCH_CHECK(array.shape() == std::vector<std::int64_t>{2, 3});
      CATCH_CHECK(value_of(array.as<std::int32_t>())[5] == 0x01010101);
    }
  // A scalar, and Fortran order where it makes no difference.
  std::ofstream{folder / "y.npy", std::ios::binary}
    << file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (), }", 8);
  CATCH_CHECK(value_of(npy_array::open(folder / "y.npy")).size() == 1);
}

CATCH_TEST_CASE("what cannot be read is refused with a reason",
                "[partition][npy]") {
  temp_folder folder;
  const auto header = [](const std::string& descr, const std::string& shape,
                         const char* fortran = "False") {
    return "{'descr': " + descr + ", 'fortran_order': " + fortran
           + ", 'shape': " + shape + ", }";
  };
  struct row {
    std::string bytes;
    std::string reason;
  };
  const std::vector<row> table{
    {"", "not a .npy file"},
    {"PK\3\4 a zip, for sure", "not a .npy file"},
    {file_of(header("'<i4'", "(5,)"), 12), "truncated: 148 bytes expected"},
    {file_of(header("'<i4'", "(5,)"), 21), "trailing bytes: 148 bytes exp"},
    {file_of(header("'>i4'", "(5,)"), 20), "big-endian"},
    {file_of(header("'|O'", "(5,)"), 40), "pickled"},
    {file_of(header("'|b1'", "(5,)"), 5), "'|b1' is not supported"},
    {file_of(header("'<u8'", "(5,)"), 40), "'<u8' is not supported"},
    {file_of(header("'<M8[ns]'", "(5,)"), 40), "is not supported"},
    {file_of(header("''", "(5,)"), 40), "is not supported"},
    {file_of(header("'f'", "(5,)"), 40), "is not supported"},
    {file_of(header("[('a', '<i4')]", "(5,)"), 20), "records"},
    {file_of(header("'<i4'", "(5, 1)", "True"), 20), "Fortran"},
    {file_of(header("'<i4'", "(5, -1)"), 20), "an extent expected"},
    {file_of(header("'<i4'", "(4611686018427387904, 4)"), 20), "overflows"},
    {file_of(header("'<i4'", "(4611686018427387904,)"), 20), "overflows"},
    {file_of(header("'<i4'", "(99999999999999999999,)"), 20), "extent"},
    {file_of(header("'<i4'", "5"), 20), "'(' expected"},
    {file_of(header("'<i4'", "(5,)", "Maybe"), 20), "True or False"},
    {file_of("{'descr': '<i4', 'shape': (5,), }", 20), "missing"},
    {file_of("{'descr': '<i4', 'descr': '<i4', }", 20), "unexpected key"},
    {file_of("{'descr': '<i4", 20), "does not end"},
    {file_of("{}", 20), "missing"},
    {file_of(header("'<i4'", "(5,)") + "x", 20), "behind the dictionary"},
    {file_of(header("'<i4'", "(5,)"), 20, 9), "version 9.0"},
    {file_of(header("'<i4'", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4),
     "too many dimensions"},
  };
  for (const auto& [bytes, reason] : table) {
    const auto message = message_of(folder, bytes);
    CATCH_INFO(message << "\nexpected: " << reason);
    CATCH_CHECK(has(message, reason));
  }
}

CATCH_TEST_CASE("a file cut anywhere is refused", "[partition][npy]") {
  temp_folder folder;
  const auto whole =
    file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", 32);
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)message_of(folder, whole.substr(0, size));
}

CATCH_TEST_CASE("random bytes as a header never do harm", "[partition][npy]") {
  temp_folder folder;
  constexpr std::uint32_t seed = 20240601;
  CATCH_INFO("seed " << seed);
  std::mt19937 random{seed};
  const auto whole =
    file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", 32);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = whole;
    const auto noise = round % 2 == 0;
    for (int change = 0; change < (noise ? 118 : 3); ++change)
      bytes[noise ? 10 + change : random() % 128] = static_cast<char>(random());
    std::ofstream{folder / "x.npy", std::ios::binary} << bytes;
    if (const auto array = npy_array::open(folder / "x.npy")) {
      // Whatever it has become, it fits the file.
      CATCH_CHECK(static_cast<std::size_t>(array.value().size())
                    * size_of(array.value().type())
                  == 32);
    }
  }
}

CATCH_TEST_CASE("types and shapes are checked by name", "[partition][npy]") {
  temp_folder folder;
  value_of(write_npy_bytes(folder / "a.npy", dtype::float32, {2, 3},
                           std::vector<std::byte>(24)));
  const auto array = value_of(npy_array::open(folder / "a.npy"));
  CATCH_CHECK(has(error_of(array.as<std::int64_t>()).message,
                  "holds float32; int64 expected"));
  value_of(array.expect_shape({-1, 3}));
  CATCH_CHECK(has(error_of(array.expect_shape({-1, 4})).message,
                  "[2, 3]; [any, 4] expected"));
  CATCH_CHECK_FALSE(array.expect_shape({2}).has_value());
  CATCH_CHECK_FALSE(write_npy_bytes(folder / "b.npy", dtype::float32, {2, 3},
                                    std::vector<std::byte>(25))
                      .has_value());
}

CATCH_TEST_CASE("rounding to float16 is converting there and back",
                "[partition][half]") {
  const auto check = [](float value) {
    if (!(std::abs(value) < half_overflow))
      return true;
    return std::bit_cast<std::uint32_t>(round_to_half(value))
           == std::bit_cast<std::uint32_t>(from_half(to_half(value)));
  };
  // Every float16, what lies half-way to the next, and their neighbours.
  auto wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto exact = from_half(static_cast<std::uint16_t>(bits));
    const auto next = from_half(static_cast<std::uint16_t>(bits + 1));
    for (auto value : {exact, exact + (next - exact) / 2})
      for (auto to : {-HUGE_VALF, value, HUGE_VALF})
        wrong += check(std::nextafter(value, to)) ? 0 : 1;
  }
  CATCH_CHECK(wrong == 0);
  random_stream draws{3, 3};
  for (int i = 0; i < 1 << 20; ++i)
    wrong += check(std::bit_cast<float>(draws.next())) ? 0 : 1;
  CATCH_CHECK(wrong == 0);
  CATCH_CHECK(to_half(std::nextafter(half_overflow, 0.0f)) == 0x7bff);
  CATCH_CHECK(to_half(half_overflow) == 0x7c00);
}

CATCH_TEST_CASE("float16 rounds to nearest, ties to even",
                "[partition][half]") {
  CATCH_CHECK(to_half(0.0f) == 0x0000);
  CATCH_CHECK(to_half(-0.0f) == 0x8000);
  CATCH_CHECK(to_half(1.0f) == 0x3c00);
  CATCH_CHECK(to_half(-2.0f) == 0xc000);
  CATCH_CHECK(to_half(65504.0f) == 0x7bff);
  CATCH_CHECK(to_half(65519.0f) == 0x7bff);
  CATCH_CHECK(to_half(65520.0f) == 0x7c00);
  CATCH_CHECK(to_half(INFINITY) == 0x7c00);
  CATCH_CHECK(to_half(1.0f + 0x1p-11f) == 0x3c00); // a tie, down to even
  CATCH_CHECK(to_half(1.0f + 0x3p-11f) == 0x3c02); // a tie, up to even
  CATCH_CHECK(to_half(0x1p-24f) == 0x0001);
  CATCH_CHECK(to_half(0x1p-25f) == 0x0000);
  CATCH_CHECK(to_half(0x1.8p-25f) == 0x0001);
  CATCH_CHECK(to_half(0x1p-14f) == 0x0400);
  CATCH_CHECK(to_half(NAN) == 0x7e00);
  CATCH_CHECK(std::isnan(from_half(0x7e00)));
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto value = from_half(half);
    if (!std::isnan(value) && to_half(value) != half)
      CATCH_FAIL("float16 " << bits << " does not survive");
  }
}
