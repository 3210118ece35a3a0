#include "bench/prepare.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "bench/clock.h"
#include "bench/problem.h"
#include "sim/table.h"

namespace sluice::bench {
namespace {

using pgclient::Client;
using pgclient::ConnectParams;

asio::awaitable<Client> connected(ConnectParams server, std::chrono::milliseconds timeout) {
  const std::string where = server.host + ":" + std::to_string(server.port);
  auto client = co_await Client::connect(std::move(server), timeout);
  if (!client) throw Failure("cannot connect to " + where + ": " + client.error().message);
  co_return *std::move(client);
}

asio::awaitable<void> run_scripts(const Workload& workload, ConnectParams server,
                                  std::chrono::milliseconds timeout, std::ostream& out) {
  Client client = co_await connected(std::move(server), timeout);
  for (const SourceFile& file : workload.init) {
    const auto began = Clock::now();
    std::string sql = file.text;
    const auto done = co_await client.script(std::move(sql), timeout);
    if (!done) throw Failure(file.name + ": " + done.error().message);
    out << file.name << "  " << sim::digits(Seconds(Clock::now() - began).count(), 3) << " s" << std::endl;
  }
}

asio::awaitable<pgclient::Rows> check_rows(const Workload& workload, ConnectParams server,
                                           std::chrono::milliseconds timeout) {
  Client client = co_await connected(std::move(server), timeout);
  std::string sql = workload.check->text;
  std::vector<std::optional<std::string>> none;
  auto rows = co_await client.query(std::move(sql), std::move(none), timeout);
  if (!rows) throw Failure("check.sql: " + rows.error().message);
  if (rows->columns.size() != 4 || rows->rows.empty())
    throw Failure("check.sql should give rows of four columns: name, expected, found, ok");
  co_return *std::move(rows);
}

template <class T>
asio::awaitable<void> keep(asio::awaitable<T> work, std::optional<T>& result) {
  result.emplace(co_await std::move(work));
}

void wait_for(asio::awaitable<void> work) {
  asio::io_context context{1};
  std::exception_ptr fault;
  asio::co_spawn(context, std::move(work), [&](std::exception_ptr e) { fault = std::move(e); });
  context.run();
  if (fault) std::rethrow_exception(fault);
}

}  // namespace

void init(const Workload& workload, const ConnectParams& server, double timeout, std::ostream& out) {
  if (workload.init.empty()) throw Failure(workload.name + " has no scripts init_*.sql");
  wait_for(run_scripts(workload, server, to_ms(timeout), out));
}

bool check(const Workload& workload, const ConnectParams& server, double timeout, std::ostream& out) {
  if (!workload.check) throw Failure(workload.name + " has no check.sql");
  std::optional<pgclient::Rows> rows;
  wait_for(keep(check_rows(workload, server, to_ms(timeout)), rows));
  sim::Table table({"check", "expected", "found", ""});
  bool all = true;
  for (const auto& row : rows->rows) {
    const bool ok = row[3] == "t" || row[3] == "true";
    all = all && ok;
    table.add({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), ok ? "ok" : "WRONG"});
  }
  out << table.text() << std::flush;
  return all;
}

}  // namespace sluice::bench
