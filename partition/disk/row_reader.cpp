#include "partition/disk/row_reader.hpp"

#include "partition/disk/row_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <list>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace graphmill {

/// A request under way.
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

constexpr std::size_t most_read_bytes = std::size_t{64} << 10;
constexpr std::size_t row_alignment =
  4096; ///< Alignment of memory, of every file.

/// Rows looked up between two looks at the disk, whose reads take about as long
/// to come back.
constexpr std::size_t rows_at_once = 512;

/// How often a read that was interrupted or came short is begun again.
constexpr int most_attempts = 8;

struct free_memory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

/// A read of the plan and where it goes to.
struct planned_read {
  row_file* of = nullptr;
  node_type_id type = 0;
  row_read what;
  int attempts = 0;
};

std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec}
         + std::chrono::nanoseconds{now.tv_nsec};
}

} // namespace

/// All that the thread works on. Requests come in through `arrived_`; the rest
/// is the thread's alone.
class row_reader::engine {
public:
  engine(std::shared_ptr<const shard> part, options how,
         std::shared_ptr<disk_counters> counters)
    : part_(std::move(part)), how_(std::move(how)),
      counters_(std::move(counters)) {}
  ~engine();

  result<void> open();
  void ask(row_job what);

private:
  using clock = std::chrono::steady_clock;

  void run();
  bool await_work();
  void serve();
  bool look_up();
  void look_up(row_job& what, const request& item);
  void plan(node_type_id type);
  void issue();
  void begin(std::size_t slot);
  void collect(bool wait);
  void take(std::size_t slot, std::int64_t bytes);
  std::optional<error> judge(const planned_read& read, std::int64_t bytes,
                             bool& again) const;
  void give(row_file& file, node_type_id type, std::int64_t row,
            const std::byte* bytes, const error* failure);
  bool hand_over(row_file& file, node_type_id type, std::int64_t row,
                 const std::byte* bytes, float* out, row_job& to);
  void finish_if_whole(row_job& what);
  void end_all(const error& why);

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
  std::deque<planned_read> planned_;
  std::size_t read_bytes_ = most_read_bytes;
  std::vector<planned_read> slots_; ///< Under way, by place of their memory.
  std::vector<std::uint32_t> free_slots_;
  std::vector<block_reads::outcome> outcomes_;
  std::unique_ptr<std::byte, free_memory> memory_;
  /// After the memory: whoever reads into it goes first.
  std::unique_ptr<block_reads> reads_;
  std::thread thread_;
};

// -- opening

