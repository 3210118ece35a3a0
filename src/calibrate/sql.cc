#include "calibrate/sql.h"

#include "base/text.h"
#include "calibrate/failure.h"
#include "calibrate/http_client.h"
#include "http/page.h"

namespace sluice::calibrate {
namespace {

const char* const kExpected =
    "the database URL is not postgresql://user:password@host:port/database; see the section \"Connection "
    "URIs\" of "
    "PostgreSQL's manual";

// Cuts `text` at the first `mark`: what is in front of it, or the whole. `rest` gets what is behind.
std::string_view cut(std::string_view text, char mark, std::string_view& rest) {
  const std::size_t at = text.find(mark);
  rest = at == text.npos ? std::string_view() : text.substr(at + 1);
  return text.substr(0, at);
}

std::uint16_t port_of(std::string_view text) {
  if (text.empty()) return 5432;
  const std::uint16_t port = to_number<std::uint16_t>(text).value_or(0);
  if (port == 0) throw Failure(kExpected);
  return port;
}

void read_authority(std::string_view authority, pgclient::ConnectParams& params) {
  const std::size_t at = authority.rfind('@');
  if (at != authority.npos) {
    std::string_view password;
    params.user = http::percent_decoded(cut(authority.substr(0, at), ':', password));
    params.password = http::percent_decoded(password);
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == authority.npos) throw Failure(kExpected);
    params.host = authority.substr(1, bracket - 1);
    cut(authority.substr(bracket), ':', port);
  } else {
    params.host = http::percent_decoded(cut(authority, ':', port));
  }
  params.port = port_of(port);
  if (params.host.empty()) params.host = "127.0.0.1";
}

}  // namespace

pgclient::ConnectParams parse_database_url(const std::string& url) {
  std::string_view rest(url);
  const std::size_t scheme = rest.find("://");
  if (scheme == rest.npos || (rest.substr(0, scheme) != "postgresql" && rest.substr(0, scheme) != "postgres"))
    throw Failure(kExpected);
  rest.remove_prefix(scheme + 3);
  std::string_view query, database;
  rest = cut(rest, '?', query);
  pgclient::ConnectParams params;
  params.application_name = "sluice-calibrate";
  read_authority(cut(rest, '/', database), params);
  params.database = http::percent_decoded(database);
  if (const std::string mode = http::query_value(query, "sslmode"); !mode.empty()) params.sslmode = mode;
  params.ssl_ca_file = http::query_value(query, "sslrootcert");
  if (params.user.empty()) throw Failure("the database URL names no user");
  if (params.database.empty()) params.database = params.user;
  return params;
}

asio::awaitable<Series> measure_select_1(pgclient::ConnectParams params, std::string host,
                                         std::size_t warm_ups, std::size_t samples,
                                         std::chrono::milliseconds timeout, OnStep on_step) {
  const std::string where = params.host + ":" + std::to_string(params.port);
  auto client = co_await pgclient::Client::connect(std::move(params), timeout);
  if (!client) throw Failure("no connection to the database at " + where + ": " + client.error().message);
  Series series{std::move(host), "select_1", {}};
  for (std::size_t i = 0; i < warm_ups + samples; ++i) {
    const auto begin = Clock::now();
    std::string sql = "SELECT 1";
    std::vector<std::optional<std::string>> none;
    const auto answer = co_await client->query(std::move(sql), std::move(none), timeout);
    const auto taken = Clock::now() - begin;
    if (!answer) throw Failure("SELECT 1 on the database at " + where + " failed: " + answer.error().message);
    if (i >= warm_ups) series.ms.push_back(Millis(taken).count());
    if (on_step) on_step(i + 1, warm_ups + samples);
  }
  co_return series;
}

}  // namespace sluice::calibrate
