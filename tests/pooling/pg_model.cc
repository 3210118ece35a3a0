#include "tests/pooling/pg_model.h"

#include <algorithm>
#include <utility>

#include "protocol/backend_messages.h"

namespace sluice::pooling::test {
namespace {

constexpr std::size_t kFlushBytes = 8192;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  std::string out(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool starts(std::string_view text, std::string_view with) {
  return text.starts_with(with);
}

// The word behind `verb`, without double quotes.
std::string object(std::string_view sql, std::string_view verb) {
  std::string name = trimmed(sql.substr(verb.size()));
  std::erase(name, '"');
  return name;
}

bool exits_transaction(std::string_view sql) {
  return sql == "commit" || sql == "rollback" || starts(sql, "rollback to ") ||
         starts(sql, "prepare transaction ");
}

bool has_rows(std::string_view sql) {
  return starts(sql, "select") || starts(sql, "show");
}

}  // namespace

Bytes PgModel::take() {
  return std::exchange(flushed_, {});
}

void PgModel::answer(char type, std::string_view body) {
  protocol::append_message(output_, type, as_bytes(body));
  if (output_.size() > kFlushBytes) {
    append(flushed_, output_);
    output_.clear();
  }
}

void PgModel::tag(const std::string& text) {
  answer('C', std::string_view(text.c_str(), text.size() + 1));
}

void PgModel::error(std::string_view sqlstate, const std::string& text, std::string_view routine) {
  std::string body = "SERROR";
  body += '\0';
  body += "VERROR";
  body += '\0';
  body += "C" + std::string(sqlstate);
  body += '\0';
  body += "M" + text;
  body += '\0';
  body += "R" + std::string(routine);
  body += '\0';
  body += '\0';
  answer('E', body);
  append(flushed_, output_);
  output_.clear();
  if (status_ == 'T') status_ = 'E';
  copying_ = false;
  rest_.clear();
  if (extended_) skipping_ = true;
  if (status_ == 'I') portals_.clear();
}

void PgModel::end_transaction() {
  if (status_ == 'I') portals_.clear();
}

void PgModel::ready() {
  end_transaction();
  answer('Z', std::string_view(&status_, 1));
  append(flushed_, output_);
  output_.clear();
}

void PgModel::consume(ByteView bytes) {
  append(input_, bytes);
  ByteView rest = input_;
  while (rest.size() >= 5) {
    ByteReader in(rest);
    const char type = static_cast<char>(*in.u8());
    const std::uint32_t length = *in.u32();
    if (in.remaining() < length - 4) break;
    message(type, *in.take(length - 4));
    rest = in.rest();
  }
  input_ = Bytes(rest.begin(), rest.end());
}

void PgModel::message(char type, ByteView body) {
  if (copying_) return copy_message(type);
  if (type == 'S') skipping_ = false;
  if (skipping_) return;
  extended_ = std::string_view("PBDECH").find(type) != std::string_view::npos;
  ByteReader in(body);
  switch (type) {
    case 'P':
      return parse(in);
    case 'B':
      return bind(in);
    case 'D':
      return describe(in);
    case 'E':
      return execute(in);
    case 'C':
      return close(in);
    case 'H':
      if (!body.empty()) return error("08P01", "invalid message format");
      append(flushed_, output_);
      output_.clear();
      return;
    case 'Q':
      return query(*in.cstring());
    case 'S':
      return ready();
    default:
      return;
  }
}

bool PgModel::check_parse(const std::string& sql) {
  static const std::string_view kVerbs[] = {"select",      "insert",     "set ",     "begin",
                                            "commit",      "rollback",   "copy ",    "deallocate ",
                                            "discard all", "prepare ",   "listen ",  "unlisten ",
                                            "show ",       "savepoint ", "release ", "create function "};
  const bool known = std::any_of(std::begin(kVerbs), std::end(kVerbs),
                                 [&](std::string_view verb) { return starts(sql, verb); });
  if (!known) return error("42601", "syntax error"), false;
  if (status_ == 'E' && !exits_transaction(sql))
    return error("25P02", "current transaction is aborted"), false;
  if (starts(sql, "select missing")) return error("42P01", "relation does not exist"), false;
  return true;
}

void PgModel::parse(ByteReader in) {
  const std::string name(*in.cstring());
  const std::string sql = trimmed(*in.cstring());
  if (name.empty()) unnamed_.reset();
  if (!sql.empty() && !check_parse(sql)) return;
  const Prepared prepared{sql, *in.u16(), database_.version};
  if (name.empty()) {
    unnamed_ = prepared;
  } else if (!statements_.emplace(name, prepared).second) {
    return error("42P05", "prepared statement \"" + name + "\" already exists");
  }
  ++prepared_total_;
  answer('1');
}

const PgModel::Prepared* PgModel::lookup(std::string_view name) {
  if (name.empty()) {
    if (unnamed_) return &*unnamed_;
    error("26000", "unnamed prepared statement does not exist");
    return nullptr;
  }
  const auto found = statements_.find(name);
  if (found != statements_.end()) return &found->second;
  error("26000", "prepared statement \"" + std::string(name) + "\" does not exist", "FetchPreparedStatement");
  return nullptr;
}

bool PgModel::stale(const Prepared& prepared) {
  if (prepared.sql != "select v" || prepared.version == database_.version) return false;
  error("0A000", "cached plan must not change result type", "RevalidateCachedQuery");
  return true;
}

void PgModel::bind(ByteReader in) {
  const std::string portal(*in.cstring());
  const std::string name(*in.cstring());
  const Prepared* prepared = lookup(name);
  if (prepared == nullptr) return;
  in.take(2 * std::size_t{*in.u16()});
  const std::size_t given = *in.u16();
  if (given != prepared->parameters)
    return error("08P01", "bind message supplies " + std::to_string(given) +
                              " parameters, but prepared statement \"" + name + "\" requires " +
                              std::to_string(prepared->parameters));
  if (status_ == 'E' && (!exits_transaction(prepared->sql) || given > 0))
    return error("25P02", "current transaction is aborted");
  if (!portal.empty() && portals_.contains(portal)) return error("42P03", "portal exists");
  if (stale(*prepared)) return;
  portals_[portal] = *prepared;
  answer('2');
}

void PgModel::describe(ByteReader in) {
  const char kind = static_cast<char>(*in.u8());
  const std::string name(*in.cstring());
  const Prepared* of = nullptr;
  if (kind == 'S') {
    of = lookup(name);
    if (of == nullptr) return;
    if (status_ == 'E' && has_rows(of->sql)) return error("25P02", "current transaction is aborted");
    answer('t', std::string(1, static_cast<char>(of->parameters)));
    if (stale(*of)) return;
  } else {
    const auto found = portals_.find(name);
    if (found == portals_.end()) return error("34000", "portal \"" + name + "\" does not exist");
    of = &found->second;
    if (status_ == 'E' && has_rows(of->sql)) return error("25P02", "current transaction is aborted");
  }
  if (has_rows(of->sql))
    answer('T', of->sql + (of->sql == "select v" ? std::to_string(of->version) : ""));
  else
    answer('n');
}

void PgModel::execute(ByteReader in) {
  const std::string name(*in.cstring());
  const auto found = portals_.find(name);
  if (found == portals_.end()) return error("34000", "portal \"" + name + "\" does not exist");
  const std::string sql = found->second.sql;
  if (sql.empty()) return answer('I');
  if (status_ == 'E' && !exits_transaction(sql)) return error("25P02", "current transaction is aborted");
  run(sql, true);
}

void PgModel::close(ByteReader in) {
  const char kind = static_cast<char>(*in.u8());
  const std::string name(*in.cstring());
  if (kind == 'P')
    portals_.erase(name);
  else if (name.empty())
    unnamed_.reset();
  else
    statements_.erase(name);
  answer('3');
}

void PgModel::query(std::string_view sql) {
  unnamed_.reset();
  rest_.clear();
  std::deque<std::string> all;
  while (true) {
    const std::size_t end = sql.find(';');
    if (std::string one = trimmed(sql.substr(0, end)); !one.empty()) all.push_back(std::move(one));
    if (end == std::string_view::npos) break;
    sql.remove_prefix(end + 1);
  }
  if (all.empty()) {
    answer('I');
    return ready();
  }
  // Raw parsing comes first, of the whole text.
  for (const std::string& one : all)
    if (starts(one, "sluice") || starts(one, "selec ")) {
      error("42601", "syntax error");
      return ready();
    }
  rest_ = std::move(all);
  resume_query();
}

void PgModel::resume_query() {
  while (!rest_.empty()) {
    const std::string sql = rest_.front();
    rest_.pop_front();
    if (!check_parse(sql)) break;
    if (has_rows(sql)) answer('T', sql + (sql == "select v" ? std::to_string(database_.version) : ""));
    if (run(sql, false)) continue;
    if (copying_) return;
    break;
  }
  ready();
}

void PgModel::copy_message(char type) {
  switch (type) {
    case 'd':
      if (!copy_fails_) return;
      error("22P04", "bad row");
      break;
    case 'c':
      copying_ = false;
      tag("COPY 1");
      break;
    case 'f':
      error("57014", "COPY from stdin failed");
      break;
    default:  // Sync and Flush are dropped
      return;
  }
  if (!extended_) resume_query();
}

bool PgModel::run(const std::string& sql, bool extended) {
  if (starts(sql, "select fail")) return error("22012", "division by zero"), false;
  if (sql == "show names") {
    answer('D', std::to_string(statements_.size()));
    return tag("SHOW"), true;
  }
  if (starts(sql, "select")) {
    answer('D', sql);
    return tag("SELECT 1"), true;
  }
  if (starts(sql, "insert")) return tag("INSERT 0 1"), true;
  if (starts(sql, "set ")) return tag("SET"), true;
  if (sql == "begin") {
    status_ = 'T';
    return tag("BEGIN"), true;
  }
  if (starts(sql, "savepoint ") || starts(sql, "release ") || starts(sql, "rollback to ")) {
    if (status_ == 'I') return error("25P01", "only in transaction blocks"), false;
    status_ = 'T';
    return tag(starts(sql, "savepoint") ? "SAVEPOINT"
               : starts(sql, "release") ? "RELEASE"
                                        : "ROLLBACK"),
           true;
  }
  if (starts(sql, "create function ")) return tag("CREATE FUNCTION"), true;
  if (starts(sql, "prepare transaction ")) {
    const bool failed = std::exchange(status_, 'I') == 'E';
    end_transaction();
    if (failed) return tag("ROLLBACK"), true;
    if (sql.size() > 200) return error("22023", "transaction identifier is too long"), false;
    return tag("PREPARE TRANSACTION"), true;
  }
  if (exits_transaction(sql)) {
    const bool failed = status_ == 'E';
    status_ = 'I';
    end_transaction();
    return tag(failed || sql == "rollback" ? "ROLLBACK" : "COMMIT"), true;
  }
  if (starts(sql, "copy ")) {
    answer('G', "f");
    append(flushed_, output_);
    output_.clear();
    if (sql == "copy view") return error("55000", "cannot copy to view"), false;
    copying_ = true;
    copy_fails_ = sql == "copy fail";
    return false;
  }
  if (sql == "deallocate all") {
    statements_.clear();
    return tag("DEALLOCATE ALL"), true;
  }
  if (starts(sql, "deallocate ")) {
    const std::string name = object(sql, "deallocate ");
    if (statements_.erase(name) == 0)
      return error("26000", "prepared statement \"" + name + "\" does not exist", "FetchPreparedStatement"),
             false;
    return tag("DEALLOCATE"), true;
  }
  if (sql == "discard all") {
    if (status_ != 'I') return error("25001", "DISCARD ALL cannot run inside a transaction block"), false;
    statements_.clear();
    if (!extended) portals_.clear();
    listening_ = false;
    return tag("DISCARD ALL"), true;
  }
  if (starts(sql, "prepare ")) {
    const std::string name = object(sql, "prepare ");
    if (!statements_.emplace(name, Prepared{"select prepared", 0, database_.version}).second)
      return error("42P05", "prepared statement \"" + name + "\" already exists"), false;
    return tag("PREPARE"), true;
  }
  if (starts(sql, "listen ")) {
    listening_ = true;
    return tag("LISTEN"), true;
  }
  if (starts(sql, "unlisten ")) return tag("UNLISTEN"), true;
  return error("42601", "syntax error"), false;
}

}  // namespace sluice::pooling::test
