#include "pgclient/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "net/resolve.h"
#include "net/socket_address.h"
#include "pgclient/one_line.h"

namespace sluice::pgclient {
namespace {

using asio::posix::stream_descriptor;
using Clock = std::chrono::steady_clock;
using namespace asio::experimental::awaitable_operators;
constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Finish>;
using Answer = std::unique_ptr<PGresult, Clear>;

PgError connection_failure(PgErrc code, PGconn* connection) {
  return failure(make_error_code(code), one_line(PQerrorMessage(connection)));
}

PgError query_failure(const PGresult* result) {
  const char* sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return failure(make_error_code(PgErrc::QueryFailed), one_line(message != nullptr ? message : ""),
                 one_line(sqlstate != nullptr ? sqlstate : ""));
}

// libpq owns its socket and may replace it while connecting, under the same number: so a copy for each wait
// of a connect, and one for the life of a connection.
std::optional<stream_descriptor> watch(const asio::any_io_executor& executor, PGconn* connection) {
  const int copy = ::fcntl(PQsocket(connection), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return std::nullopt;
  stream_descriptor descriptor(executor);
  asio::error_code ec;
  descriptor.assign(copy, ec);
  if (ec) {
    ::close(copy);
    return std::nullopt;
  }
  return descriptor;
}

// Until the socket is ready, the deadline passes (BaseErrc::Timeout) or the coroutine is cancelled.
asio::awaitable<std::error_code> wait_for(stream_descriptor& descriptor, stream_descriptor::wait_type what,
                                          Clock::time_point deadline) {
  asio::steady_timer timer(descriptor.get_executor(), deadline);
  const auto first = co_await (descriptor.async_wait(what, kAwait) || timer.async_wait(kAwait));
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) co_return make_error_code(BaseErrc::Cancelled);
  if (first.index() == 1) co_return make_error_code(BaseErrc::Timeout);
  co_return std::get<0>(std::get<0>(first));
}

// Every parameter that libpq would otherwise take from the environment or a file of the user's. A connection
// string, for in an array of parameters libpq takes an empty value for none and looks into the environment.
std::string connection_string(const ConnectParams& params, const std::string& address) {
  std::string text;
  const auto add = [&text](const char* key, std::string_view value) {
    text.append(key).append("='");
    for (const char c : value) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
    text += "' ";
  };
  add("host", params.host);
  add("hostaddr", address);
  add("port", std::to_string(params.port));
  add("user", params.user);
  add("dbname", params.database.empty() ? params.user : params.database);
  add("password", params.password);
  // libpq looks into a password file when there is no password, and finds this one missing.
  add("passfile", "/nonexistent");
  add("sslmode", params.sslmode);
  add("sslrootcert", params.ssl_ca_file);
  add("sslcert", params.ssl_cert_file);
  add("sslkey", params.ssl_key_file);
  add("gssencmode", "disable");
  add("target_session_attrs", "any");
  add("client_encoding", "UTF8");
  add("application_name", params.application_name);
  add("options", params.options);
  return text;
}

// Why the server refused a start-up. libpq keeps PQerrorMessage() alone, which has the SQLSTATE when it is
// verbose: "FATAL:  53300: sorry, too many clients already", and then lines for developers.
PgError login_failure(PGconn* connection) {
  std::string text = PQerrorMessage(connection);
  std::string sqlstate;
  const auto part_of_state = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = text.find(":  "); at != text.npos; at = text.find(":  ", at + 3)) {
    const std::string_view rest = std::string_view(text).substr(at + 3);
    if (rest.size() < 7 || rest.substr(5, 2) != ": " ||
        !std::all_of(rest.begin(), rest.begin() + 5, part_of_state))
      continue;
    sqlstate = rest.substr(0, 5);
    text.erase(at + 3, 7);
    break;
  }
  if (const std::size_t at = text.find("\nLOCATION:  "); at != text.npos) text.resize(at);
  return failure(make_error_code(PgErrc::LoginFailed), one_line(text), std::move(sqlstate));
}

// A login failure is told from a failed connection by how far libpq came.
asio::awaitable<PgResult<Connection>> connect_one(ConnectParams params, std::string address,
                                                  Clock::time_point deadline) {
  const auto executor = co_await asio::this_coro::executor;
  Connection connection(PQconnectStart(connection_string(params, address).c_str()));
  if (!connection) co_return failure(std::make_error_code(std::errc::not_enough_memory));
  PQsetNoticeReceiver(
      connection.get(), [](void*, const PGresult*) {}, nullptr);
  PQsetErrorVerbosity(connection.get(), PQERRORS_VERBOSE);
  bool spoke = false;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection.get()) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
         next != PGRES_POLLING_FAILED) {
    auto descriptor = watch(executor, connection.get());
    if (!descriptor) co_return failure(std::error_code(errno, std::generic_category()));
    const auto what =
        next == PGRES_POLLING_READING ? stream_descriptor::wait_read : stream_descriptor::wait_write;
    if (const auto ec = co_await wait_for(*descriptor, what, deadline)) co_return failure(ec);
    next = PQconnectPoll(connection.get());
    const ConnStatusType status = PQstatus(connection.get());
    spoke |= status == CONNECTION_AWAITING_RESPONSE || status == CONNECTION_AUTH_OK;
  }
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    if (spoke) co_return login_failure(connection.get());
    co_return connection_failure(PgErrc::ConnectFailed, connection.get());
  }
  PQsetErrorVerbosity(connection.get(), PQERRORS_DEFAULT);
  if (PQsetnonblocking(connection.get(), 1) != 0)
    co_return connection_failure(PgErrc::ConnectFailed, connection.get());
  co_return std::move(connection);
}