result<void> row_reader::engine::open() {
  try {
    TRY(files_, open_row_files(*part_, how_.cache_bytes, how_.rounded));
    for (const auto& file : files_)
      if (file)
        read_bytes_ =
          std::max(read_bytes_, row_layout::bytes_for(file->layout.row_bytes,
                                                      file->layout.alignment));
    read_bytes_ =
      (read_bytes_ + row_alignment - 1) / row_alignment * row_alignment;
    const auto depth = static_cast<unsigned>(
      std::clamp<std::uint64_t>(buffer_bytes / read_bytes_, 1, how_.depth));
    memory_.reset(static_cast<std::byte*>(
      std::aligned_alloc(row_alignment, depth * read_bytes_)));
    if (!memory_)
      throw std::bad_alloc{};
    slots_.resize(depth);
    for (unsigned i = depth; i > 0; --i)
      free_slots_.push_back(i - 1);
    for (auto& file : files_)
      if (file)
        file->layout.most_bytes = read_bytes_;
    reads_ = how_.reads ? how_.reads(depth) : ring_reads(depth);
    if (!reads_)
      reads_ = pooled_reads(depth);
    thread_ = std::thread{[this] { run(); }};
    ++counters_->readers;
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

void row_reader::engine::ask(row_job what) {
  {
    std::lock_guard lock{mutex_};
    arrived_.push_back(std::move(what));
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
    const auto why = fail(ec::out_of_memory,
                          "no memory to read feature rows: lower --disk-cache "
                          "or budget.bytes");
    reads_.reset(); // Nothing is written to the targets any more.
    do
      end_all(why);
    while (await_work());
    end_all(why);
  }
}

/// Waits for requests if nothing is under way; false: it is time to end.
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
  issue();
  const auto reading = free_slots_.size() != slots_.size();
  if (reading)
    collect(!more);
  if (reading)
    counters_->busy_ns += (clock::now() - began).count();
  counters_->cpu_ns += (thread_time() - cpu).count();
}

/// Looks up some rows of the oldest request that has not been.
/// @returns whether there are more to look up.
bool row_reader::engine::look_up() {
  if (to_look_up_.empty())
    return false;
  auto& what = *to_look_up_.front();
  while (!what.looked_up() && what.at == what.wanted[what.item].ids.size()) {
    plan(what.wanted[what.item].type);
    ++what.item;
    what.at = 0;
  }
  if (what.looked_up()) {
    to_look_up_.pop_front();
    finish_if_whole(what);
  } else {
    look_up(what, what.wanted[what.item]);
  }
  return !to_look_up_.empty();
}

void row_reader::engine::look_up(row_job& what, const request& item) {
  auto& file = *files_[item.type];
  const auto begin = part_->nodes(item.type).begin;
  const auto width = file.copy.width();
  const auto last = std::min(what.at + rows_at_once, item.ids.size());
  for (auto i = what.at; i < last; ++i)
    file.cache.prefetch(item.ids[i] - begin);
  std::uint64_t found = 0;
  std::uint64_t shared = 0;
  counters_->wanted += last - what.at;
  for (; what.at < last; ++what.at) {
    const auto row = item.ids[what.at] - begin;
    const auto to = item.rows.empty()
                      ? what.at
                      : static_cast<std::size_t>(item.rows[what.at]);
    auto* out = item.out + to * width;
    if (const auto* bytes = file.cache.find(row)) {
      ++found;
      hand_over(file, item.type, row, bytes, out, what);
      continue;
    }
    auto& targets = file.awaited[row];
    targets.push_back({&what, out});
    ++what.missing;
    if (targets.size() == 1)
      file.fresh.push_back(row);
    else
      ++shared;
  }
  counters_->found += found;
  counters_->shared += shared;
}

/// Cuts the rows that were not found into reads.
void row_reader::engine::plan(node_type_id type) {
  auto& file = *files_[type];
  std::sort(file.fresh.begin(), file.fresh.end());
  for (auto& read : plan_reads(file.layout, file.fresh))
    planned_.push_back({&file, type, std::move(read), 0});
  file.fresh.clear();
}

void row_reader::engine::issue() {
  while (!free_slots_.empty() && !planned_.empty()) {
    const auto slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = std::move(planned_.front());
    planned_.pop_front();
    begin(slot);
  }
}

void row_reader::engine::begin(std::size_t slot) {
  auto& read = slots_[slot];
  ++read.attempts;
  reads_->begin({read.of->file.fd(), read.what.offset,
                 memory_.get() + slot * read_bytes_, read.what.size,
                 static_cast<std::uint32_t>(slot)});
}

void row_reader::engine::collect(bool wait) {
  outcomes_.clear();
  reads_->collect(wait, outcomes_);
  for (const auto& outcome : outcomes_)
    take(outcome.tag, outcome.bytes);
}

/// What is wrong with the outcome of a read, if it is.
/// @param again Set if it should be begun again.
std::optional<error> row_reader::engine::judge(const planned_read& read,
                                               std::int64_t bytes,
                                               bool& again) const {
  const auto& path = read.of->file.path().string();
  again = read.attempts < most_attempts
          && (bytes >= 0 || bytes == -EINTR || bytes == -EAGAIN);
  if (bytes < 0)
    return fail_errno(static_cast<int>(-bytes),
                      "cannot read {} bytes of {} from byte {} on",
                      read.what.size, path, read.what.offset);
  if (read.what.offset + static_cast<std::uint64_t>(bytes) >= read.what.end)
    return std::nullopt;
  if (auto size = read.of->file.size(); !size || size.value() < read.what.end) {
    again = false;
    return fail(ec::io,
                "{} was shortened while it was in use; leave the files of a "
                "dataset alone while something runs on it, prepare it again, "
                "and run again",
                path);
  }
  return fail(ec::io, "reads of {} from byte {} on keep coming short", path,
              read.what.offset);
}

void row_reader::engine::take(std::size_t slot, std::int64_t bytes) {
  auto again = false;
  const auto failure = judge(slots_[slot], bytes, again);
  if (failure && again) {
    begin(slot);
    return;
  }
  const auto read = std::move(slots_[slot]);
  free_slots_.push_back(static_cast<std::uint32_t>(slot));
  ++counters_->reads;
  counters_->bytes += read.what.size;
  counters_->rows += read.what.rows.size();
  const auto* memory = memory_.get() + slot * read_bytes_;
  for (const auto row : read.what.rows)
    give(*read.of, read.type, row,
         memory + (read.of->layout.offset_of(row) - read.what.offset),
         failure ? &*failure : nullptr);
}

/// A row has been read, or could not be: to all who wait for it.
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
  if (good)
    file.cache.put(row, bytes);
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

void row_reader::engine::finish_if_whole(row_job& what) {
  if (!what.looked_up() || what.missing != 0)
    return;
  const auto at = what.self;
  what.done(what.failure ? result<void>{*what.failure} : ok());
  jobs_.erase(at);
}

/// Answers all requests, once nothing is written to their targets any more.
void row_reader::engine::end_all(const error& why) {
  reads_.reset();
  std::list<row_job> open;
  {
    std::lock_guard lock{mutex_};
    open.splice(open.end(), arrived_);
  }
  open.splice(open.begin(), jobs_);
  to_look_up_.clear();
  for (auto& what : open)
    what.done(why);
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
  TRYV(work->open());
  return std::shared_ptr<row_reader>{new row_reader{std::move(work)}};
}

void row_reader::read(std::vector<request> wanted,
                      std::shared_ptr<const void> owner, callback done) {
  row_job what;
  what.wanted = std::move(wanted);
  what.owner = std::move(owner);
  what.done = std::move(done);
  engine_->ask(std::move(what));
}

} // namespace graphmill
