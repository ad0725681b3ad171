#ifndef RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_
#define RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "ringside/experiments/store/run_row.h"

struct sqlite3;

namespace ringside {

inline constexpr char kIndexFile[] = "index.sqlite";

/// A SQLite table with one row per finished run, for queries in SQL. It is made from the bundles,
/// so it may be deleted at any time. Only the process that holds the directory's lock writes
/// (matrix/directory_lock.h); every process may read. The table uses a rollback journal. A WAL
/// would need memory shared by readers and writer, which network file systems lack. Not
/// thread-safe.
class RunIndex {
 public:
  /// The version of the table's columns and their meaning, stored in `PRAGMA user_version`.
  static constexpr int kVersion = 2;

  /// Opens `directory`/index.sqlite, or creates it. An empty index replaces a damaged one and one
  /// of an older version. Throws `Error` for a file of a newer version or of another program, which
  /// is not changed, and for a file that cannot be opened or written.
  static RunIndex Open(const std::filesystem::path& directory);

  /// Makes the table hold exactly these rows, in one transaction.
  void ReplaceAll(std::span<const RunRow> rows);
  /// Adds a row, or replaces the row of the same path.
  void Put(const RunRow& row);
  void Remove(const std::string& path);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  explicit RunIndex(const std::filesystem::path& file);

  void Create();
  /// Returns false when the file is damaged or older. Throws `Error` when it is newer or not
  /// Ringside's.
  bool IsSound();
  void Execute(const char* sql);
  std::string Pragma(const char* name);
  void Insert(const RunRow& row);
  [[noreturn]] void Fail(const std::string& action) const;

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Closer> database_;
};

/// Makes the index of `directory` match its bundles. Returns the scan of the bundles.
BundleScan RebuildIndex(RunIndex& index, const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_
