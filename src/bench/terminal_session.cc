#include "bench/terminal_session.h"

#include <algorithm>
#include <chrono>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "base/text.h"

namespace sluice::bench {
namespace {

using pgclient::PgErrc;

constexpr auto kAwaitPause = asio::experimental::as_tuple(asio::use_awaitable);
constexpr double kPauseAfterFailure = 0.1;

// What a server says of itself: its address and port, or on a Unix socket its port.
constexpr const char* kWhichServer =
    "select coalesce(host(inet_server_addr()) || ':' || inet_server_port(), current_setting('port'))";
// ... and when the transaction began that the statement in front of it is in.
constexpr const char* kWhichServerAndWhen =
    "select coalesce(host(inet_server_addr()) || ':' || inet_server_port(), current_setting('port')), "
    "extract(epoch from transaction_timestamp())";

double wall_clock() {
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A value in libpq's options: a blank or a backslash has one in front.
std::string option(const char* name, const std::string& value) {
  std::string text = std::string("-c ") + name + "=";
  for (const char c : value) {
    if (c == ' ' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

// Whether we stopped waiting, and the server knows nothing of it.
bool given_up(const pgclient::PgError& error) {
  return error.error.code == BaseErrc::Cancelled || error.error.code == BaseErrc::Timeout;
}

}  // namespace

std::string error_word(const pgclient::PgError& error) {
  if (!error.sqlstate.empty()) return error.sqlstate;
  const auto code = error.error.code;
  if (code == BaseErrc::Cancelled) return "cut";
  if (code == BaseErrc::Timeout) return "timeout";
  if (code == PgErrc::ConnectionLost) return "lost";
  if (code == PgErrc::ConnectFailed || code == PgErrc::LoginFailed) return "connect";
  return "failed";
}

TerminalSession::TerminalSession(const RunOptions& options, const RunClock& clock, const Recorder& recorder,
                                 Abandoned& abandoned, std::size_t index, const TerminalPlan& plan)
    : options_(options), clock_(clock), recorder_(recorder), abandoned_(abandoned), plan_(plan) {
  record_.session = index + 1;
  record_.class_index = plan.class_index;
  if (!options.key.hosts.empty()) record_.host = options.key.hosts[plan.host];
  record_.arrives = plan.arrives;
  record_.lifetime = plan.lifetime;
  record_.phase = plan.arrives < options.key.warm_up ? Phase::WarmUp : Phase::Measured;
}

pgclient::ConnectParams TerminalSession::connect_params() const {
  pgclient::ConnectParams params = options_.server;
  const auto add = [&](const std::string& text) {
    params.options += (params.options.empty() ? "" : " ") + text;
  };
  params.user = options_.user_of(plan_.class_index);
  if (options_.class_users[plan_.class_index].empty())
    add(option("sluice.priority", options_.class_names[plan_.class_index]));
  if (!options_.key.hosts.empty()) add(option("sluice.host", options_.key.hosts[plan_.host]));
  return params;
}

bool TerminalSession::over(double moment) const {
  return moment >= leaves_ || moment >= options_.key.duration;
}

asio::awaitable<void> TerminalSession::sleep_until(double moment) {
  asio::steady_timer timer(co_await asio::this_coro::executor, clock_.at(moment));
  const auto [ec] = co_await timer.async_wait(kAwaitPause);
  cut_ = cut_ || ec;
}

asio::awaitable<void> TerminalSession::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  record_.late = std::max(0.0, clock_.now() - plan_.arrives);
  auto client = co_await connect();
  record_.waiting = clock_.now() - plan_.arrives;
  if (client) {
    last_end_ = plan_.arrives + record_.waiting;
    leaves_ = last_end_ + plan_.lifetime;
    connected(record_, last_end_, options_.key.duration);
    if (record_.served) co_await converse(*std::move(client));
  }
  record_.ended = clock_.now();
  if (record_.error.empty() && cut_) record_.error = "cut";
  recorder_.session(record_);
}

asio::awaitable<std::optional<pgclient::Client>> TerminalSession::connect() {
  pgclient::ConnectParams params = connect_params();
  auto client = co_await Client::connect(std::move(params), to_ms(options_.key.connect_timeout));
  if (!client) {
    record_.error = error_word(client.error());
    co_return std::nullopt;
  }
  if (options_.key.ask_replica == AskReplica::PerSession) {
    std::string sql = kWhichServer;
    std::vector<std::optional<std::string>> none;
    auto answer =
        co_await client->query(std::move(sql), std::move(none), to_ms(options_.key.connect_timeout));
    if (!answer || answer->rows.size() != 1 || answer->rows[0].size() != 1) {
      record_.error = answer ? "failed" : error_word(answer.error());
      if (!answer && given_up(answer.error())) abandoned_.give_up(*std::move(client));
      co_return std::nullopt;
    }
    record_.replica = replica_name(options_.replicas, answer->rows[0][0].value_or(""));
  }
  co_return *std::move(client);
}

asio::awaitable<void> TerminalSession::converse(Client client) {
  QueryStream stream(options_.workload.queries, options_.think, plan_.seed);
  double intended = last_end_;
  while (!over(intended) && !cut_) {
    const QueryStream::Next next = stream.next();
    const bool usable = co_await ask(client, next, intended);
    if (!usable) break;
    const double pause = last_failed_ ? std::max(next.pause, kPauseAfterFailure) : next.pause;
    intended = last_end_ + pause;
    // Also a pause that outlasts the session is spent connected: sessions are what policies count.
    const double until = std::min({intended, leaves_, options_.key.duration});
    if (until > clock_.now()) co_await sleep_until(until);
  }
}

asio::awaitable<bool> TerminalSession::ask(Client& client, const QueryStream::Next& next, double intended) {
  QueryRecord record;
  record.session = record_.session;
  record.class_index = record_.class_index;
  record.host = record_.host;
  record.query = next.shape->name;
  record.intended = intended;
  record.phase = intended < options_.key.warm_up ? Phase::WarmUp : Phase::Measured;

  std::vector<pgclient::Statement> statements(1);
  statements[0].sql = next.shape->sql;
  statements[0].params = next.values;
  statements[0].limits.keep = pgclient::Keep::Count;
  const bool per_query = options_.key.ask_replica == AskReplica::PerQuery;
  if (per_query) statements.emplace_back().sql = kWhichServerAndWhen;
  record.late = std::max(0.0, clock_.now() - intended);
  const double sent = wall_clock();
  const auto answer = co_await client.pipeline(std::move(statements), to_ms(options_.key.query_timeout));
  last_end_ = clock_.now();
  record.response = last_end_ - intended;
  last_failed_ = !answer;
  if (!answer) {
    record.error = error_word(answer.error());
  } else {
    record.rows = answer->front().row_count;
    if (per_query && answer->back().rows.size() == 1 && answer->back().rows[0].size() == 2) {
      record_.replica = replica_name(options_.replicas, answer->back().rows[0][0].value_or(""));
      if (const auto began = to_number<double>(answer->back().rows[0][1].value_or("")))
        record.waiting = *began - sent;
    }
  }
  record.replica = !per_query || answer ? record_.replica : "";
  ++record_.queries;
  if (last_failed_) ++record_.errors;
  recorder_.query(record);
  if (last_failed_ && given_up(answer.error())) abandoned_.give_up(std::move(client));
  if (!client.usable()) record_.error = record.error;
  co_return client.usable();
}

}  // namespace sluice::bench
