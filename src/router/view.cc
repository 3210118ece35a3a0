#include "router/view.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include <asio/post.hpp>

#include "router/router.h"
#include "router/version.h"
#include "router/view_rows.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using admin::CommandResult;
using admin::Part;

// An answer that the worker threads contribute to. Whoever finishes last takes it home.
struct Gathering {
  explicit Gathering(std::size_t workers) : rows(workers), missing(workers) {}
  std::vector<ConnectionRows> rows;
  std::atomic<std::size_t> missing;
};

CommandResult not_found(std::string message) {
  return {"42704", std::move(message), "", "", {}};
}

}  // namespace

std::string View::version() const {
  return kVersion;
}

admin::WallTime View::now() const {
  return std::chrono::system_clock::now();
}

void View::gather(Part part, SnapshotDone done) {
  if (part == Part::Routes) {
    asio::post(router_.control(), [&router = router_, home = home_, done = std::move(done)] {
      admin::Snapshot rows;
      rows.routes = router.route_rows();
      asio::post(home, [done, rows = std::move(rows)] { done(rows); });
    });
    return;
  }
  if (part == Part::Overview) {
    done(make_overview(router_, past_minute_));
    return;
  }
  if (!needs_connections(part)) {
    done(make_snapshot_rows(router_, part, {}));
    return;
  }
  const auto& workers = router_.shared().workers;
  auto gathering = std::make_shared<Gathering>(workers.size());
  auto finish = std::make_shared<SnapshotDone>(std::move(done));
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Worker& worker = *workers[i];
    asio::post(worker.context(), [this, part, gathering, finish, i, &worker] {
      gathering->rows[i] = connection_rows(worker, now());
      if (gathering->missing.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      asio::post(home_, [this, part, gathering, finish] {
        ConnectionRows all;
        for (ConnectionRows& rows : gathering->rows)
          all.append(std::move(rows));
        (*finish)(make_snapshot_rows(router_, part, std::move(all)));
      });
    });
  }
}

void View::reload(CommandDone done) {
  asio::post(router_.control(), [&router = router_, home = home_, done = std::move(done)] {
    asio::post(home, [done, result = router.reload()] { done(result); });
  });
}

void View::set_draining(std::string replica, admin::Draining draining, CommandDone done) {
  Shared& shared = router_.shared();
  if (shared.admission.set_draining(replica, draining == admin::Draining::On)) {
    // A drained server is to be left alone, by idle connections as well.
    const auto id = shared.admission.find_replica(replica);
    if (id && draining == admin::Draining::On) shared.drop_servers(ServerId(id->value()));
    log::info(draining == admin::Draining::On ? "draining" : "draining no more", {{"replica", replica}});
    return done({});
  }
  done(not_found("there is no replica \"" + replica + "\""));
}

void View::kill_client(std::uint64_t id, CommandDone done) {
  const auto& workers = router_.shared().workers;
  auto missing = std::make_shared<std::atomic<std::size_t>>(workers.size());
  auto found = std::make_shared<std::atomic<bool>>(false);
  for (const auto& worker : workers) {
    asio::post(worker->context(), [&worker = *worker, home = home_, id, missing, found, done] {
      const auto session = worker.sessions().find(id);
      if (session != worker.sessions().end()) {
        session->second->stop(killed(), telemetry::CloseReason::Killed);
        found->store(true, std::memory_order_relaxed);
      }
      if (missing->fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      asio::post(home, [id, done, hit = found->load(std::memory_order_relaxed)] {
        done(hit ? CommandResult{} : not_found("there is no client " + std::to_string(id)));
      });
    });
  }
}

void View::command_refused(std::string_view command, admin::CommandRefusal why, const std::string& peer) {
  router_.command_refused(command, why, peer);
}

void View::shutdown(admin::ShutdownMode mode, CommandDone done) {
  router_.request_shutdown(mode);
  done({});
}

}  // namespace sluice::router
