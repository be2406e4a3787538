#include "partition/importers/csv/text/csv_reader.hpp"

#include "partition/importers/csv/text/csv_separator.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace graphmill;
using namespace graphmill::test;
using namespace std::string_literals;

namespace fs = std::filesystem;

namespace {

using table = std::vector<std::vector<std::string>>;

result<table> read_file(const fs::path& path, char separator = '\0') {
  table rows;
  GRAPHMILL_TRY(auto reader, csv_reader::open(path, separator));
  for (;;) {
    GRAPHMILL_TRY(const auto there, reader.next());
    if (!there)
      return rows;
    rows.emplace_back(reader.fields().begin(), reader.fields().end());
  }
}

result<table> read(const temp_folder& folder, const std::string& text,
                   char separator = '\0') {
  std::ofstream{folder / "t", std::ios::binary} << text;
  return read_file(folder / "t", separator);
}

std::string gzipped(const std::string& text) {
  std::ostringstream packed;
  boost::iostreams::filtering_ostream out;
  out.push(boost::iostreams::gzip_compressor());
  out.push(packed);
  out << text;
  out.reset();
  return packed.str();
}

} // namespace

CATCH_TEST_CASE("tables of any separator are read",
                "[partition][import][csv]") {
  temp_folder folder;
  const table expected{{"a", "b b", "c"}, {"1", "", "3"}};
  const std::string mark = "\xef\xbb\xbf"; // the byte order mark of UTF-8
  for (const auto& text : std::vector<std::string>{
         "a,b b,c\n1,,3\n", "a,b b,c\r\n1,,3\r\n", "a\tb b\tc\n1\t\t3",
         "a;b b;c\n1;;3\n", mark + "a,b b,c\n\n\n1,,3\n\n",
         "\"a\",\"b b\",c\n1,\"\",3\n"}) {
    CATCH_INFO(text);
    CATCH_CHECK(value_of(read(folder, text)) == expected);
  }
  CATCH_CHECK(value_of(read(folder, "  1   2\t3  \n4 5 6", ' '))
              == table{{"1", "2", "3"}, {"4", "5", "6"}});
  CATCH_CHECK(value_of(read(folder, "1 2  3 \n4 5 6"))
              == table{{"1", "2", "3"}, {"4", "5", "6"}});
  CATCH_CHECK(value_of(read(folder, "1 2 \r\n3 4 \r", ' '))
              == table{{"1", "2"}, {"3", "4"}});
  // Only at the end of a line is it part of the break.
  CATCH_CHECK(value_of(read(folder, "1 \r2 3\n4 5\r6\n", ' '))
              == table{{"1", "\r2", "3"}, {"4", "5\r6"}});
  CATCH_CHECK(value_of(read(folder, "a|b,c\n", '|')) == table{{"a", "b,c"}});
  CATCH_CHECK(value_of(read(folder, "alone\n")) == table{{"alone"}});
  CATCH_CHECK(value_of(read(folder, "a,\n")) == table{{"a", ""}});
  CATCH_CHECK(value_of(read(folder, "")).empty());
}

CATCH_TEST_CASE("comments are those of a format, or those that are asked for",
                "[partition][import][csv]") {
  temp_folder folder;
  const auto read_with = [&folder](const std::string& text, char comments) {
    std::ofstream{folder / "t", std::ios::binary} << text;
    auto reader = value_of(csv_reader::open(folder / "t", '\0', comments));
    table rows;
    while (value_of(reader.next()))
      rows.emplace_back(reader.fields().begin(), reader.fields().end());
    return std::pair{rows, reader.comments()};
  };
  using expected = std::pair<table, std::int64_t>;
  const std::string ids = "#red,u1\n#blue,u2\ngreen,u1\n";
  CATCH_CHECK(
    read_with(ids, '\0')
    == expected{{{"#red", "u1"}, {"#blue", "u2"}, {"green", "u1"}}, 0});
  CATCH_CHECK(read_with(ids, '#') == expected{{{"green", "u1"}}, 2});
  CATCH_CHECK(read_with("\"#red\",u1\n# a \"b\n%c,d\n#", '#')
              == expected{{{"#red", "u1"}, {"%c", "d"}}, 2});
  CATCH_CHECK(read_with("\xef\xbb\xbf#\n\n#\r\na,b\n", '#')
              == expected{{{"a", "b"}}, 2});
  CATCH_CHECK(read_with("# Directed graph: a.txt\n# Nodes: 2 Edges: 1\n"
                        "# FromNodeId\tToNodeId\n1\t2\n",
                        '\0')
              == expected{{{"1", "2"}}, 3});
  CATCH_CHECK(read_with("% asym positive\n1 2 5\n", '\0')
              == expected{{{"1", "2", "5"}}, 1});
  CATCH_CHECK(read_with("#", '#') == expected{{}, 1});
}

