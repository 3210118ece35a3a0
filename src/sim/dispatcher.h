#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sluice/policy/assignment.h"
#include "sluice/rng.h"

#include "sim/server.h"

namespace sluice::sim {

using Servers = std::span<const std::unique_ptr<Server>>;

// Gives each job a server when it arrives.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;
  virtual std::size_t choose(double now, const Job&, Servers) = 0;
  virtual void ended(std::size_t /*server*/) {}
};

class RandomDispatcher final : public Dispatcher {
 public:
  explicit RandomDispatcher(std::uint64_t seed) noexcept : rng_(seed) {}
  std::size_t choose(double now, const Job&, Servers) override;

 private:
  Rng rng_;
};

// The server with the least unfinished work (Least-Work-Left, also called Dynamic); the first on a tie.
class LeastWorkDispatcher final : public Dispatcher {
 public:
  std::size_t choose(double now, const Job&, Servers) override;
};

// By size interval with fixed cutoffs, as the formulas of sluice/stats/sita.h have it. What the router does
// is LimitedServer's.
class SitaDispatcher final : public Dispatcher {
 public:
  explicit SitaDispatcher(std::vector<double> cutoffs) noexcept : cutoffs_(std::move(cutoffs)) {}
  std::size_t choose(double now, const Job&, Servers) override;

 private:
  std::vector<double> cutoffs_;
};

// A policy of the router, with jobs for sessions of one class: round_robin is Round-Robin, least_loaded is
// Join-Shortest-Queue.
class PolicyDispatcher final : public Dispatcher {
 public:
  PolicyDispatcher(policy::PolicyKind, std::size_t servers);
  std::size_t choose(double now, const Job&, Servers) override;
  void ended(std::size_t server) override;

 private:
  policy::Assignment assignment_;
};

}  // namespace sluice::sim