// Collects rows within the limits.
class Collector {
 public:
  explicit Collector(const Limits& limits) : limits_(limits) {}

  // False when the limits are passed.
  bool add(const PGresult* result) {
    const int columns = PQnfields(result);
    if (rows_.columns.empty())
      for (int c = 0; c < columns; ++c)
        rows_.columns.emplace_back(PQfname(result, c));
    rows_.row_count += static_cast<std::size_t>(PQntuples(result));
    if (limits_.keep == Keep::Count) return true;
    for (int r = 0; r < PQntuples(result); ++r) {
      if (rows_.rows.size() >= limits_.rows_max) return false;
      auto& row = rows_.rows.emplace_back();
      for (int c = 0; c < columns; ++c) {
        if (PQgetisnull(result, r, c) != 0) {
          row.emplace_back(std::nullopt);
          continue;
        }
        const auto size = static_cast<std::size_t>(PQgetlength(result, r, c));
        if (size > limits_.bytes_max - bytes_) return false;
        bytes_ += size;
        row.emplace_back(std::string(PQgetvalue(result, r, c), size));
      }
    }
    return true;
  }
  Rows take() { return std::move(rows_); }

 private:
  Limits limits_;
  std::size_t bytes_ = 0;
  Rows rows_;
};

}  // namespace

struct Client::Impl {
  Connection connection;
  std::optional<stream_descriptor> descriptor;  // goes first: nothing may wait on a socket that libpq closes
  bool busy = false;
  bool broken = false;

  // Hands a statement to libpq, which keeps it until flush(). False: the connection is lost.
  bool send(const Statement& statement);
  // All that answers one statement of those that were sent.
  asio::awaitable<PgResult<Rows>> answer(Limits limits, Clock::time_point deadline);
  asio::awaitable<PgResult<Rows>> run(const Statement& statement, Clock::time_point deadline);
  asio::awaitable<PgResult<std::vector<Rows>>> run_pipeline(const std::vector<Statement>& statements,
                                                            Clock::time_point deadline);
  asio::awaitable<PgResult<Rows>> run_script(const std::string& sql, Clock::time_point deadline);
  asio::awaitable<std::error_code> flush(Clock::time_point deadline);
  asio::awaitable<std::error_code> next_result(Clock::time_point deadline, Answer& result);
};

asio::awaitable<std::error_code> Client::Impl::flush(Clock::time_point deadline) {
  for (;;) {
    const int left = PQflush(connection.get());
    if (left == 0) co_return std::error_code();
    if (left < 0) co_return make_error_code(PgErrc::ConnectionLost);
    // Reading as well as writing: a server that cannot get rid of its answer does not read.
    if (const auto ec = co_await wait_for(*descriptor, stream_descriptor::wait_write, deadline)) co_return ec;
    if (PQconsumeInput(connection.get()) == 0) co_return make_error_code(PgErrc::ConnectionLost);
  }
}

asio::awaitable<std::error_code> Client::Impl::next_result(Clock::time_point deadline, Answer& result) {
  while (PQisBusy(connection.get()) != 0) {
    if (const auto ec = co_await wait_for(*descriptor, stream_descriptor::wait_read, deadline)) co_return ec;
    if (PQconsumeInput(connection.get()) == 0) co_return make_error_code(PgErrc::ConnectionLost);
  }
  result.reset(PQgetResult(connection.get()));
  co_return std::error_code();
}

bool Client::Impl::send(const Statement& statement) {
  std::vector<const char*> values;
  for (const auto& param : statement.params)
    values.push_back(param ? param->c_str() : nullptr);
  return PQsendQueryParams(connection.get(), statement.sql.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 0) != 0;
}