CATCH_TEST_CASE("a separator is found only where one alone can be meant",
                "[partition][import][csv]") {
  const auto found = [](const std::string& text) -> std::string {
    const auto separator = find_separator(text, true, '#', "e.csv");
    return separator ? std::string{separator.value()}
                     : separator.error().message;
  };
  for (const auto& [text, separator] :
       std::vector<std::pair<std::string, std::string>>{
         {"a,b\nc,d\n", ","},
         {"a;b\nc;d\n", ";"},
         {"a b\nc  d \n", " "},
         {"a\tb\nc\td\n", "\t"},
         {"Lee, Kim\tb\nPoe, Ann\td\n", "\t"},
         {"id,full name\n1,Kim Lee\n2,Ann Poe\n", ","},
         {"source;target;weight\n1;2;0,5\n", ";"},
         {"1;2;0,5\n3;4;1\n", ";"},
         {"# a;b\n1,2\n3,4\n", ","},
         {"\"a;b\",\"c;d\"\n\"e\",f\n", ","},
         {"\"a\"\"; b\",c\nd,e\n", ","},
         {"\"a\nb\";c\nd;e\n", ";"},
         {"1,2,2020-01-01 10:00\n3,4,2020-01-02 11:00\n", ","},
         {"2020-01-01 10:00,5\n2020-01-02 11:00,6\n", ","},
         {"id\nNew York\n", ","},
         {"", ","},
         {"alone", ","}}) {
    CATCH_INFO(text);
    CATCH_CHECK(found(text) == separator);
  }
  CATCH_CHECK(found("1;2;0,5\n2;3;1,5\n")
              == "e.csv: its columns may be separated by commas or by "
                 "semicolons (--separator ';') (1;2;0,5): say which, with "
                 "--separator");
  CATCH_CHECK(found("1;2;0,5\n").starts_with("e.csv: its columns may be"));
  CATCH_CHECK(found("1 2 0,5\n2 3 1,5\n").starts_with("e.csv: its columns"));
}

CATCH_TEST_CASE("quotes follow RFC 4180", "[partition][import][csv]") {
  temp_folder folder;
  CATCH_CHECK(
    value_of(read(folder, "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\""
                          ",\"\"\r\nx,y,z,\"end\""))
    == table{{"a,b", "say \"hi\"", "two\nlines", ""}, {"x", "y", "z", "end"}});
  CATCH_CHECK(value_of(read(folder, "a,5\" disk\n"))
              == table{{"a", "5\" disk"}});
  const auto open_quote = error_of(read(folder, "a,b\nc,\"d\n\n"));
  CATCH_CHECK(open_quote.message
              == (folder / "t").string()
                   + ":2: a quoted field does not end: add its closing quote");
  const auto behind = error_of(read(folder, "\"a\"b,c\n")).message;
  CATCH_CHECK(behind.find(":1: text behind a closing quote")
              != std::string::npos);
}

CATCH_TEST_CASE("lines are counted across quoted line breaks",
                "[partition][import][csv]") {
  temp_folder folder;
  std::ofstream{folder / "t"} << "a,b\n\n\"x\n\ny\",2\nc,d\n";
  auto reader = value_of(csv_reader::open(folder / "t", '\0'));
  std::vector<std::int64_t> lines;
  while (value_of(reader.next()))
    lines.push_back(reader.line());
  CATCH_CHECK(lines == std::vector<std::int64_t>{1, 3, 6});
}

