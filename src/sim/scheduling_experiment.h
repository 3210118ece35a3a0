#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/stats/interval.h"

#include "sim/run_outcomes.h"
#include "sim/stream_plan.h"
#include "sim/table.h"

namespace sluice::sim {

// One server and what it serves first.
enum class Schedule {
  Fcfs,
  Ps,
  ShortestConnectionFirst,  // the connection with the least left to send, chunk by chunk
  Srpt,
};
inline constexpr Schedule kSchedules[] = {Schedule::Fcfs, Schedule::Ps, Schedule::ShortestConnectionFirst,
                                          Schedule::Srpt};
std::string_view schedule_name(Schedule) noexcept;  // "fcfs", "ps", "shortest_connection_first", "srpt"

struct SchedulingPlan : StreamPlan {
  SchedulingPlan() {
    loads = {0.5, 0.8, 0.9, 0.95};
    jobs = 500'000;
  }

  double quantum = 300;  // chunk of shortest-connection-first
};

struct SchedulingRow {
  double alpha = 0, load = 0;
  Schedule schedule = Schedule::Fcfs;
  double ps_response = 0;  // mean response time of PS by formula
  // By formula: means of response time and slowdown, and E[T(p)] / p, the stretch of the largest size.
  // Nothing for shortest-connection-first, which lies between SRPT and shortest first.
  struct Formula {
    double response = 0, slowdown = 0, largest = 0;
  };
  std::optional<Formula> formula;
  // Simulated: the same; `largest` is the mean stretch of the largest 0.1% of the sizes.
  std::optional<stats::Interval> response, slowdown, largest;
};

// As AssignmentExperiment: independent runs, threads as the caller likes.
class SchedulingExperiment {
 public:
  explicit SchedulingExperiment(const SchedulingPlan&);

  std::size_t run_count() const noexcept { return outcomes_.size(); }
  void run(std::size_t index);
  std::uint64_t event_count() const noexcept { return outcomes_.event_count(); }
  std::vector<SchedulingRow> rows() const;

 private:
  struct Outcome {
    double response = 0, slowdown = 0, largest = 0;
    std::uint64_t events = 0;
  };

  SchedulingPlan plan_;
  std::vector<SchedulingRow> cells_;
  RunOutcomes<Outcome> outcomes_;
};

Table scheduling_table(const std::vector<SchedulingRow>&);
Table scheduling_csv(const std::vector<SchedulingRow>&);

}  // namespace sluice::sim
