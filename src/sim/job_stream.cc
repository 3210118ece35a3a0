#include "sim/job_stream.h"

#include "sluice/stats/portable_math.h"

#include "base/assert.h"

namespace sluice::sim {
namespace {

struct Due {
  double time = kNever;
  std::size_t server = 0;
};

Due earliest(Servers servers) noexcept {
  Due found;
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (const double time = servers[i]->next_event(); time < found.time) found = {time, i};
  return found;
}

// The jobs of a stream, one after the other.
class Source {
 public:
  explicit Source(const JobStream& stream) noexcept
      : stream_(stream),
        gaps_(derived_seed(stream.seed, 1)),
        sizes_(derived_seed(stream.seed, 2)),
        ranks_(derived_seed(stream.seed, 3)),
        total_(stream.warm_up + stream.jobs) {
    SLUICE_ASSERT(stream.lambda > 0 && stream.ranks >= 1 && total_ <= 0xFFFF'FFFF);
    draw_arrival();
  }

  bool exhausted() const noexcept { return made_ == total_; }
  double next_arrival() const noexcept { return exhausted() ? kNever : next_arrival_; }
  Job take() noexcept {
    const auto rank = static_cast<std::uint32_t>(ranks_.below(stream_.ranks));
    const Job job{next_arrival_, stream_.sizes.draw(sizes_), rank, static_cast<std::uint32_t>(made_++)};
    draw_arrival();
    return job;
  }

 private:
  void draw_arrival() noexcept { next_arrival_ -= stats::portable::log(1 - gaps_.unit()) / stream_.lambda; }

  const JobStream& stream_;
  Rng gaps_, sizes_, ranks_;
  std::uint64_t made_ = 0, total_;
  double next_arrival_ = 0;
};

// Takes the time of an event into account.
void pass(StreamOutcome& out, double to, std::uint64_t in_system) noexcept {
  out.job_time += static_cast<double>(in_system) * (to - out.duration);
  out.duration = to;
  ++out.events;
}

}  // namespace

std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t index) noexcept {
  return Rng(Rng(seed).next() ^ index * 0xD1342543DE82EF95u).next();
}

StreamOutcome run(const JobStream& stream, Servers servers, Dispatcher& dispatcher, const Visit& visit) {
  StreamOutcome out;
  Source source(stream);
  std::uint64_t in_system = 0;
  while (!source.exhausted() || in_system > 0) {
    const Due due = earliest(servers);
    if (source.next_arrival() < due.time) {
      pass(out, source.next_arrival(), in_system++);
      const Job job = source.take();
      out.work_arrived += job.size;
      servers[dispatcher.choose(job.arrived, job, servers)]->arrive(job.arrived, job);
      continue;
    }
    pass(out, due.time, in_system);
    const std::optional<Job> ended = servers[due.server]->step();
    if (!ended) continue;
    --in_system;
    dispatcher.ended(due.server);
    const double response = due.time - ended->arrived;
    const double waiting = response > ended->size ? response - ended->size : 0;
    out.response_sum += response;
    if (ended->id < stream.warm_up) continue;
    out.size.add(ended->size);
    out.waiting.add(waiting);
    out.slowdown.add(waiting / ended->size);
    if (visit) visit(*ended, waiting);
  }
  for (const auto& server : servers)
    out.work_done.push_back(server->work_done(out.duration));
  return out;
}

}  // namespace sluice::sim
