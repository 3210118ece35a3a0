// Commands of the console about databases.

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include <asio/post.hpp>

#include "config/match.h"
#include "router/router.h"
#include "router/settling.h"
#include "router/view.h"
#include "router/view_rows.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using admin::CommandResult;

bool concerns(const admin::RouterView::DatabaseName& database, const Session& session) {
  return !session.console() && session.logged_in() && (!database || session.tag().database == *database);
}

CommandResult no_such_database(const std::string& name) {
  return {"42704", "there is no database \"" + name + "\"", "", "SHOW DATABASES lists them.", {}};
}

// It could not be told of a pause.
CommandResult successor_starts() {
  return {"55000",
          "another process is about to serve in place of this one",
          "",
          "Try again in a moment, there or here.",
          {}};
}

void log_command(std::string_view command, const admin::RouterView::DatabaseName& database) {
  log::info("console command", {{"command", command}, {"database", database.value_or("(all)")}});
}

}  // namespace

// False when no client could ask for that database; then `done` has been told.
bool View::knows(const DatabaseName& database, const CommandDone& done) const {
  if (!database) return true;
  const SnapshotPtr snapshot = router_.snapshot();
  if (*database != "*" && config::find_database(*snapshot->config, *database) != nullptr) return true;
  CommandResult refusal = no_such_database(*database);
  if (*database == "*") refusal.hint = "Name the databases that clients ask for.";
  done(std::move(refusal));
  return false;
}

void View::drop_idle(const DatabaseName& database) {
  if (!database) return router_.shared().drop_idle(database);
  const SnapshotPtr snapshot = router_.snapshot();
  const config::Database* entry = config::find_database(*snapshot->config, *database);
  const bool renamed = entry != nullptr && !entry->server_database.empty();
  router_.shared().drop_idle(renamed ? entry->server_database : *database);
}

void View::pause(DatabaseName database, CommandDone done) {
  if (!knows(database, done)) return;
  log_command("PAUSE", database);
  if (router_.shared().pause(database) == DatabaseGates::Pause::Refused) return done(successor_starts());
  drop_idle(database);
  Settling::Settings settings;
  settings.until_none = [database](const Session& s) { return s.past_gate() && concerns(database, s); };
  settings.interrupted = [&gates = router_.shared().gates, database]() -> CommandResult {
    if (database ? gates.paused(*database) : gates.all_paused()) return {};
    return {"57014", "RESUME came before the sessions had left their servers", "", "", {}};
  };
  Settling::start(router_, home_, std::move(settings), std::move(done));
}

void View::resume(DatabaseName database, CommandDone done) {
  if (!knows(database, done)) return;
  log_command("RESUME", database);
  if (!router_.shared().resume(database)) {
    const bool by_all = database && router_.shared().gates.all_paused();
    return done(
        {"55000",
         database ? "database \"" + *database + "\" is not paused by its name" : "not paused",
         "",
         by_all ? "All databases are paused: RESUME without a name." : "SHOW DATABASES tells what is paused.",
         {}});
  }
  done({});
}

void View::kill_database(DatabaseName database, CommandDone done) {
  log_command("KILL", database);
  Shared& shared = router_.shared();
  const DatabaseGates::Pause paused = shared.pause(database);
  if (paused == DatabaseGates::Pause::Refused) return done(successor_starts());
  const bool paused_now = paused == DatabaseGates::Pause::Done;
  const auto& workers = router_.shared().workers;
  const auto& listed = router_.snapshot()->config->databases;
  const bool known = !database || std::any_of(listed.begin(), listed.end(),
                                              [&](const auto& entry) { return entry.name == *database; });
  auto missing = std::make_shared<std::atomic<std::size_t>>(workers.size());
  auto found = std::make_shared<std::atomic<bool>>(known);
  for (const auto& worker : workers) {
    worker->end_sessions(
        [database, found](const Session& s) {
          const bool meant = concerns(database, s);
          if (meant) found->store(true, std::memory_order_relaxed);
          return meant;
        },
        killed(), telemetry::CloseReason::Killed);
    // Behind it on the same thread.
    asio::post(worker->context(), [this, &shared, home = home_, database, paused_now, missing, found, done] {
      if (missing->fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      asio::post(home,
                 [this, &shared, database, paused_now, done, hit = found->load(std::memory_order_relaxed)] {
                   if (hit) {
                     drop_idle(database);
                     return done({});
                   }
                   if (paused_now) shared.resume(database);
                   done(no_such_database(*database));
                 });
    });
  }
}

void View::reconnect(DatabaseName database, CommandDone done) {
  if (!knows(database, done)) return;
  log_command("RECONNECT", database);
  router_.shared().gates.reconnect(database, DatabaseGates::Clock::now());
  drop_idle(database);
  done({});
}

void View::wait_close(DatabaseName database, CommandDone done) {
  if (!knows(database, done)) return;
  Settling::Settings settings;
  settings.until_none = [database](const Session& s) { return concerns(database, s) && s.close_needed(); };
  Settling::start(router_, home_, std::move(settings), std::move(done));
}

void View::set_availability(std::string database, admin::Availability availability, CommandDone done) {
  if (!knows(database, done)) return;
  const bool disable = availability == admin::Availability::Disabled;
  log_command(disable ? "DISABLE" : "ENABLE", database);
  DatabaseGates& gates = router_.shared().gates;
  if (disable) {
    gates.disable(database);
  } else {
    gates.enable(database);
  }
  done({});
}

void View::set_option(std::string key, std::string value, CommandDone done) {
  asio::post(router_.control(), [&router = router_, home = home_, key = std::move(key),
                                 value = std::move(value), done = std::move(done)] {
    asio::post(home, [done, result = router.set_option(key, value)] { done(result); });
  });
}

}  // namespace sluice::router
