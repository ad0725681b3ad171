#ifndef RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_
#define RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "experiments/store/run_row.h"

struct sqlite3;

namespace ringside {

inline constexpr char kIndexFile[] = "index.sqlite";

/// A SQLite table of one row per finished run, for those who want to ask with SQL. The bundles are
/// the truth and this is made from them: it may be deleted at any time. Only the process that holds
/// the directory's lock writes (matrix/directory_lock.h); anybody may read. A rollback journal, no
/// WAL: that one needs memory shared between readers and writer, which network file systems lack.
/// Not thread-safe.
class RunIndex {
 public:
  /// Of the table's columns and their meaning, in `PRAGMA user_version`.
  static constexpr int kVersion = 1;

  /// Opens `directory`/index.sqlite, or creates it. A damaged one is replaced by an empty one. One
  /// of a newer version or of another program is left as it is and refused with `Error`; so is what
  /// cannot be opened or written.
  static RunIndex Open(const std::filesystem::path& directory);

  /// Makes the table hold exactly these rows, in one transaction.
  void ReplaceAll(std::span<const RunRow> rows);
  /// Adds a row, or replaces that of the same path.
  void Put(const RunRow& row);
  void Remove(const std::string& path);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  explicit RunIndex(const std::filesystem::path& file);

  void Create();
  /// Throws `Error` on what is not ours or newer; false where the file is damaged.
  bool IsSound();
  void Execute(const char* sql);
  std::string Pragma(const char* name);
  void Insert(const RunRow& row);
  [[noreturn]] void Fail(const std::string& action) const;

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Closer> database_;
};

/// Brings the index of `directory` up to what its bundles say, and returns that.
BundleScan RebuildIndex(RunIndex& index, const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STORE_RUN_INDEX_H_
