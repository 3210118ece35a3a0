#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sluice::pooling::test {

// What several servers share: a schema whose change makes plans stale.
struct Database {
  int version = 1;  // of the result of "select v"
};

// One PostgreSQL backend as far as its protocol state goes: prepared statements, portals, transaction status,
// the skipping after an error, COPY FROM STDIN, and the buffering of answers up to a flush. Written from
// PostgreSQL's manual ("Message Flow") and the behaviour of its main loop, independently of the code it
// judges. Texts:  select ... (a row with the text), "select fail" (22012 when executed), "select missing"
// (42P01 when
//         parsed), "select v" (a result that follows Database::version), insert ..., set ..., begin, commit,
//         rollback, savepoint, release, rollback to, copy in, "copy fail" (22P04 at its first row),
//         "copy view" (55000 before it reads any), prepare transaction, create function,
//         deallocate [all|name], discard all, prepare name, listen name, unlisten name, show names (the
//         prepared ones), nothing, and all else is a syntax error. A Query may hold several, separated by
//         semicolons.
class PgModel {
 public:
  explicit PgModel(Database& database) : database_(database) {}

  // Bytes from the client, cut anywhere.
  void consume(ByteView bytes);
  // What has been flushed since the last call.
  Bytes take();
  std::size_t statement_count() const { return statements_.size(); }
  // Parses that succeeded in preparing something.
  std::size_t prepared_total() const { return prepared_total_; }
  bool listening() const { return listening_; }
  bool has_unnamed() const { return unnamed_.has_value(); }

 private:
  struct Prepared {
    std::string sql;
    std::size_t parameters = 0;
    int version = 0;
  };

  void message(char type, ByteView body);
  void parse(ByteReader in);
  void bind(ByteReader in);
  void describe(ByteReader in);
  void execute(ByteReader in);
  void close(ByteReader in);
  void query(std::string_view sql);
  void resume_query();
  void copy_message(char type);
  bool run(const std::string& sql, bool extended);  // false: an error, or a COPY that waits
  bool check_parse(const std::string& sql);
  const Prepared* lookup(std::string_view name);
  bool stale(const Prepared& prepared);
  void end_transaction();
  void ready();
  void error(std::string_view sqlstate, const std::string& message, std::string_view routine = "x");
  void answer(char type, std::string_view body = {});
  void tag(const std::string& text);

  Database& database_;
  Bytes input_;
  Bytes output_;  // not flushed
  Bytes flushed_;
  std::map<std::string, Prepared, std::less<>> statements_;
  std::optional<Prepared> unnamed_;
  std::map<std::string, Prepared, std::less<>> portals_;
  char status_ = 'I';
  bool skipping_ = false;
  bool extended_ = false;
  bool copying_ = false;
  bool copy_fails_ = false;
  bool listening_ = false;
  std::deque<std::string> rest_;  // of a Query, behind its COPY
  std::size_t prepared_total_ = 0;
};

}  // namespace sluice::pooling::test
