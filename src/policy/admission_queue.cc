#include "sluice/policy/admission_queue.h"

#include <algorithm>
#include <utility>

namespace sluice::policy {

// A binary heap of waiters, the smallest order first. Each knows its place, so that it can leave from
// anywhere.
class WaiterHeap {
 public:
  bool empty() const noexcept { return all_.empty(); }
  void clear() noexcept { all_.clear(); }
  QueueEntry& first() const noexcept { return *all_.front(); }
  static bool before(const QueueEntry& a, const QueueEntry& b) noexcept {
    const QueuePlace &x = a.place_, &y = b.place_;
    return x.order != y.order ? x.order < y.order : x.number < y.number;
  }
  void add(QueueEntry& entry) {
    all_.push_back(&entry);
    rise(all_.size() - 1);
  }
  void remove(const QueueEntry& entry) noexcept {
    const std::size_t place = entry.heap_place_;
    QueueEntry* const last = all_.back();
    all_.pop_back();
    if (last == &entry) return;
    all_[place] = last;
    sink(place);
    rise(place);
  }

 private:
  void put(std::size_t place, QueueEntry* entry) noexcept {
    all_[place] = entry;
    entry->heap_place_ = place;
  }
  void rise(std::size_t place) noexcept {
    QueueEntry* const entry = all_[place];
    for (; place > 0 && before(*entry, *all_[(place - 1) / 2]); place = (place - 1) / 2)
      put(place, all_[(place - 1) / 2]);
    put(place, entry);
  }
  void sink(std::size_t place) noexcept {
    QueueEntry* const entry = all_[place];
    for (std::size_t child = 2 * place + 1; child < all_.size(); child = 2 * place + 1) {
      if (child + 1 < all_.size() && before(*all_[child + 1], *all_[child])) ++child;
      if (!before(*all_[child], *entry)) break;
      put(place, all_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<QueueEntry*> all_;
};

struct QueueLine {
  ClassId session_class;
  Gates gates{};
  std::vector<ReplicaId> failed;
  SizeStep step = kNoSizeStep;  // where sizes decide
  WaiterHeap heap;              // for ShortestFirst: the same waiters
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
    case QueueDiscipline::ShortestFirst:
      return "shortest_first";
  }
  return "unknown";
}

AdmissionQueue::AdmissionQueue(Assignment& assignment, RoundTripsOf round_trips)
    : assignment_(assignment), round_trips_(std::move(round_trips)) {}

AdmissionQueue::~AdmissionQueue() {
  SLUICE_ASSERT(waiting_ == 0);
}

void AdmissionQueue::set_settings(const QueueSettings& settings) {
  const bool same = settings.discipline == settings_.discipline;
  settings_ = settings;
  if (same) return;
  for (std::size_t i = 0; i < open_; ++i) {
    lines_[i]->heap.clear();
    if (settings_.discipline != QueueDiscipline::ShortestFirst) continue;
    for (QueueEntry* entry = lines_[i]->head; entry != nullptr; entry = entry->behind_)
      lines_[i]->heap.add(*entry);
  }
}

// Only where it may matter, so that otherwise waiters of all sizes share a line.
SizeStep AdmissionQueue::step_of(const Arrival& arrival) const noexcept {
  return assignment_.by_size() ? size_step(arrival.size) : kNoSizeStep;
}

void AdmissionQueue::count_size(const Arrival& arrival) noexcept {
  if (size_step(arrival.size) == kNoSizeStep) return;
  constexpr double kMeanOver = 1000;
  sizes_seen_ = std::min(sizes_seen_ + 1, kMeanOver);
  mean_size_ += (*arrival.size - mean_size_) / sizes_seen_;
}

double AdmissionQueue::order_of(const Arrival& arrival) const noexcept {
  return size_step(arrival.size) == kNoSizeStep ? mean_size_ : *arrival.size;
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
  return assignment_.place(arrival, failed);
}

bool AdmissionQueue::arrive(QueueEntry& entry, const Arrival& arrival, ReplicaSet failed, QueueTime now) {
  SLUICE_ASSERT(!entry.queued());
  if (std::exchange(entry.kept_, true)) return false;
  const bool counts = any_live(failed);  // else it comes again, or never
  if (counts) count_size(arrival);
  entry.place_ = {now, ++arrivals_, order_of(arrival)};
  return counts && assignment_.arrived(arrival);
}

AdmissionQueue::Answer AdmissionQueue::ask(QueueEntry& entry, const Arrival& arrival, const Gates& gates,
                                           ReplicaSet failed, QueueTime now, Wait wait, Decision& decision) {
  SLUICE_ASSERT(!entry.queued());
  const ClassId c = arrival.session_class;
  arrive(entry, arrival, failed, now);
  entry.kept_ = false;
  decision = Decision{};
  // Where others wait in vain for the same answer, there is no need to ask for it.
  const SizeStep step = step_of(arrival);
  QueueLine* const joined = open_ == 0 ? nullptr : find_line(c, gates, failed, step);
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
  insert(joined != nullptr ? *joined : open_line(c, gates, failed, step), entry);
  return Answer::Queued;
}

QueueLine* AdmissionQueue::find_line(ClassId c, const Gates& gates, ReplicaSet failed,
                                     SizeStep step) const noexcept {
  for (std::size_t i = 0; i < open_; ++i) {
    QueueLine& line = *lines_[i];
    if (line.session_class == c && line.gates == gates && line.step == step &&
        std::equal(line.failed.begin(), line.failed.end(), failed.begin(), failed.end()))
      return &line;
  }
  return nullptr;
}

// Whether a line may be opened for these failures: they are known, or there is room for a set more.
bool AdmissionQueue::remembers(ReplicaSet failed) const noexcept {
  std::array<const QueueLine*, kFailureSetsMax> sets{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < open_; ++i) {
    const QueueLine& line = *lines_[i];
    if (line.failed.empty()) continue;
    if (std::equal(line.failed.begin(), line.failed.end(), failed.begin(), failed.end())) return true;
    const auto known = sets.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < sets.size() &&
        std::none_of(sets.begin(), known, [&](const QueueLine* one) { return one->failed == line.failed; }))
      sets[count++] = &line;
  }
  return count < sets.size();
}

QueueLine& AdmissionQueue::open_line(ClassId c, const Gates& gates, ReplicaSet failed, SizeStep step) {
  if (!failed.empty() && !remembers(failed)) {
    failed = {};
    if (QueueLine* const line = find_line(c, gates, failed, step)) return *line;
  }
  if (open_ == lines_.size()) lines_.push_back(std::make_unique<QueueLine>());
  QueueLine& line = *lines_[open_];
  line.session_class = c;
  line.gates = gates;
  line.failed.assign(failed.begin(), failed.end());
  line.step = step;
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
  if (settings_.discipline == QueueDiscipline::ShortestFirst) line.heap.add(entry);
  ++line.length;
  ++waiting_;
}

void AdmissionQueue::unlink(QueueEntry& entry) {
  QueueLine& line = *entry.line_;
  (entry.before_ != nullptr ? entry.before_->behind_ : line.head) = entry.behind_;
  (entry.behind_ != nullptr ? entry.behind_->before_ : line.tail) = entry.before_;
  if (!line.heap.empty()) line.heap.remove(entry);
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

void AdmissionQueue::regroup(const GatesOf& gates_of) {
  struct Waiting {
    QueueEntry* entry;
    ClassId session_class;
    std::vector<ReplicaId> failed;
  };
  std::vector<Waiting> all;
  all.reserve(waiting_);
  while (open_ > 0) {
    QueueLine& line = *lines_[0];
    all.push_back({line.head, line.session_class, line.failed});
    unlink(*line.head);
  }
  // In the order of arrival, so that each goes to the end of its line.
  std::sort(all.begin(), all.end(), [](const Waiting& a, const Waiting& b) {
    return a.entry->place_.number < b.entry->place_.number;
  });
  for (const Waiting& one : all) {
    const Gates gates = gates_of(*one.entry);
    const SizeStep step = step_of(one.entry->arrival_);
    QueueLine* const line = find_line(one.session_class, gates, one.failed, step);
    insert(line != nullptr ? *line : open_line(one.session_class, gates, one.failed, step), *one.entry);
  }
}

bool AdmissionQueue::aged(const QueueLine& line, QueueTime now) const noexcept {
  return settings_.ageing.count() > 0 && now - line.head->place_.since >= settings_.ageing;
}

QueueEntry& AdmissionQueue::first(const QueueLine& line, QueueTime now) const noexcept {
  return line.heap.empty() || aged(line, now) ? *line.head : line.heap.first();
}

bool AdmissionQueue::before(const QueueLine& a, const QueueLine& b, QueueTime now) const noexcept {
  const bool aged_a = aged(a, now);
  if (aged_a != aged(b, now)) return aged_a;
  const std::size_t rank_a = rank(a.session_class);
  const std::size_t rank_b = rank(b.session_class);
  if (!aged_a && rank_a != rank_b) return rank_a < rank_b;
  const bool by_order = !aged_a && settings_.discipline == QueueDiscipline::ShortestFirst;
  return by_order ? WaiterHeap::before(a.heap.first(), b.heap.first())
                  : a.head->place_.number < b.head->place_.number;
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
bool AdmissionQueue::try_first(QueueLine& line, QueueEntry& entry, Decision& decision) {
  const ReplicaSet failed = any_live(line.failed) ? ReplicaSet(line.failed) : ReplicaSet();
  decision = decide(entry.arrival_, failed);
  return decision.outcome != Outcome::Refused;
}

// The policy does not know of gates: it has the same answer for all lines of that class, where sizes decide
// for those whose sizes go to the same replicas: those of the pool that it decided by.
void AdmissionQueue::tried_in_vain(const QueueLine& line, const Decision& decision) {
  const auto range = assignment_.size_range(line.head->arrival_);
  for (std::size_t i = 0; i < open_; ++i) {
    QueueLine& other = *lines_[i];
    if (other.session_class == line.session_class && other.failed == line.failed &&
        (other.step == line.step ||
         (!decision.undone && assignment_.size_range(other.head->arrival_) == range)))
      other.tried = round_;
  }
}

QueueEntry* AdmissionQueue::next(QueueTime now, Decision& decision) {
  if (waiting_ == 0 || !any_slot()) return nullptr;  // mostly this is all
  ++round_;
  while (QueueLine* const line = first_untried(now)) {
    line->tried = round_;
    if (!all_open(line->gates)) continue;
    QueueEntry& entry = first(*line, now);
    if (!try_first(*line, entry, decision)) {
      tried_in_vain(*line, decision);
      continue;
    }
    unlink(entry);
    return &entry;
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
