#include "actors/base/compute_thread.hpp"

#include "tests/support/catch.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <new>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace graphmill::test {

namespace {

/// Of jobs that do not throw.
void none(const error& reason) {
  throw std::runtime_error(reason.message);
}

} // namespace

CATCH_TEST_CASE("a compute thread runs jobs in order on a thread of its own",
                "[lane]") {
  std::vector<int> ran;
  std::thread::id where;
  std::promise<void> done;
  compute_thread thread;
  for (int i = 0; i < 100; ++i)
    thread.post([&ran, i] { ran.push_back(i); }, none);
  thread.post(
    [&where, &done] {
      where = std::this_thread::get_id();
      done.set_value();
    },
    none);
  done.get_future().wait();
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  CATCH_CHECK(ran == expected);
  CATCH_CHECK(where != std::this_thread::get_id());
}

CATCH_TEST_CASE(
  "a compute thread that ends finishes its job and drops the others",
  "[lane]") {
  std::promise<void> begun, may_end;
  std::atomic<bool> first{false}, second{false};
  auto kept = std::make_shared<int>(1);
  std::thread helper;
  {
    compute_thread thread;
    thread.post(
      [&begun, &first, wait = may_end.get_future().share()] {
        begun.set_value();
        wait.wait();
        first = true;
      },
      none);
    thread.post([&second, kept] { second = true; }, none);
    begun.get_future().wait();
    CATCH_CHECK(kept.use_count() == 2);
    // The thread's end lets go of the second job before it waits for the first.
    helper = std::thread{[&may_end, &kept] {
      while (kept.use_count() > 1)
        std::this_thread::yield();
      may_end.set_value();
    }};
  }
  helper.join();
  CATCH_CHECK(first);
  CATCH_CHECK_FALSE(second);
}

CATCH_TEST_CASE("several threads may post to a compute thread", "[lane]") {
  constexpr int posters = 4, each = 500;
  int count = 0; // Not atomic: only the thread touches it.
  std::promise<int> total;
  compute_thread thread;
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < posters; ++t)
      threads.emplace_back([&thread, &count] {
        for (int i = 0; i < each; ++i)
          thread.post([&count] { ++count; }, none);
      });
    for (auto& thread : threads)
      thread.join();
  }
  thread.post([&count, &total] { total.set_value(count); }, none);
  CATCH_CHECK(total.get_future().get() == posters * each);
}

CATCH_TEST_CASE("a job may post the next one", "[lane]") {
  std::promise<void> done;
  compute_thread thread;
  thread.post(
    [&thread, &done] { thread.post([&done] { done.set_value(); }, none); },
    none);
  done.get_future().wait();
}

CATCH_TEST_CASE("a job that throws tells why, and the thread goes on",
                "[lane]") {
  std::vector<error> told;
  std::promise<void> done;
  compute_thread thread;
  const auto tell = [&told](const error& reason) { told.push_back(reason); };
  thread.post([] { throw std::runtime_error("the disk is gone"); }, tell);
  thread.post([] { throw std::bad_alloc{}; }, tell);
  thread.post([] { throw 42; }, tell);
  thread.post(
    [] {
      throw std::filesystem::filesystem_error{
        "status", std::make_error_code(std::errc::no_space_on_device)};
    },
    tell);
  thread.post([&done] { done.set_value(); }, none);
  done.get_future().wait();
  CATCH_REQUIRE(told.size() == 4);
  CATCH_CHECK(told[0].message == "cannot finish a job: the disk is gone");
  CATCH_CHECK(told[1].code == ec::out_of_memory);
  CATCH_CHECK(told[2].code == ec::internal);
  CATCH_CHECK(told[3].code == ec::no_space);
}

} // namespace graphmill::test
