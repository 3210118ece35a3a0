#include "sluice/policy/admission_queue.h"

#include <algorithm>
#include <utility>

namespace sluice::policy {

struct QueueLine {
  ClassId session_class;
  Gates gates{};
  std::vector<ReplicaId> failed;
  QueueEntry* head = nullptr;
  QueueEntry* tail = nullptr;
  std::size_t length = 0;
  std::size_t place = 0;    // in AdmissionQueue::lines_
  std::uint64_t tried = 0;  // the last round of questions in which it was asked about
};

namespace {

bool all_open(const Gates& gates) noexcept {
  return std::all_of(gates.begin(), gates.end(), [](const Gate* g) { return g == nullptr || g->open(); });
}

}  // namespace

std::string_view discipline_name(QueueDiscipline discipline) noexcept {
  switch (discipline) {
    case QueueDiscipline::Fcfs:
      return "fcfs";
  }
  return "unknown";
}

AdmissionQueue::AdmissionQueue(Assignment& assignment, RoundTripsOf round_trips)
    : assignment_(assignment), round_trips_(std::move(round_trips)) {}

AdmissionQueue::~AdmissionQueue() {
  SLUICE_ASSERT(waiting_ == 0);
}

// A class that a reload has removed waits as the lowest, as its arrivals are counted.
std::size_t AdmissionQueue::rank(ClassId c) const noexcept {
  const Pools& pools = assignment_.pools();
  return pools.configured(c) ? pools.rank(c) : pools.classes().size() - 1;
}

bool AdmissionQueue::any_slot() const noexcept {
  const Pools& pools = assignment_.pools();
  const auto all = pools.replicas();
  return std::any_of(all.begin(), all.end(), [&](ReplicaId r) { return pools.live(r) && pools.has_slot(r); });
}

bool AdmissionQueue::any_live(ReplicaSet besides) const noexcept {
  const Pools& pools = assignment_.pools();
  const auto all = pools.replicas();
  return std::any_of(all.begin(), all.end(), [&](ReplicaId r) {
    return pools.live(r) && std::find(besides.begin(), besides.end(), r) == besides.end();
  });
}

Decision AdmissionQueue::decide(Arrival arrival, ReplicaSet failed) {
  arrival.round_trips = {};
  if (round_trips_ && assignment_.pools().order() == ReplicaOrder::Nearest)
    arrival.round_trips = round_trips_(arrival.host);
  return assignment_.admit(arrival, failed);
}

AdmissionQueue::Answer AdmissionQueue::ask(QueueEntry& entry, const Arrival& arrival, const Gates& gates,
                                           ReplicaSet failed, QueueTime now, Wait wait, Decision& decision) {
  SLUICE_ASSERT(!entry.queued());
  const ClassId c = arrival.session_class;
  if (!std::exchange(entry.kept_, false)) entry.place_ = {now, ++arrivals_};
  decision = Decision{};
  // Where others wait in vain for the same answer, there is no need to ask for it.
  QueueLine* const joined = open_ == 0 ? nullptr : find_line(c, gates, failed);
  if (joined != nullptr || !all_open(gates)) {
    if (!any_live(failed)) return Answer::NoReplica;
  } else {
    decision = decide(arrival, failed);
    if (decision.outcome != Outcome::Refused) return Answer::Granted;
    if (!decision.waits) return Answer::NoReplica;
  }
  if (wait == Wait::No) return Answer::WouldWait;
  if (settings_.waiting_max > 0 && std::cmp_greater_equal(waiting_, settings_.waiting_max))
    return Answer::Full;
  if (const std::int64_t limit = settings_.of_rank[rank(c)];
      limit > 0 && std::cmp_greater_equal(waiting(c), limit))
    return Answer::ClassFull;
  entry.arrival_ = arrival;
  entry.arrival_.round_trips = {};
  insert(joined != nullptr ? *joined : open_line(c, gates, failed), entry);
  return Answer::Queued;
}

QueueLine* AdmissionQueue::find_line(ClassId c, const Gates& gates, ReplicaSet failed) const noexcept {
  for (std::size_t i = 0; i < open_; ++i) {
    QueueLine& line = *lines_[i];
    if (line.session_class == c && line.gates == gates &&
        std::equal(line.failed.begin(), line.failed.end(), failed.begin(), failed.end()))
      return &line;
  }
  return nullptr;
}

QueueLine& AdmissionQueue::open_line(ClassId c, const Gates& gates, ReplicaSet failed) {
  if (!failed.empty()) {
    const auto with_failures = static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(open_),
                      [](const auto& line) { return !line->failed.empty(); }));
    if (with_failures >= kFailureLinesMax) {
      failed = {};
      if (QueueLine* const line = find_line(c, gates, failed)) return *line;
    }
  }
  if (open_ == lines_.size()) lines_.push_back(std::make_unique<QueueLine>());
  QueueLine& line = *lines_[open_];
  line.session_class = c;
  line.gates = gates;
  line.failed.assign(failed.begin(), failed.end());
  line.place = open_++;
  line.tried = 0;
  return line;
}

