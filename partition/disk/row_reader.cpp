#include "partition/disk/row_reader.hpp"

#include "partition/disk/row_file.hpp"
#include "partition/disk/row_reads.hpp"

#include "messages/base/caught.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace graphmill {

/// A request under way. Targets of rows point to it, so it lies in a list,
/// whose elements stay where they are, and knows its place there.
struct row_job {
  std::vector<row_reader::request> wanted;
  std::shared_ptr<const void> owner;
  row_reader::callback done;
  std::size_t item = 0;    ///< Of `wanted`, being looked up,
  std::size_t at = 0;      ///< and the next of its ids.
  std::size_t missing = 0; ///< Rows that wait for a read.
  std::optional<error> failure;
  std::list<row_job>::iterator self;

  bool looked_up() const { return item == wanted.size(); }
};

namespace {

/// Rows that are looked up between two looks at the disk. So many take about as
/// long as a read: with more, the disk would run out of work meanwhile.
constexpr std::size_t rows_at_once = 512;

std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec}
         + std::chrono::nanoseconds{now.tv_nsec};
}

} // namespace

/// All that the thread works on. Requests come in through `arrived_`, which the
/// mutex guards together with `over_`; everything else is the thread's alone.
///
/// A row that is wanted takes one of three ways. It is in the cache, and copied
/// at once. Or it is awaited by somebody, and the request joins those who wait.
/// Or it is fresh, and will be part of a read. Reads are planned when an item
/// of a request has been looked up as a whole, because only then is it known
/// which rows lie near each other.
class row_reader::engine {
public:
  engine(std::shared_ptr<const shard> part, options how,
         std::shared_ptr<disk_counters> counters)
    : part_(std::move(part)), how_(std::move(how)),
      counters_(std::move(counters)) {}
  ~engine();

  result<void> open();
  void ask(row_job job);

private:
  using clock = std::chrono::steady_clock;

  void run();
  bool await_work();
  void serve();
  bool look_up();
  void look_up(row_job& job, const request& item);
  void take(const row_reads::ended& read);
  void give(row_file& file, node_type_id type, std::int64_t row,
            const std::byte* bytes, const error* failure);
  bool hand_over(row_file& file, node_type_id type, std::int64_t row,
                 const std::byte* bytes, float* out, row_job& to);
  void finish_if_whole(row_job& job);
  void answer_all(const error& reason);
  void end_all(const error& reason);

  std::shared_ptr<const shard> part_;
  options how_;
  std::shared_ptr<disk_counters> counters_;

  std::mutex mutex_;
  std::condition_variable come_;
  std::list<row_job> arrived_;
  bool over_ = false;

  std::vector<std::optional<row_file>> files_; ///< By node type.
  std::list<row_job> jobs_;
  std::deque<row_job*> to_look_up_;
  std::optional<row_reads> reads_;
  std::thread thread_;
};

// -- opening

result<void> row_reader::engine::open() {
  try {
    GRAPHMILL_TRY(files_,
                  open_row_files(*part_, how_.cache_bytes, how_.rounded));
    reads_.emplace(files_, how_, counters_);
    thread_ = std::thread{[this] { run(); }};
    ++counters_->readers;
    counters_->room += how_.cache_bytes;
    return ok();
  } catch (const std::bad_alloc&) {
    return fail(ec::out_of_memory,
                "no memory for {} bytes of feature rows: lower --disk-cache",
                how_.cache_bytes);
  } catch (const std::system_error& refused) {
    return fail(ec::unavailable, "cannot start a thread that reads rows: {}",
                refused.what());
  }
}

