#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/policy/assignment.h"

#include "base/assert.h"

namespace sluice::policy {

// Since any fixed moment, on a clock that never goes back.
using QueueTime = std::chrono::nanoseconds;

// What many waiters share and that is limited beside replicas: the slots of a database, a user and so on.
struct Gate {
  std::int64_t active = 0;
  std::int64_t limit = 0;  // 0: none
  bool closed = false;     // nobody goes for now, whatever the limit

  bool open() const noexcept { return !closed && (limit == 0 || active < limit); }
};
inline constexpr std::size_t kGateCount = 5;
using Gates = std::array<Gate*, kGateCount>;  // null: not limited

// Waiters that get the same answers: of one class, behind the same gates, having failed on the same replicas,
// and where sizes decide, of one size.
struct QueueLine;

// Where a request stands among the others, from when it first asked.
struct QueuePlace {
  QueueTime since{};
  std::uint64_t number = 0;  // in the order of arrival
  double order = 0;          // its size, for ShortestFirst
};

// A waiter's place in the queue; lives in whatever waits. While queued() it must stay where it is.
class QueueEntry {
 public:
  QueueEntry() = default;
  QueueEntry(const QueueEntry&) = delete;
  QueueEntry& operator=(const QueueEntry&) = delete;
  ~QueueEntry() { SLUICE_ASSERT(line_ == nullptr); }

  bool queued() const noexcept { return line_ != nullptr; }
  // Of the last time that it asked.
  const QueuePlace& place() const noexcept { return place_; }
  // It asks again, having found no use for what it was given: with the place that it had, which may have been
  // another entry's.
  void keep_place(const QueuePlace& place) noexcept {
    place_ = place;
    kept_ = true;
  }

 private:
  friend class AdmissionQueue;
  friend class WaiterHeap;
  QueueLine* line_ = nullptr;
  QueueEntry* before_ = nullptr;
  QueueEntry* behind_ = nullptr;
  std::size_t heap_place_ = 0;  // in its line's heap
  Arrival arrival_;
  QueuePlace place_;
  bool kept_ = false;  // place_ holds for the next time that it asks
};

// In which order waiters of one class are served.
enum class QueueDiscipline {
  Fcfs,           // by arrival
  ShortestFirst,  // the smallest expected size, by arrival among equals; one whose size is not known counts
                  // as of the mean size of those that came lately
};
std::string_view discipline_name(QueueDiscipline) noexcept;

struct QueueSettings {
  QueueDiscipline discipline = QueueDiscipline::Fcfs;
  std::chrono::nanoseconds ageing{};  // after so long a waiter is aged; 0: never
  std::int64_t waiting_max = 0;       // waiters at a time; 0: no limit
  std::array<std::int64_t, kClassCountMax>
      of_rank{};  // the same for each class, in the configuration's order
};

// Who gets the next slot. Waiters hold no replica: they are asked about in queue order, and the first that
// the policy has a replica with a slot for goes. Only then do roles change.
//
// Order:   the aged first, by arrival, whatever their class; then by class, the highest first; within a class
//          as the discipline says. A waiter for which there is no slot is passed over and keeps its place.
// No overtaking: after whatever may free a slot, change a role (a grant, too) or move the sizes that replicas
//          take (arrive()) the caller calls next() until it gives nullptr. So in between no waiter can go,
//          and a newcomer that can takes nothing that a waiter could have had.
// Bound:   from the moment that a waiter is aged, every slot that it could have used goes to it or to one
// that
//          arrived before it. So it gets one after at most as many such slots as there were waiters when it
//          came (waiting_max - 1 where that is set), however many of a higher class arrive behind it.
// Cost:    ask() and next() O(lines + replicas x classes) per policy decision, of which a granted slot costs
//          one and, while slots are left, one more per class (and interval of sizes) that waits in vain.
//          Lines: one per class that waits, times the distinct gates, failures and, where sizes decide, size
//          steps of its waiters. ShortestFirst: O(log waiters) more for each. Allocates when there are more
//          lines, or longer ones, than ever before.
// Thread:  none of its own; the caller serialises all calls, those to the Assignment too.
class AdmissionQueue {
 public:
  using RoundTripsOf = std::function<std::span<const std::chrono::nanoseconds>(std::string_view host)>;