CATCH_TEST_CASE("gzip is unpacked, broken gzip is an error",
                "[partition][import][csv]") {
  temp_folder folder;
  std::string text;
  for (int i = 0; i < 30000; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 7919) + "\n";
  const auto packed = gzipped(text);
  const auto rows = value_of(read(folder, packed));
  CATCH_CHECK(rows.size() == 30000);
  CATCH_CHECK(rows.back()[1] == std::to_string(29999 * 7919));
  CATCH_CHECK((rows == value_of(read(folder, text))));
  for (std::size_t size :
       {std::size_t{3}, std::size_t{12}, packed.size() / 2, packed.size() - 9,
        packed.size() - 8, packed.size() - 4, packed.size() - 1}) {
    CATCH_INFO("cut to " << size << " of " << packed.size());
    CATCH_CHECK_FALSE(read(folder, packed.substr(0, size)).has_value());
  }
  auto flipped = packed;
  flipped[packed.size() / 2] ^= 0x10;
  CATCH_CHECK_FALSE(read(folder, flipped).has_value());
}

namespace {

/// A frame of Zstandard (RFC 8878) that holds at most 255 bytes as they are.
std::string zstandard_frame(const std::string& text) {
  const auto block = (text.size() << 3) | 1; // The last one, not packed.
  return std::string{"\x28\xb5\x2f\xfd\x20"} + static_cast<char>(text.size())
         + static_cast<char>(block & 0xff)
         + static_cast<char>(block >> 8 & 0xff) + '\0' + text;
}

} // namespace

