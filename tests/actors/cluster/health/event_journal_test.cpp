#include "actors/cluster/health/event_journal.hpp"

#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <sys/stat.h>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// A journal, and what it has complained of.
struct noted_events {
  explicit noted_events(const std::filesystem::path& folder,
                        const std::string& cluster = "c")
    : journal(folder, cluster,
              [this](const std::string& line) { complaints.push_back(line); }) {
  }

  std::vector<std::string> complaints; ///< By its thread or ours, in turn.
  event_journal journal;
};

cluster_event event_at(std::uint64_t seq, std::string text) {
  return {seq,
          unix_time{1'700'000'000'123},
          event_kind::lost,
          "d1",
          "run-1",
          std::move(text)};
}

std::vector<std::string> texts_in(const std::vector<cluster_event>& events) {
  std::vector<std::string> out;
  for (const auto& event : events)
    out.push_back(event.text);
  return out;
}

using texts = std::vector<std::string>;

} // namespace

CATCH_TEST_CASE("events are read back as they were", "[event_journal]") {
  const temp_folder folder;
  auto told = event_at(1ULL << 32, "a\"\n\x1b[2J\xc3\xa4{}");
  {
    noted_events events{folder.path()};
    CATCH_CHECK(events.journal.former(7).events.empty());
    for (auto number = 0; number <= int(event_kind::warning); ++number) {
      told.kind = event_kind(number);
      events.journal.add(told);
      ++told.seq;
    }
  }
  noted_events after{folder.path()};
  const auto [events, damage] = after.journal.former(2ULL << 32);
  CATCH_CHECK(damage.empty());
  CATCH_CHECK(after.complaints.empty());
  CATCH_REQUIRE(events.size() == std::size_t(event_kind::warning) + 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CATCH_CHECK(events[i].seq == (1ULL << 32) + i);
    CATCH_CHECK(events[i].kind == event_kind(i));
    CATCH_CHECK(events[i].time == told.time);
    CATCH_CHECK(events[i].who == "d1");
    CATCH_CHECK(events[i].run == "run-1");
    CATCH_CHECK(events[i].text == told.text);
  }
  CATCH_CHECK(after.journal.former((1ULL << 32) + 2).events.size() == 2);
  struct stat about {};
  CATCH_REQUIRE(::stat((folder / "events.jsonl").c_str(), &about) == 0);
  CATCH_CHECK((about.st_mode & 077) == 0);
}

CATCH_TEST_CASE("a coordinator is told of no more events than it remembers",
                "[event_journal]") {
  const temp_folder folder;
  const auto all = 12'000U;
  for (auto seq = 0U; seq < all;) { // Not more at once than may wait.
    noted_events events{folder.path()};
    do
      events.journal.add(event_at(seq, std::string(250, 'x')));
    while (++seq % 3000 != 0);
  }
  CATCH_CHECK(std::filesystem::file_size(folder / "events.jsonl")
              <= event_journal::file_bytes);
  CATCH_CHECK(std::filesystem::file_size(folder / "events.jsonl.old")
              <= event_journal::file_bytes);
  noted_events after{folder.path()};
  const auto events = after.journal.former(all).events;
  CATCH_REQUIRE(events.size() == event_ring::most);
  CATCH_CHECK(events.front().seq == all - event_ring::most);
  CATCH_CHECK(events.back().seq == all - 1);
}