  // `round_trips` is asked where ReplicaOrder::Nearest is configured; it may be empty. The Assignment must
  // outlive the queue.
  explicit AdmissionQueue(Assignment&, RoundTripsOf round_trips = {});
  ~AdmissionQueue();
  AdmissionQueue(const AdmissionQueue&) = delete;
  AdmissionQueue& operator=(const AdmissionQueue&) = delete;

  enum class Answer {
    Granted,    // counted in the Assignment
    Queued,     // until next() gives it out or withdraw()
    NoReplica,  // none is live beside those it failed on
    WouldWait,  // it would have to, and may not
    Full,       // waiting_max
    ClassFull,  // of_rank of its class
  };
  enum class Wait { Yes, No };
  // Before ask(): gives a newcomer its place and, if a replica is live beside those it failed on, counts its
  // size; once for each request, so not for one that keeps its place. True: replicas may take other sizes
  // now, so that next() comes before ask(). What was not done when ask() comes is done there.
  bool arrive(QueueEntry&, const Arrival&, ReplicaSet failed, QueueTime now);
  // A newcomer. `decision` is set unless the answer is Queued without a question to the policy. What the
  // arrival points to must live as long as it waits, but for its round trips, which are not looked at. A
  // waiter with an unusual set of failures may be queued without it, and may then be given one of these
  // replicas again.
  Answer ask(QueueEntry&, const Arrival&, const Gates&, ReplicaSet failed, QueueTime now, Wait, Decision&);
  // The next waiter that can go: it is out of the queue, and counted in the Assignment. nullptr if there is
  // none. The gates are the caller's to count, before it asks again.
  QueueEntry* next(QueueTime now, Decision&);
  // Takes a waiter out that waits no longer.
  void withdraw(QueueEntry&);
  // After a reload of gates or policy: those who wait get the gates that hold for them now, and keep their
  // places. O(waiters x lines).
  using GatesOf = std::function<Gates(const QueueEntry&)>;
  void regroup(const GatesOf& gates_of);

  void set_settings(const QueueSettings& settings);

  std::size_t waiting() const noexcept { return waiting_; }
  std::size_t waiting(ClassId) const noexcept;
  // When the one that has waited longest came; `now` if nobody waits.
  QueueTime oldest(ClassId, QueueTime now) const noexcept;

 private:
  // Beyond so many sets of failures at a time, failures are forgotten when their waiter is queued.
  static constexpr std::size_t kFailureSetsMax = 16;

  QueueLine* find_line(ClassId, const Gates&, ReplicaSet failed, SizeStep) const noexcept;
  QueueLine& open_line(ClassId, const Gates&, ReplicaSet failed, SizeStep);
  SizeStep step_of(const Arrival&) const noexcept;
  void count_size(const Arrival&) noexcept;
  double order_of(const Arrival&) const noexcept;
  bool remembers(ReplicaSet failed) const noexcept;
  void insert(QueueLine&, QueueEntry&);
  void unlink(QueueEntry&);
  QueueLine* first_untried(QueueTime now) const noexcept;
  bool aged(const QueueLine&, QueueTime now) const noexcept;
  QueueEntry& first(const QueueLine&, QueueTime now) const noexcept;
  bool before(const QueueLine&, const QueueLine&, QueueTime now) const noexcept;
  void tried_in_vain(const QueueLine&, const Decision&);
  bool any_slot() const noexcept;
  bool any_live(ReplicaSet besides) const noexcept;
  std::size_t rank(ClassId) const noexcept;
  Decision decide(Arrival, ReplicaSet failed);
  bool try_first(QueueLine&, QueueEntry&, Decision&);

  Assignment& assignment_;
  RoundTripsOf round_trips_;
  QueueSettings settings_;
  std::vector<std::unique_ptr<QueueLine>> lines_;  // the first open_ have waiters, the rest is for use again
  std::size_t open_ = 0;
  std::size_t waiting_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t round_ = 0;
  double mean_size_ = 0;  // of those with a known one, the last thousand weighing most
  double sizes_seen_ = 0;
};

}  // namespace sluice::policy
