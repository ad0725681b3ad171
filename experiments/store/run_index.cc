#include "ringside/experiments/store/run_index.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <functional>
#include <string_view>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

// "RSIX" in the file's header marks an index of Ringside.
constexpr std::string_view kApplication = "1381189976";
constexpr int kBusyMs = 10'000;
// In KiB. Rows are written one after the other and not read again. SQLite's default, 2 MB, would
// let the runner of a long matrix grow.
constexpr char kLimitCache[] = "PRAGMA cache_size = -256";

/// One prepared statement; parameters are counted from 1.
class Statement {
 public:
  using FailFunction = std::function<void(const std::string&)>;
  Statement(sqlite3* database, const std::string& sql, FailFunction fail) : fail_(std::move(fail)) {
    if (::sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
      fail_("prepare");
    }
  }
  ~Statement() { ::sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void Bind(int parameter, const nlohmann::json& value) {
    int rc = SQLITE_OK;
    if (value.is_string()) {
      const auto text = value.get<std::string>();
      rc = ::sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8);
    } else if (value.is_number_float()) {
      rc = ::sqlite3_bind_double(statement_, parameter, value.get<double>());
    } else if (value.is_number()) {
      rc = ::sqlite3_bind_int64(statement_, parameter, value.get<std::int64_t>());
    } else {
      rc = ::sqlite3_bind_null(statement_, parameter);
    }
    if (rc != SQLITE_OK) fail_("bind a value");
  }
  /// Whether there is a row.
  bool Step() {
    const int rc = ::sqlite3_step(statement_);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) fail_("write");
    return rc == SQLITE_ROW;
  }
  std::string Text(int column) const {
    const unsigned char* text = ::sqlite3_column_text(statement_, column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
  }

 private:
  FailFunction fail_;
  sqlite3_stmt* statement_ = nullptr;
};

const char* TypeName(RunColumn::Type type) {
  switch (type) {
    case RunColumn::Type::kText:
      return "TEXT";
    case RunColumn::Type::kInteger:
      return "INTEGER";
    case RunColumn::Type::kReal:
      return "REAL";
  }
  return "TEXT";
}

// The SQL contains only the table's own names, never a value.
std::string TextOfCreateTable() {
  std::string sql = "CREATE TABLE runs (path TEXT PRIMARY KEY, spec TEXT NOT NULL";
  for (const RunColumn& column : RunColumns()) {
    sql += fmt::format(", {} {}", column.name, TypeName(column.type));
  }
  return sql + ") STRICT";
}

std::string TextOfInsertRow() {
  std::string names = "path, spec";
  std::string marks = "?, ?";
  for (const RunColumn& column : RunColumns()) {
    names += fmt::format(", {}", column.name);
    marks += ", ?";
  }
  return fmt::format("INSERT OR REPLACE INTO runs ({}) VALUES ({})", names, marks);
}

const std::string& CreateTable() {
  static const std::string text = TextOfCreateTable();
  return text;
}

const std::string& InsertRow() {
  static const std::string text = TextOfInsertRow();
  return text;
}

}  // namespace

void RunIndex::Closer::operator()(sqlite3* database) const { ::sqlite3_close(database); }

RunIndex::RunIndex(const fs::path& file) : file_(file) {
  // Throws if a link would lead root elsewhere. SQLite opens by name, so a link that is put there
  // between the two calls is not seen, unless it is the file itself.
  static_cast<void>(FindTrustedPlace(file.string()));
  const fs::path place = fs::canonical(fs::absolute(file).parent_path()) / file.filename();
  sqlite3* database = nullptr;
  const int rc =
      ::sqlite3_open_v2(place.c_str(), &database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nullptr);
  database_.reset(database);
  if (rc != SQLITE_OK) Fail("open");
  ::sqlite3_busy_timeout(database, kBusyMs);
}

RunIndex RunIndex::Open(const fs::path& directory) {
  const fs::path file = directory / kIndexFile;
  RunIndex index(file);
  if (index.IsSound()) {
    index.Execute(kLimitCache);
    return index;
  }
  index.database_.reset();
  RemoveFile(file.string());
  RemoveFile(file.string() + "-journal");
  RunIndex fresh(file);
  fresh.Create();
  fresh.Execute(kLimitCache);
  return fresh;
}

bool RunIndex::IsSound() {
  std::string version;
  try {
    version = Pragma("user_version");
    if (Pragma("schema_version") == "0") {
      Create();
      return true;
    }
    if (version != "0" && Pragma("application_id") == kApplication &&
        std::stoi(version) <= kVersion) {
      // An older table has other columns.
      return std::stoi(version) == kVersion && Pragma("quick_check") == "ok";
    }
  } catch (const Error&) {
    const int code = ::sqlite3_errcode(database_.get());
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) return false;
    throw;
  }
  if (Pragma("application_id") != kApplication) {
    throw Error(file_.string() +
                ": is a database of another program, not Ringside's index; it was "
                "not changed");
  }
  throw Error(fmt::format(
      "{}: is an index of version {}, this build knows {}; update Ringside, or delete the file: "
      "'ringside index' makes a new one from the bundles",
      file_.string(), version, kVersion));
}

void RunIndex::Create() {
  Execute("BEGIN IMMEDIATE");
  Execute(CreateTable().c_str());
  Execute("CREATE INDEX runs_by_id ON runs (run_id)");
  Execute(("PRAGMA application_id = " + std::string(kApplication)).c_str());
  Execute(fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  Execute("COMMIT");
}

void RunIndex::ReplaceAll(std::span<const RunRow> rows) {
  Execute("BEGIN IMMEDIATE");
  try {
    Execute("DELETE FROM runs");
    for (const RunRow& row : rows) Insert(row);
    Execute("COMMIT");
  } catch (...) {
    ::sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

void RunIndex::Put(const RunRow& row) { Insert(row); }

void RunIndex::Remove(const std::string& path) {
  Statement statement(database_.get(), "DELETE FROM runs WHERE path = ?",
                      [this](const std::string& action) { Fail(action); });
  statement.Bind(1, path);
  statement.Step();
}

void RunIndex::Insert(const RunRow& row) {
  Statement statement(database_.get(), InsertRow(),
                      [this](const std::string& action) { Fail(action); });
  statement.Bind(1, row.path);
  statement.Bind(2, row.spec);
  int parameter = 3;
  for (const nlohmann::json& value : row.values) statement.Bind(parameter++, value);
  statement.Step();
}

void RunIndex::Execute(const char* sql) {
  if (::sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) Fail("write");
}

std::string RunIndex::Pragma(const char* name) {
  Statement statement(database_.get(), std::string("PRAGMA ") + name,
                      [this](const std::string& action) { Fail(action); });
  return statement.Step() ? statement.Text(0) : "";
}

void RunIndex::Fail(const std::string& action) const {
  throw Error(
      fmt::format("{}: cannot {}: {}", file_.string(), action, ::sqlite3_errmsg(database_.get())));
}

BundleScan RebuildIndex(RunIndex& index, const fs::path& directory) {
  BundleScan scan = ScanBundles(directory);
  index.ReplaceAll(scan.rows);
  return scan;
}

}  // namespace ringside