asio::awaitable<PgResult<Rows>> Client::Impl::answer(Limits limits, Clock::time_point deadline) {
  Collector collector(limits);
  std::optional<PgError> refused;
  for (;;) {
    Answer result;
    if (const auto ec = co_await next_result(deadline, result)) {
      if (ec == PgErrc::ConnectionLost)
        co_return connection_failure(PgErrc::ConnectionLost, connection.get());
      co_return failure(ec);
    }
    if (!result) break;
    switch (PQresultStatus(result.get())) {
      case PGRES_SINGLE_TUPLE:
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
      case PGRES_EMPTY_QUERY:
        if (!collector.add(result.get())) co_return failure(make_error_code(PgErrc::ResultTooLarge));
        break;
      case PGRES_FATAL_ERROR:
        refused = query_failure(result.get());
        break;
      case PGRES_PIPELINE_ABORTED:  // the failure of an earlier statement is what is told
        refused = failure(make_error_code(PgErrc::QueryFailed));
        break;
      default:  // COPY, which a query of ours never starts
        co_return failure(make_error_code(PgErrc::UnexpectedResult));
    }
  }
  if (refused) {
    if (PQstatus(connection.get()) != CONNECTION_OK)
      refused->error.code = make_error_code(PgErrc::ConnectionLost);
    co_return std::move(*refused);
  }
  co_return collector.take();
}

asio::awaitable<PgResult<Rows>> Client::Impl::run(const Statement& statement, Clock::time_point deadline) {
  if (!send(statement) || PQsetSingleRowMode(connection.get()) == 0)
    co_return connection_failure(PgErrc::ConnectionLost, connection.get());
  if (const auto ec = co_await flush(deadline)) co_return failure(ec);
  co_return co_await answer(statement.limits, deadline);
}

asio::awaitable<PgResult<std::vector<Rows>>> Client::Impl::run_pipeline(
    const std::vector<Statement>& statements, Clock::time_point deadline) {
  const auto lost = [this] { return connection_failure(PgErrc::ConnectionLost, connection.get()); };
  if (PQenterPipelineMode(connection.get()) == 0) co_return lost();
  for (const Statement& statement : statements)
    if (!send(statement)) co_return lost();
  if (PQpipelineSync(connection.get()) == 0) co_return lost();
  if (const auto ec = co_await flush(deadline)) co_return failure(ec);

  std::vector<Rows> all;
  std::optional<PgError> refused;
  for (const Statement& statement : statements) {
    // Behind a failed statement there are no rows to come, and libpq takes no mode for them.
    if (!refused && PQsetSingleRowMode(connection.get()) == 0) co_return lost();
    auto rows = co_await answer(statement.limits, deadline);
    if (rows) {
      all.push_back(*std::move(rows));
      continue;
    }
    if (rows.error().error.code != PgErrc::QueryFailed) co_return rows.error();
    if (!refused) refused = rows.error();
  }
  Answer sync;
  if (const auto ec = co_await next_result(deadline, sync)) co_return failure(ec);
  if (PQresultStatus(sync.get()) != PGRES_PIPELINE_SYNC || PQexitPipelineMode(connection.get()) == 0)
    co_return failure(make_error_code(PgErrc::UnexpectedResult));
  if (refused) co_return std::move(*refused);
  co_return std::move(all);
}

asio::awaitable<PgResult<Rows>> Client::Impl::run_script(const std::string& sql, Clock::time_point deadline) {
  if (PQsendQuery(connection.get(), sql.c_str()) == 0 || PQsetSingleRowMode(connection.get()) == 0)
    co_return connection_failure(PgErrc::ConnectionLost, connection.get());
  if (const auto ec = co_await flush(deadline)) co_return failure(ec);
  Limits limits;
  limits.keep = Keep::Count;
  co_return co_await answer(limits, deadline);
}