CATCH_TEST_CASE("what is no event is left out, and told", "[event_journal]") {
  const temp_folder folder;
  {
    noted_events events{folder.path()};
    for (const auto* text : {"first", "second", "third"})
      events.journal.add(event_at(std::uint64_t(text[0]), text));
  }
  const auto file = folder / "events.jsonl";
  const auto whole = value_of(read_text(file, 10'000));
  noted_events events{folder.path()};
  CATCH_SECTION("the end is missing") {
    value_of(write_text(file, whole.substr(0, whole.size() - 3)));
    const auto [read, damage] = events.journal.former(1000);
    CATCH_CHECK(texts_in(read) == texts{"first", "second"});
    CATCH_REQUIRE(damage.size() == 1);
    CATCH_CHECK_THAT(damage[0],
                     contains("1 line of ") && contains("is no event"));
    {
      noted_events next{folder.path()};
      next.journal.add(event_at(500, "next"));
    }
    CATCH_CHECK(texts_in(events.journal.former(1000).events)
                == texts{"first", "second", "next"});
  }
  CATCH_SECTION("any bit is another one") {
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      auto damaged = whole;
      damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << bit % 8));
      value_of(write_text(file, damaged));
      const auto read = events.journal.former(1000).events;
      // All but one or two, if that is a line's end; in one a text may differ.
      CATCH_REQUIRE(read.size() <= 3);
      CATCH_REQUIRE(std::ranges::count_if(read,
                                          [](const auto& event) {
                                            return event.text == "first"
                                                   || event.text == "second"
                                                   || event.text == "third";
                                          })
                    >= 1);
    }
  }
  CATCH_SECTION("other values") {
    value_of(write_text(
      file,
      whole + "\n[]\n7\n{}\n{\"missing\":5}\nnull\n"
        + R"({"seq":-1,"time":1,"kind":"lost","who":"","run":"","text":""})"
        + '\n'
        + R"({"seq":1,"time":1e300,"kind":"lost","who":"","run":"","text":""})"
        + '\n'
        + R"({"seq":1,"time":1,"kind":"found","who":"","run":"","text":""})"
        + '\n'
        + R"({"seq":1,"time":1,"kind":"lost","who":[],"run":"","text":""})"
        + '\n' + std::string(100'000, '[') + '\n'));
    const auto [read, damage] = events.journal.former(1000);
    CATCH_CHECK(read.size() == 3);
    CATCH_REQUIRE(damage.size() == 1);
    CATCH_CHECK_THAT(damage[0], contains("10 lines of "));
  }
  CATCH_SECTION("the file is no file of ours") {
    std::filesystem::resize_file(file, 100 * event_journal::file_bytes);
    const auto [read, damage] = events.journal.former(1000);
    CATCH_CHECK(read.empty());
    CATCH_CHECK(damage.size() == 1);
  }
  CATCH_SECTION("it cannot be read") {
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    const auto [read, damage] = events.journal.former(1000);
    CATCH_CHECK(read.empty());
    CATCH_CHECK(damage.size() == 1);
  }
}

CATCH_TEST_CASE("events that could not be written are told as missing",
                "[event_journal]") {
  const temp_folder folder;
  {
    noted_events all{folder.path()};
    all.journal.add(event_at(5, "before"));
    for (const auto seq : {9, 10})
      all.journal.add(event_at(std::uint64_t(seq), "after"));
  }
  const auto file = folder / "events.jsonl";
  std::istringstream whole{value_of(read_text(file, 10'000))};
  std::vector<std::string> lines;
  for (std::string line; std::getline(whole, line);)
    lines.push_back(line + '\n');
  CATCH_REQUIRE(lines.size() == 3);
  const auto is_lacking = [](const cluster_event& event, const char* many) {
    return event.kind == event_kind::warning && event.run.empty()
           && event.text.starts_with(many);
  };
  const noted_events events{folder.path()};
  CATCH_SECTION("in between") {
    value_of(
      write_text(file, lines[0] + "{\"missing\":3}\n" + lines[1] + lines[2]));
    const auto read = events.journal.former(1000).events;
    CATCH_REQUIRE(read.size() == 4);
    CATCH_CHECK(read[1].seq == 8);
    CATCH_CHECK(is_lacking(read[1], "3 events before this "));
    CATCH_CHECK(read[2].text == "after");
  }
  CATCH_SECTION("at the begin and at the end") {
    value_of(write_text(file, "{\"missing\":1}\n" + lines[0] + lines[1]
                                + "{\"missing\":1}\n"));
    const auto read = events.journal.former(1000).events;
    CATCH_REQUIRE(read.size() == 3);
    CATCH_CHECK(read[0].seq == 4);
    CATCH_CHECK(is_lacking(read[0], "1 event before this "));
  }
  CATCH_SECTION("none, by their numbers") {
    value_of(
      write_text(file, lines[0] + lines[1] + "{\"missing\":1}\n" + lines[2]));
    CATCH_CHECK(texts_in(events.journal.former(1000).events)
                == texts{"before", "after", "after"});
  }
}

CATCH_TEST_CASE("events of two that wrote at once are put in order",
                "[event_journal]") {
  const temp_folder folder;
  noted_events reader{folder.path()};
  {
    noted_events late{folder.path()};
    noted_events next{folder.path()};
    next.journal.add(event_at(100, "next"));
    late.journal.add(event_at(5, "late"));
    next.journal.add(event_at(101, "last"));
  }
  CATCH_CHECK(texts_in(reader.journal.former(200).events)
              == texts{"late", "next", "last"});
  CATCH_CHECK(texts_in(reader.journal.former(101).events)
              == texts{"late", "next"});
}

CATCH_TEST_CASE("events of another cluster are not told", "[event_journal]") {
  const temp_folder folder;
  {
    noted_events other{folder.path(), "other"};
    for (const auto seq : {5, 6, 7})
      other.journal.add(event_at(std::uint64_t(seq), "other"));
  }
  {
    noted_events anew{folder.path()};
    CATCH_CHECK(anew.journal.former(5).events.empty());
    anew.journal.add(event_at(5, "anew"));
  }
  noted_events after{folder.path()};
  const auto [told, damage] = after.journal.former(100);
  CATCH_CHECK(texts_in(told) == texts{"anew"});
  CATCH_CHECK(damage.empty());
}
