#include "sim/replica_group.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice::sim {
namespace {

policy::QueueTime queue_time(double now) noexcept {
  constexpr double kLast = 9e18;  // what nanoseconds can count
  return policy::QueueTime(std::llround(std::min(now * 1e9, kLast)));
}

}  // namespace

ReplicaGroup::ReplicaGroup(const policy::PoolConfig& config, const Settings& settings)
    : assignment_(config), queue_(assignment_) {
  queue_.set_settings(settings.queue);
  for (std::size_t i = 0; i < config.replicas.size(); ++i)
    replicas_.push_back(std::make_unique<SharingServer>(
        SharingServer::Settings{.cores = settings.cores, .cores_per_job = settings.cores_per_query}));
}

ReplicaGroup::~ReplicaGroup() {
  for (const auto& guest : guests_)
    if (guest->queued()) queue_.withdraw(*guest);
}

ReplicaGroup::Asked ReplicaGroup::ask(double now, std::uint32_t id, policy::ClassId session_class,
                                      const Job& waiting_for) {
  if (free_.empty()) {
    guests_.push_back(std::make_unique<Guest>());
    free_.push_back(guests_.back().get());
  }
  Guest* const guest = free_.back();
  guest->id = id;
  guest->session_class = session_class;
  guest->waiting_for = waiting_for;
  policy::Arrival arrival{session_class, "", std::nullopt};
  if (waiting_for.size > 0) arrival.size = waiting_for.size;
  // Replicas may take other sizes from now on: whoever can go by that came before.
  if (queue_.arrive(*guest, arrival, {}, queue_time(now))) grant(now);
  policy::Decision decision;
  const auto answer = queue_.ask(*guest, arrival, policy::Gates{}, {}, queue_time(now),
                                 policy::AdmissionQueue::Wait::Yes, decision);
  switch (answer) {
    case policy::AdmissionQueue::Answer::Granted:
      free_.pop_back();
      guest->replica = decision.replica;
      grant(now);  // it may have changed what others may have
      return {Answer::Granted, guest};
    case policy::AdmissionQueue::Answer::Queued:
      free_.pop_back();
      return {Answer::Queued, guest};
    case policy::AdmissionQueue::Answer::NoReplica:
    case policy::AdmissionQueue::Answer::WouldWait:
    case policy::AdmissionQueue::Answer::Full:
    case policy::AdmissionQueue::Answer::ClassFull:
      break;
  }
  return {};
}

void ReplicaGroup::grant(double now) {
  policy::Decision decision;
  while (policy::QueueEntry* const next = queue_.next(queue_time(now), decision)) {
    auto* const guest = static_cast<Guest*>(next);  // nobody else stands in this queue
    guest->replica = decision.replica;
    granted_.push_back(guest);
  }
}

void ReplicaGroup::serve(double now, const Guest& guest, const Job& query) {
  SLUICE_ASSERT(!guest.queued());
  replicas_[guest.replica.value()]->arrive(now, query);
}

void ReplicaGroup::leave(double now, Guest& guest) {
  SLUICE_ASSERT(!guest.queued());
  assignment_.close(guest.replica, guest.session_class);
  free_.push_back(&guest);
  grant(now);
}

void ReplicaGroup::set_class_weight(double now, policy::ClassId c, Weight weight) {
  assignment_.set_class_weight(c, weight);
  grant(now);
}

double ReplicaGroup::next_event() const noexcept {
  double next = kNever;
  for (const auto& replica : replicas_)
    next = std::min(next, replica->next_event());
  return next;
}

Job ReplicaGroup::step() {
  SharingServer* first = nullptr;
  for (const auto& replica : replicas_)
    if (first == nullptr || replica->next_event() < first->next_event()) first = replica.get();
  SLUICE_ASSERT(first != nullptr && first->next_event() < kNever);
  return *first->step();
}

}  // namespace sluice::sim