// At the end, but for one that asks again.
void AdmissionQueue::insert(QueueLine& line, QueueEntry& entry) {
  QueueEntry* before = line.tail;
  while (before != nullptr && before->place_.number > entry.place_.number)
    before = before->before_;
  entry.line_ = &line;
  entry.before_ = before;
  entry.behind_ = before != nullptr ? before->behind_ : line.head;
  (entry.before_ != nullptr ? entry.before_->behind_ : line.head) = &entry;
  (entry.behind_ != nullptr ? entry.behind_->before_ : line.tail) = &entry;
  ++line.length;
  ++waiting_;
}

void AdmissionQueue::unlink(QueueEntry& entry) {
  QueueLine& line = *entry.line_;
  (entry.before_ != nullptr ? entry.before_->behind_ : line.head) = entry.behind_;
  (entry.behind_ != nullptr ? entry.behind_->before_ : line.tail) = entry.before_;
  entry.line_ = nullptr;
  entry.before_ = entry.behind_ = nullptr;
  --waiting_;
  if (--line.length > 0) return;
  --open_;
  std::swap(lines_[line.place], lines_[open_]);
  lines_[line.place]->place = line.place;
}

void AdmissionQueue::withdraw(QueueEntry& entry) {
  SLUICE_ASSERT(entry.queued());
  unlink(entry);
}

bool AdmissionQueue::before(const QueueLine& a, const QueueLine& b, QueueTime now) const noexcept {
  const auto aged = [&](const QueueLine& line) {
    return settings_.ageing.count() > 0 && now - line.head->place_.since >= settings_.ageing;
  };
  const bool aged_a = aged(a);
  if (aged_a != aged(b)) return aged_a;
  const std::size_t rank_a = rank(a.session_class);
  const std::size_t rank_b = rank(b.session_class);
  if (!aged_a && rank_a != rank_b) return rank_a < rank_b;
  return a.head->place_.number < b.head->place_.number;
}

QueueLine* AdmissionQueue::first_untried(QueueTime now) const noexcept {
  QueueLine* first = nullptr;
  for (std::size_t i = 0; i < open_; ++i) {
    QueueLine& line = *lines_[i];
    if (line.tried != round_ && (first == nullptr || before(line, *first, now))) first = &line;
  }
  return first;
}

// Failures count only while there is another replica to hope for.
bool AdmissionQueue::try_head(QueueLine& line, Decision& decision) {
  const ReplicaSet failed = any_live(line.failed) ? ReplicaSet(line.failed) : ReplicaSet();
  decision = decide(line.head->arrival_, failed);
  return decision.outcome != Outcome::Refused;
}

QueueEntry* AdmissionQueue::next(QueueTime now, Decision& decision) {
  if (waiting_ == 0 || !any_slot()) return nullptr;  // mostly this is all
  ++round_;
  while (QueueLine* const line = first_untried(now)) {
    line->tried = round_;
    if (!all_open(line->gates)) continue;
    if (!try_head(*line, decision)) {
      // The policy does not know of gates: it has the same answer for all lines of that class.
      for (std::size_t i = 0; i < open_; ++i)
        if (lines_[i]->session_class == line->session_class && lines_[i]->failed == line->failed)
          lines_[i]->tried = round_;
      continue;
    }
    QueueEntry* const entry = line->head;
    unlink(*entry);
    return entry;
  }
  return nullptr;
}

std::size_t AdmissionQueue::waiting(ClassId c) const noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < open_; ++i)
    if (lines_[i]->session_class == c) sum += lines_[i]->length;
  return sum;
}

QueueTime AdmissionQueue::oldest(ClassId c, QueueTime now) const noexcept {
  QueueTime since = now;
  for (std::size_t i = 0; i < open_; ++i)
    if (lines_[i]->session_class == c) since = std::min(since, lines_[i]->head->place_.since);
  return since;
}

}  // namespace sluice::policy
