#pragma once

#include "messages/base/error.hpp"
#include "partition/files/file_io.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// Rows of a file that some table rejects, by the numbers of their lines.
struct rejected_lines {
  std::vector<bool> any;
  std::vector<bool> whole; ///< As a whole.
};

/// Which rows one table leaves out of a file. Other tables of the same file
/// read them.
struct left_out_lines {
  /// By the number of the line where a row begins; those behind the end are
  /// not left out.
  std::vector<bool> lines;
  rejected_lines* rejected = nullptr; ///< Of the file.
};

/// Collects what is wrong with the rows of tables, so that one import reports
/// all of it. Each row with an error is rejected, which makes the import fail,
/// unless the user allows a number of them; then later passes of the table over
/// its file leave the row out, and it is written to a file. A row counts once,
/// also if several tables reject it, and as many times as it covers lines. A
/// row that is wrong as a whole is always left out, so that its error is told
/// once; of others, each pass is to check cells that no other one does. Not
/// thread-safe.
class row_errors {
public:
  /// Rows may not be rejected.
  row_errors() = default;

  /// @param most_skipped How many rows may be rejected. With 0, the import
  /// fails because of the first one.
  /// @param rejects The file that they are written to; made for the first one.
  /// @param stop Set it to end reading; may be null, and outlives this.
  row_errors(std::int64_t most_skipped, std::filesystem::path rejects,
             const std::atomic<bool>* stop = nullptr)
    : most_skipped_(most_skipped), rejects_(std::move(rejects)), stop_(stop) {}

  /// Whether reading is to end before the next row.
  bool is_stopped() const {
    return stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  }

  /// Rejects the row that a reader is at.
  /// @param out Of the table and the file that are read.
  /// @param column For people; empty: the whole row is wrong.
  /// @param wrong Names the file and the line. Only `invalid_data` is about a
  /// row; any other code is returned at once.
  /// @returns an error with all that is known if reading cannot go on: too many
  /// rows are rejected, or their file cannot be written.
  result<void> add(const csv_reader& rows, left_out_lines& out,
                   std::string_view column, const error& wrong);

  /// Which rows of a file the table leaves out. Valid as long as this, and
  /// changed by `add`. Fails if the file is not there.
  result<left_out_lines*> left_out(const csv_table& table,
                                   const std::filesystem::path& file);

  /// Whether the user allows that rows are left out.
  bool skips() const { return most_skipped_ > 0; }

  std::int64_t rejected_rows() const { return rows_; }

  /// Whether there are errors and no row may be left out.
  bool failed() const { return errors_ > 0 && !skips(); }

  /// Fails if that is so, with all errors as one.
  result<void> finish() const;

  /// All errors as one, with `last`, which ended the import, behind them.
  error with(const error& last) const;

private:
  result<void> write(const csv_reader& rows, std::string_view column,
                     std::string_view sentence);
  error all(std::string_view last) const;
  void tell(std::string sentence);
  std::string sentences() const;

  /// Errors whose sentences differ in numbers and quoted texts alone.
  struct error_kind {
    std::int64_t errors = 0;
    std::vector<std::string> first; ///< Sentences, in the order of reading.
  };

  std::int64_t most_skipped_ = 0;
  std::filesystem::path rejects_;
  const std::atomic<bool>* stop_ = nullptr;
  unique_fd rejects_file_;
  /// By device and inode: paths may lead to the same file.
  std::map<std::pair<std::uint64_t, std::uint64_t>, rejected_lines> files_;
  /// By the type of the table.
  std::map<std::pair<std::string, std::filesystem::path>, left_out_lines>
    left_out_;
  std::vector<std::string> first_; ///< Sentences, in the order of reading.
  std::vector<std::pair<std::string, error_kind>> kinds_; ///< Likewise.
  std::int64_t errors_ = 0;
  std::int64_t rows_ = 0;
};

} // namespace graphmill
