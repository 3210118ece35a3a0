#include "router/console_session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "admin/console.h"
#include "net/deadline.h"
#include "protocol/backend_messages.h"
#include "router/classify.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kConsoleReadBytes = 4096;
constexpr auto kWriteTimeout = 30s;

std::optional<admin::Privilege> privilege_of(const config::Options& options, const std::string& user) {
  const auto names = [&](const std::vector<std::string>& users) {
    return std::find(users.begin(), users.end(), user) != users.end();
  };
  if (names(options.admin_users)) return admin::Privilege::Admin;
  if (names(options.stats_users)) return admin::Privilege::Stats;
  return std::nullopt;
}

asio::awaitable<bool> send(net::Stream& client, Bytes bytes) {
  net::Deadline deadline(client.get_executor(), kWriteTimeout, [&client] { client.close(); });
  const auto sent = co_await client.write_all(bytes);
  co_return sent.has_value();
}

// Sleeps until the console has something to say.
asio::awaitable<void> wait_for(asio::steady_timer& woken) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await woken.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
}

}  // namespace

bool console_database(std::string_view name) noexcept {
  return name == "sluice" || name == "pgbouncer";
}

asio::awaitable<void> run_console(Worker& worker, SnapshotPtr snapshot, net::Stream& client,
                                  ClientIdentity identity) {
  const auto privilege = privilege_of(snapshot->options(), identity.startup.user);
  Bytes output = std::move(identity.output);
  if (!privilege) {
    protocol::append_error_response(
        output, {"FATAL", "42501", "user \"" + identity.startup.user + "\" may not use the admin console", "",
                 "Name the user in admin_users or stats_users."});
    (void)co_await send(client, std::move(output));
    client.close();
    co_return;
  }
  asio::steady_timer woken(client.get_executor(), asio::steady_timer::time_point::max());
  bool awake = false;
  admin::ConsoleSession::Settings settings;
  settings.user = identity.startup.user;
  settings.database = identity.startup.database;
  settings.application_name = parameter(identity.startup, "application_name");
  settings.privilege = *privilege;
  admin::ConsoleSession console(worker.view(), std::move(settings), [&] {
    awake = true;
    woken.cancel();
  });
  console.start();
  console.feed(identity.unread);
  append(output, console.take_output());
  std::array<std::byte, kConsoleReadBytes> buffer;
  for (;;) {
    while (!output.empty()) {
      if (!co_await send(client, std::move(output))) co_return;
      output = console.take_output();
    }
    if (console.closed()) break;
    if (console.wants_input()) {
      const auto count = co_await client.read_some(buffer);
      if (!count) break;
      console.feed(ByteView(buffer).first(*count));
    } else if (!std::exchange(awake, false)) {
      co_await wait_for(woken);
      if (!client.is_open()) co_return;  // ended by stop(), whose router may never answer
      awake = false;
    }
    output = console.take_output();
  }
  client.close();
}

}  // namespace sluice::router