row_reader::engine::~engine() {
  {
    std::lock_guard lock{mutex_};
    over_ = true;
  }
  come_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void row_reader::engine::ask(row_job job) {
  {
    std::lock_guard lock{mutex_};
    arrived_.push_back(std::move(job));
  }
  come_.notify_one();
}

// -- the thread

void row_reader::engine::run() {
  try {
    while (await_work())
      serve();
    end_all(fail(ec::cancelled, "the reader of feature rows is ending"));
  } catch (const std::bad_alloc&) {
    answer_all(fail(ec::out_of_memory,
                    "no memory to read feature rows: lower --disk-cache or "
                    "budget.bytes"));
  } catch (...) {
    answer_all(caught("read feature rows"));
  }
}

/// The tables may be half written, so nothing is read any more. The thread
/// stays to answer those who do not know that yet.
void row_reader::engine::answer_all(const error& reason) {
  reads_->end();
  for (bool more = true; more;) {
    end_all(reason);
    // Those who came and could not be noted down are answered all the same.
    quietly([this, &more] { more = await_work(); });
  }
  end_all(reason);
}

/// Takes over the requests that have come; waits for one if there are none at
/// all. @returns whether the thread is to go on.
bool row_reader::engine::await_work() {
  std::unique_lock lock{mutex_};
  if (jobs_.empty()) // Bounded by the destructor, which every owner runs.
    come_.wait(lock, [this] { return over_ || !arrived_.empty(); });
  for (auto it = arrived_.begin(); it != arrived_.end(); ++it) {
    it->self = it;
    to_look_up_.push_back(&*it);
  }
  jobs_.splice(jobs_.end(), arrived_);
  return !over_;
}

void row_reader::engine::serve() {
  const auto began = clock::now();
  const auto cpu = thread_time();
  const auto more = look_up();
  reads_->issue();
  const auto reading = reads_->under_way();
  if (reading)
    reads_->collect(!more, [this](const auto& read) { take(read); });
  if (reading)
    counters_->busy_ns += (clock::now() - began).count();
  counters_->cpu_ns += (thread_time() - cpu).count();
}

/// Looks up some rows of the oldest request that has not been looked up as a
/// whole. @returns whether there are more to look up.
bool row_reader::engine::look_up() {
  if (to_look_up_.empty())
    return false;
  auto& next = *to_look_up_.front();
  while (!next.looked_up() && next.at == next.wanted[next.item].ids.size()) {
    reads_->plan(next.wanted[next.item].type);
    ++next.item;
    next.at = 0;
  }
  if (next.looked_up()) {
    to_look_up_.pop_front();
    finish_if_whole(next);
  } else {
    look_up(next, next.wanted[next.item]);
  }
  return !to_look_up_.empty();
}

void row_reader::engine::look_up(row_job& job, const request& item) {
  auto& file = *files_[item.type];
  const auto begin = part_->nodes(item.type).begin;
  const auto width = file.copy.width();
  const auto last = std::min(job.at + rows_at_once, item.ids.size());
  for (auto i = job.at; i < last; ++i)
    file.cache.prefetch(item.ids[i] - begin);
  std::uint64_t found = 0;
  std::uint64_t shared = 0;
  counters_->wanted += last - job.at;
  for (; job.at < last; ++job.at) {
    const auto row = item.ids[job.at] - begin;
    const auto to =
      item.rows.empty() ? job.at : static_cast<std::size_t>(item.rows[job.at]);
    auto* out = item.out + to * width;
    if (const auto* bytes = file.cache.find(row)) {
      ++found;
      hand_over(file, item.type, row, bytes, out, job);
      continue;
    }
    auto& targets = file.awaited[row];
    targets.push_back({&job, out});
    ++job.missing;
    if (targets.size() == 1)
      file.fresh.push_back(row);
    else
      ++shared;
  }
  counters_->found += found;
  counters_->shared += shared;
}

void row_reader::engine::take(const row_reads::ended& read) {
  for (const auto row : read.stretch.rows)
    give(read.of, read.type, row,
         read.bytes + (read.of.layout.offset_of(row) - read.stretch.offset),
         read.failure);
}

/// Gives a row that has been read, or the error why it could not be, to all who
/// wait for it. A row with values that cannot be used is not kept in the cache,
/// so that every request that wants it fails by it.
void row_reader::engine::give(row_file& file, node_type_id type,
                              std::int64_t row, const std::byte* bytes,
                              const error* failure) {
  const auto targets = std::move(file.awaited.extract(row).mapped());
  auto good = failure == nullptr;
  for (const auto& [to, out] : targets) {
    if (failure == nullptr)
      good &= hand_over(file, type, row, bytes, out, *to);
    else if (!to->failure)
      to->failure = *failure;
    --to->missing;
    finish_if_whole(*to);
  }
  if (!good)
    return;
  const auto before = file.cache.size();
  file.cache.put(row, bytes);
  counters_->kept += (file.cache.size() - before)
                     * (file.layout.row_bytes + sieve_cache::bytes_per_row);
}

bool row_reader::engine::hand_over(row_file& file, node_type_id type,
                                   std::int64_t row, const std::byte* bytes,
                                   float* out, row_job& to) {
  if (file.copy(bytes, out))
    return true;
  const auto& nodes = part_->nodes(type);
  if (!to.failure)
    to.failure = bad_feature_row(part_->info().node_types[type],
                                 nodes.original(nodes.begin + row), bytes);
  return false;
}

void row_reader::engine::finish_if_whole(row_job& job) {
  if (!job.looked_up() || job.missing != 0)
    return;
  const auto at = job.self;
  job.done(job.failure ? result<void>{*job.failure} : ok());
  jobs_.erase(at);
}

/// Answers all requests with an error. First it waits until nothing is written
/// to their targets any more, which may be freed as soon as they are answered.
void row_reader::engine::end_all(const error& reason) {
  reads_->end();
  std::list<row_job> open;
  {
    std::lock_guard lock{mutex_};
    open.splice(open.end(), arrived_);
  }
  open.splice(open.begin(), jobs_);
  to_look_up_.clear();
  for (auto& unanswered : open) // Nobody's answer depends on another one's.
    quietly([&unanswered, &reason] { unanswered.done(reason); });
}

// -- the outside

row_reader::row_reader(std::unique_ptr<engine> work)
  : engine_(std::move(work)) {}

row_reader::~row_reader() = default;

result<std::shared_ptr<row_reader>>
row_reader::start(std::shared_ptr<const shard> part, options how,
                  std::shared_ptr<disk_counters> counters) {
  auto work = std::make_unique<engine>(std::move(part), std::move(how),
                                       std::move(counters));
  GRAPHMILL_TRYV(work->open());
  return std::shared_ptr<row_reader>{new row_reader{std::move(work)}};
}

void row_reader::read(std::vector<request> wanted,
                      std::shared_ptr<const void> owner, callback done) {
  row_job job;
  job.wanted = std::move(wanted);
  job.owner = std::move(owner);
  job.done = std::move(done);
  engine_->ask(std::move(job));
}

} // namespace graphmill
