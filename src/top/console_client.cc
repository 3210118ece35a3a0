#include "top/console_client.h"

#include <cstdlib>
#include <utility>

#include <libpq-fe.h>

namespace sluice::top {
namespace {

constexpr const char* kConnectTimeout = "5";
constexpr int kRowsMax = 10'000;  // of one view

// libpq's messages end with a line end, and may have several lines.
std::string one_line(const char* message) {
  std::string text(message == nullptr ? "" : message);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

Table table_of(const PGresult* result) {
  std::vector<std::string> columns;
  for (int c = 0; c < PQnfields(result); ++c)
    columns.emplace_back(PQfname(result, c));
  Table table(std::move(columns));
  for (int r = 0; r < PQntuples(result) && r < kRowsMax; ++r) {
    std::vector<std::optional<std::string>> row;
    for (int c = 0; c < PQnfields(result); ++c) {
      if (PQgetisnull(result, r, c) != 0) {
        row.emplace_back();
      } else {
        row.emplace_back(PQgetvalue(result, r, c));
      }
    }
    table.add_row(std::move(row));
  }
  return table;
}

struct Defaults {
  const char* keyword;
  const char* environment;
  const char* value;
};
constexpr Defaults kDefaults[] = {{"host", "PGHOST", "127.0.0.1"},
                                  {"port", "PGPORT", "6432"},
                                  {"dbname", "PGDATABASE", "sluice"},
                                  {"application_name", "PGAPPNAME", "sluice top"},
                                  {"connect_timeout", "PGCONNECT_TIMEOUT", kConnectTimeout}};

}  // namespace

void ConsoleClient::Closer::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

ConsoleClient::ConsoleClient(std::string conninfo) : conninfo_(std::move(conninfo)) {}
ConsoleClient::~ConsoleClient() = default;

bool ConsoleClient::connect() {
  disconnect();
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(conninfo_.c_str(), &message), &PQconninfoFree);
  const std::unique_ptr<char, void (*)(void*)> owned(message, &PQfreemem);
  if (!options) return fail("the connection string is wrong: " + one_line(message)), false;
  std::vector<const char*> keywords, values;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const char* value = option->val;
    for (const Defaults& fallback : kDefaults)
      if (value == nullptr && std::string_view(fallback.keyword) == option->keyword &&
          std::getenv(fallback.environment) == nullptr)
        value = fallback.value;
    if (value == nullptr) continue;
    keywords.push_back(option->keyword);
    values.push_back(value);
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectdbParams(keywords.data(), values.data(), 0));
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    return fail(one_line(PQerrorMessage(connection_.get()))), false;
  PQsetnonblocking(connection_.get(), 1);
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  problem_.clear();
  return true;
}

void ConsoleClient::disconnect() {
  connection_.reset();
  answers_.clear();
}

int ConsoleClient::descriptor() const {
  return connection_ ? PQsocket(connection_.get()) : -1;
}

std::string ConsoleClient::where() const {
  if (!connection_) return {};
  return std::string(PQhost(connection_.get())) + ":" + PQport(connection_.get());
}

// The questions are shorter than any socket's buffer: one flush is enough.
bool ConsoleClient::ask() {
  answers_.clear();
  const std::string text(kQuestions);
  if (PQsendQuery(connection_.get(), text.c_str()) == 1 && PQflush(connection_.get()) == 0) return true;
  fail(one_line(PQerrorMessage(connection_.get())));
  return false;
}

std::optional<Sample> ConsoleClient::receive() {
  if (!connection_) return std::nullopt;
  if (PQconsumeInput(connection_.get()) == 0) {
    fail(one_line(PQerrorMessage(connection_.get())));
    return std::nullopt;
  }
  while (connection_ && PQisBusy(connection_.get()) == 0) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQgetResult(connection_.get()), &PQclear);
    if (!result) {
      std::optional<Sample> sample =
          make_sample(std::exchange(answers_, {}), std::chrono::steady_clock::now());
      if (!sample) fail("the console did not answer as a router does");
      return sample;
    }
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || answers_.size() >= kQuestionCount) {
      fail(one_line(PQresultErrorMessage(result.get())));
      return std::nullopt;
    }
    answers_.push_back(table_of(result.get()));
  }
  return std::nullopt;
}

void ConsoleClient::fail(std::string why) {
  problem_ = why.empty() ? "the console closed the connection" : std::move(why);
  disconnect();
}

}  // namespace sluice::top