CATCH_TEST_CASE("Zstandard is unpacked, all of its frames",
                "[partition][import][csv][zstd]") {
  temp_folder folder;
  const auto one = zstandard_frame("a,b\nc,");
  const auto both = one + zstandard_frame("d\n");
  CATCH_CHECK((value_of(read(folder, both)) == table{{"a", "b"}, {"c", "d"}}));
  // One that is to be skipped.
  const std::string skipped{"\x50\x2a\x4d\x18\x02\0\0\0xx", 10};
  CATCH_CHECK(
    (value_of(read(folder, skipped + both)) == table{{"a", "b"}, {"c", "d"}}));
  for (std::size_t size = 4; size < both.size(); ++size) {
    if (size == one.size())
      continue; // Whole, as far as anybody can tell.
    CATCH_INFO("cut to " << size << " of " << both.size());
    CATCH_CHECK(has(error_of(read(folder, both.substr(0, size))).message,
                    "as a Zstandard file it is cut short"));
  }
  CATCH_CHECK(has(error_of(read(folder, one + "no frame")).message,
                  "as a Zstandard file it is damaged"));
  // A window of 128 MiB, as of `zstd --ultra -22` from a pipe.
  const std::string wide{"\x28\xb5\x2f\xfd\x00\x88\x21\x00\x00"
                         "a,b\n",
                         13};
  CATCH_CHECK((value_of(read(folder, wide)) == table{{"a", "b"}}));
  // Content that is larger than a small file is unpacked to at once.
  const auto zeros = [](int window) {
    auto out = "\x28\xb5\x2f\xfd"s + '\0' + static_cast<char>(window);
    for (int i = 0; i < 300; ++i)
      out += "\x02\x00\x10"s + (i % 2 == 0 ? '0' : '\n'); // 128 KiB each.
    return out + "\x01\x00\x00"s;
  };
  CATCH_CHECK(value_of(read(folder, zeros(0x38))).size() == 150);
  CATCH_CHECK(value_of(read(folder, zeros(0x88))).size() == 150);
  // A window of 256 MiB, as of `zstd --long=28`.
  const std::string long_window{"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9};
  for (const auto& each : {long_window, zeros(0x90)})
    CATCH_CHECK(has(error_of(read(folder, each)).message,
                    "it was packed with a large window (zstd --long); pack it "
                    "again without, or unpack it first: zstd -d --long=31 "
                    "FILE"));
}

CATCH_TEST_CASE("reading goes on behind a row that is wrong",
                "[partition][import][csv]") {
  temp_folder folder;
  std::ofstream{folder / "t"} << "a,b\n\"c\"d,\"e\"\nf,\xff\n,\"g\"\"\"\n";
  auto reader = value_of(csv_reader::open(folder / "t", '\0'));
  CATCH_CHECK(value_of(reader.next()));
  CATCH_CHECK_FALSE(reader.next().has_value());
  CATCH_CHECK(reader.goes_on());
  CATCH_CHECK(reader.row_text() == "\"c\"d,\"e\"");
  CATCH_CHECK_FALSE(reader.next().has_value());
  CATCH_CHECK(reader.goes_on());
  CATCH_CHECK(reader.row_text() == "f,\xff");
  CATCH_CHECK(value_of(reader.next()));
  CATCH_CHECK(reader.line() == 4);
  CATCH_CHECK(reader.row_text() == ",\"g\"\"\"");
  CATCH_CHECK_FALSE(value_of(reader.next()));
}

CATCH_TEST_CASE("the lines behind a stray quote are rows",
                "[partition][import][csv]") {
  temp_folder folder;
  // More than a block, so that it is read again.
  constexpr std::size_t rows = 20000;
  std::string text = "a,\"b\r\n";
  for (std::size_t i = 0; i < rows; ++i)
    text += "c,dd\n";
  std::ofstream{folder / "t"} << text << "e,\"f\"g\n\"h\ni\",j";
  auto reader = value_of(csv_reader::open(folder / "t", ','));
  CATCH_CHECK(error_of(reader.next()).message
              == (folder / "t").string()
                   + ":1: text behind a closing quote; double the quotes "
                     "within a quoted field");
  CATCH_CHECK(reader.goes_on());
  CATCH_CHECK(reader.row_text() == "a,\"b");
  for (std::size_t i = 0; i < rows; ++i) {
    CATCH_REQUIRE(value_of(reader.next()));
    CATCH_REQUIRE(reader.fields()[1] == "dd");
  }
  CATCH_CHECK_FALSE(reader.next().has_value());
  CATCH_CHECK(reader.line() == rows + 2);
  CATCH_CHECK(value_of(reader.next()));
  CATCH_CHECK(reader.line() == rows + 3);
  CATCH_CHECK(reader.lines() == 2);
  CATCH_CHECK(reader.fields()[0] == "h\ni");
  CATCH_CHECK_FALSE(value_of(reader.next()));
}

CATCH_TEST_CASE("rows are read as they were written, and kept as they are",
                "[partition][import][csv]") {
  constexpr std::uint32_t seed = 9113;
  CATCH_INFO("seed " << seed);
  std::mt19937 random{seed};
  temp_folder folder;
  const auto below = [&random](std::uint32_t count) {
    return random() % count;
  };
  // Fields, and rows as they stand in the file: several blocks of them, so that
  // rows go on in another block.
  table fields;
  std::vector<std::string> rows;
  std::string text;
  while (text.size() < 300000) {
    auto& row = fields.emplace_back();
    std::string line;
    for (auto n = 1 + below(5); n > 0; --n) {
      auto& field = row.emplace_back("f"); // No row is empty.
      for (auto length = below(30); length > 0; --length)
        field += "ab \t,;\r\"\n\xc3"[below(10)];
      for (auto at = field.find('\xc3'); at != field.npos;
           at = field.find('\xc3', at + 2))
        field.insert(at + 1, 1, '\xa4');
      const auto plain = field.find_first_of(",\"\n\r") == field.npos;
      line += plain && below(4) > 0
                ? field
                : std::string(below(3), ' ') + quoted_csv_field(field);
      line += n > 1 ? "," : "";
    }
    rows.push_back(line);
    text += line + (below(2) == 0 ? "\n" : "\r\n");
  }
  std::ofstream{folder / "t", std::ios::binary} << text;
  auto reader = value_of(csv_reader::open(folder / "t", ','));
  std::int64_t line = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CATCH_REQUIRE(value_of(reader.next()));
    const auto& read = reader.fields();
    CATCH_REQUIRE(std::vector<std::string>(read.begin(), read.end())
                  == fields[i]);
    CATCH_REQUIRE(reader.row_text() == rows[i]);
    CATCH_REQUIRE(reader.line() == line);
    CATCH_REQUIRE(std::ssize(reader.separators_by_line()) == reader.lines());
    line += reader.lines();
  }
  CATCH_CHECK_FALSE(value_of(reader.next()));
}

