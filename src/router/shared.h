#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/admission.h"
#include "router/call_collector.h"
#include "router/client_legs.h"
#include "router/database_gates.h"
#include "router/directory.h"
#include "router/ids.h"
#include "router/recording_batch.h"
#include "router/refused_logins.h"
#include "router/replay_positions.h"
#include "router/server_pool.h"
#include "router/size_learner.h"
#include "router/snapshot.h"

namespace sluice::router {

class Worker;

// What the threads of one router share. The members are safe from any thread by themselves; the list of
// workers is complete before the first of them runs and is not changed afterwards.
struct Shared {
  Shared(Admission& table, Directory& users);
  ~Shared();

  // PAUSE and RESUME: as the gates' own, and for those that wait for a slot.
  DatabaseGates::Pause pause(const DatabaseGates::Name& database);
  bool resume(const DatabaseGates::Name& database);
  // Closes the idle connections to a server that is gone, draining, or elsewhere now, on all threads.
  void drop_servers(ServerId server);
  // Closes the idle connections to a database, by its name on the server; to all without a name.
  void drop_idle(const std::optional<std::string>& server_database);

  Admission& admission;
  ServerPool pool;
  Directory& directory;
  RefusedLogins refused_logins;
  ClientLegs client_legs;
  DatabaseGates gates;
  ReplayPositions replay_positions;
  SizeBook size_book;
  std::vector<std::unique_ptr<Worker>> workers;
  // Where processes that were taken over from take cancels of the sessions that they keep.
  std::vector<std::string> predecessor_cancels;
  std::function<void(ServerId, std::string reason)> server_failed;  // a passive mark for the health checks
  CallCollector::Deliver calls_finished;                            // to the table of traces
  RecordingBuffer::Deliver recorded;                                // to the file

  std::atomic<std::uint64_t> next_session{1};
  std::atomic<std::size_t> unauthenticated{0};
  std::atomic<std::size_t> workers_running{0};
  std::atomic<bool> shutting_down{false};
};

}  // namespace sluice::router