Client::Client(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

asio::awaitable<PgResult<Client>> Client::connect(ConnectParams params, std::chrono::milliseconds timeout) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto deadline = Clock::now() + timeout;
  std::vector<std::string> addresses;
  if (net::is_unix_address(params.host)) {
    addresses.emplace_back();
  } else if (!params.addresses.empty()) {
    addresses = params.addresses;
  } else {
    std::string name = params.hostaddr.empty() ? params.host : params.hostaddr;
    auto found = co_await net::resolve(std::move(name), params.port, timeout);
    if (!found)
      co_return PgError{found.error(), "", "cannot look up its name: " + found.error().code.message()};
    for (const auto& endpoint : *found)
      addresses.push_back(endpoint.address().to_string());
  }
  std::optional<PgError> last;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto share = (deadline - Clock::now()) / static_cast<int>(addresses.size() - i);
    auto connection = co_await connect_one(params, addresses[i], Clock::now() + share);
    if (connection) {
      auto impl = std::make_unique<Impl>();
      impl->descriptor = watch(co_await asio::this_coro::executor, connection->get());
      if (!impl->descriptor) co_return failure(std::error_code(errno, std::generic_category()));
      impl->connection = std::move(*connection);
      co_return Client(std::move(impl));
    }
    last = connection.error();
    // A refused login would be refused by the next address too, and count twice.
    const auto code = last->error.code;
    if (code == PgErrc::LoginFailed || code == BaseErrc::Cancelled) break;
  }
  SLUICE_ASSERT(last.has_value());
  co_return std::move(*last);
}

namespace {

// Text that C strings cannot carry would reach the server shortened.
std::optional<PgError> zero_byte(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements)
    for (const auto& param : statement.params)
      if (param && param->find('\0') != std::string::npos)
        return failure(make_error_code(PgErrc::QueryFailed), "a parameter contains a zero byte", "22021");
  return std::nullopt;
}

}  // namespace

// Busy while `work` runs, and broken unless it ends well: also when the frame is destroyed in between.
template <class T>
asio::awaitable<PgResult<T>> Client::guarded(asio::awaitable<PgResult<T>> work) {
  Impl& impl = *impl_;
  SLUICE_ASSERT(!impl.busy);
  if (!usable()) co_return failure(make_error_code(PgErrc::ConnectionLost));
  impl.busy = true;
  impl.broken = true;
  auto outcome = co_await std::move(work);
  impl.busy = false;
  impl.broken = !outcome && outcome.error().error.code != PgErrc::QueryFailed;
  co_return outcome;
}

asio::awaitable<PgResult<Rows>> Client::query(std::string sql, std::vector<std::optional<std::string>> params,
                                              std::chrono::milliseconds timeout, Limits limits) {
  co_await asio::this_coro::throw_if_cancelled(false);
  std::vector<Statement> statements;
  statements.push_back({std::move(sql), std::move(params), limits});
  if (auto fault = zero_byte(statements)) co_return std::move(*fault);
  auto work = impl_->run(statements.front(), Clock::now() + timeout);
  co_return co_await guarded(std::move(work));
}

asio::awaitable<PgResult<std::vector<Rows>>> Client::pipeline(std::vector<Statement> statements,
                                                              std::chrono::milliseconds timeout) {
  co_await asio::this_coro::throw_if_cancelled(false);
  SLUICE_ASSERT(!statements.empty());
  if (auto fault = zero_byte(statements)) co_return std::move(*fault);
  auto work = impl_->run_pipeline(statements, Clock::now() + timeout);
  co_return co_await guarded(std::move(work));
}

asio::awaitable<PgResult<Rows>> Client::script(std::string sql, std::chrono::milliseconds timeout) {
  co_await asio::this_coro::throw_if_cancelled(false);
  auto work = impl_->run_script(sql, Clock::now() + timeout);
  co_return co_await guarded(std::move(work));
}

Cancel Client::cancel() const {
  return Cancel(impl_ ? PQgetCancel(impl_->connection.get()) : nullptr);
}

asio::awaitable<bool> Client::settle(std::chrono::milliseconds timeout) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto deadline = Clock::now() + timeout;
  PGconn* const connection = impl_->connection.get();
  impl_->broken = true;
  std::error_code ec = co_await impl_->flush(deadline);
  // In a pipeline there is no result between two answers, and none twice at its end.
  for (int none = 0; !ec && none < 2;) {
    Answer result;
    ec = co_await impl_->next_result(deadline, result);
    if (ec) break;
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) co_return false;
    if (status == PGRES_PIPELINE_SYNC || PQstatus(connection) != CONNECTION_OK) co_return true;
    if (!result && PQpipelineStatus(connection) == PQ_PIPELINE_OFF) co_return true;
    none = result ? 0 : none + 1;
  }
  co_return !ec || ec == PgErrc::ConnectionLost;
}

std::string Client::address() const {
  const char* const text = PQhostaddr(impl_->connection.get());
  return text == nullptr ? "" : text;
}

bool Client::usable() const noexcept {
  return impl_ && !impl_->broken && PQstatus(impl_->connection.get()) == CONNECTION_OK;
}

bool Client::has_pending_input() const {
  pollfd entry{PQsocket(impl_->connection.get()), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

}  // namespace sluice::pgclient