CATCH_TEST_CASE("random bytes as a table never do harm",
                "[partition][import][csv]") {
  constexpr std::uint32_t seed = 4180;
  CATCH_INFO("seed " << seed);
  std::mt19937 random{seed};
  temp_folder folder;
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto n = random() % 300; n > 0; --n)
      text += round % 2 == 0 ? "\"\",\n\r a#"[random() % 8]
                             : static_cast<char>(random());
    if (round % 10 == 0)
      text.insert(0, "\x1f\x8b");
    if (round % 10 == 5)
      text.insert(0, "\x28\xb5\x2f\xfd");
    (void)read(folder, text);
  }
}

CATCH_TEST_CASE("what cannot be read is an error", "[partition][import][csv]") {
  temp_folder folder;
  CATCH_CHECK(error_of(read_file(folder / "none")).code == ec::not_found);
  CATCH_CHECK_FALSE(read_file(folder.path()).has_value());
  const auto endless =
    error_of(read(folder, "\"" + std::string(std::size_t{1} << 25, 'x')));
  CATCH_CHECK(endless.message.find("does not end") != std::string::npos);
}

CATCH_TEST_CASE("what is no table of text is refused by its kind",
                "[partition][import][csv]") {
  temp_folder folder;
  const auto refused = [&folder](const std::string& text) {
    return error_of(read(folder, text)).message;
  };
  using namespace std::string_literals;
  CATCH_CHECK(has(refused("PAR1\x15\x04"), "is a Parquet file"));
  value_of(read(folder, "PAR1,PAR2\n1,2\n"));
  CATCH_CHECK(has(refused("%%MatrixMarket matrix\n3 3 1\n1 2\n"),
                  "is a Matrix Market file"));
  CATCH_CHECK(has(refused("\xff\xfe"s + "a\0,\0b\0"s), "is in UTF-16"));
  CATCH_CHECK(has(refused("\xff\xfe\0\0a\0\0\0"s), "is in UTF-32"));
  CATCH_CHECK(has(refused("\0\0\xfe\xff\0\0\0a"s), "is in UTF-32"));
  CATCH_CHECK(has(refused("a,b\n\0"s), "is no text"));
  CATCH_CHECK(has(refused(gzipped("a,b\n\0"s)), "is no text"));
}

CATCH_TEST_CASE("a byte that is not UTF-8 is named with its row and field",
                "[partition][import][csv]") {
  temp_folder folder;
  const auto refused = [&folder](const std::string& text) {
    return error_of(read(folder, text)).message;
  };
  CATCH_CHECK(has(refused("a,b\n\nc,Z\xfcrich\n"),
                  "t:3: byte 2 of field 2 is 0xfc, which is not UTF-8"));
  CATCH_CHECK(has(refused("\"\xe9\"\n"), "t:1: byte 1 of field 1 is 0xe9"));
  // A sequence that goes over the end of a field is none.
  CATCH_CHECK(has(refused("\xc3,\xbc\n"), "t:1: byte 1 of field 1 is 0xc3"));
  CATCH_CHECK(value_of(read(folder, "Z\xc3\xbcrich,\xe6\x97\xa5\n"))
              == table{{"Z\xc3\xbcrich", "\xe6\x97\xa5"}});
}

CATCH_TEST_CASE("blanks may stand before a quote", "[partition][import][csv]") {
  temp_folder folder;
  CATCH_CHECK(value_of(read(folder, "a, \"b, c\"\n\"d\",\t\"e\"\n x,  y\"z\n"))
              == table{{"a", "b, c"}, {"d", "e"}, {" x", "  y\"z"}});
  CATCH_CHECK(value_of(read(folder, "a;  \"b;c\"\n1;2\n"))
              == table{{"a", "b;c"}, {"1", "2"}});
}
