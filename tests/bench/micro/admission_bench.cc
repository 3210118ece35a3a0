#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <benchmark/benchmark.h>

#include "router/admission.h"

namespace sluice::router {
namespace {

class NoWaiter final : public Waiter {
 public:
  void granted(Granted) noexcept override {}
};

policy::PoolConfig eight_replicas() {
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::Plb;
  for (const char* name : {"premium", "freemium"}) {
    policy::ClassParams& c = config.classes.emplace_back();
    c.name = name;
    c.target = 4;
    c.return_ratio = *Ratio::parse("0.8");
  }
  for (int i = 0; i < 8; ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt});
  return config;
}

enum class Closing { Apart, WithTheNext };

// A transaction's part of the policy's lock: a slot is asked for, and given back by a call of its own or with
// the thread's next request.
void transaction(benchmark::State& state, Closing closing) {
  static std::unique_ptr<Admission> admission;
  if (state.thread_index() == 0) admission = std::make_unique<Admission>(eight_replicas(), AdmissionLimits{});
  NoWaiter waiter;
  SessionTag tag;
  tag.user = "alice";
  tag.database = "app";
  tag.use = SlotUse::Transaction;
  std::optional<Granted> before;
  bool entered = false;
  for (auto _ : state) {
    if (!entered) {
      (void)admission->enter(tag);  // here all threads have seen the table
      entered = true;
    }
    std::span<const Granted> finished;
    if (before) finished = std::span(&*before, 1);
    Admission::Answer answer = admission->ask(tag, waiter, {}, Servers::Replicas, {}, finished);
    before.reset();
    if (closing == Closing::Apart)
      admission->close(std::get<Granted>(answer));
    else
      before = std::get<Granted>(std::move(answer));
  }
  if (before) admission->close(*before);
  if (entered) admission->leave(tag);
}

BENCHMARK_CAPTURE(transaction, closed_apart, Closing::Apart)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_CAPTURE(transaction, closed_with_the_next, Closing::WithTheNext)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace sluice::router
