#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sluice/policy/admission_queue.h"

#include "sim/sharing_server.h"

namespace sluice::sim {

// Replicas behind the router's own admission: policy::Assignment decides, policy::AdmissionQueue keeps who
// must wait for a slot, in its order and with its promises, and each replica shares its cores among the
// queries of those it was given to. A guest is a session or a transaction. Use:  ask() for a guest; while it
// is Queued, wait until it is among take_granted(). Then serve() one query after
//       the other, and leave().
class ReplicaGroup {
 public:
  struct Settings {
    double cores = 1, cores_per_query = 1;  // of a replica
    policy::QueueSettings queue = {};
  };

  struct Guest : policy::QueueEntry {
    std::uint32_t id = 0;  // the caller's
    policy::ClassId session_class;
    policy::ReplicaId replica;  // once granted
    Job waiting_for = {};       // the caller's, for when it is granted
  };

  ReplicaGroup(const policy::PoolConfig&, const Settings&);
  ~ReplicaGroup();

  enum class Answer { Granted, Queued, Refused };
  struct Asked {
    Answer answer = Answer::Refused;
    Guest* guest = nullptr;  // until it leaves; null when refused
  };
  // The size of `waiting_for` is the expected one, if it is above 0.
  Asked ask(double now, std::uint32_t id, policy::ClassId, const Job& waiting_for = {});
  void serve(double now, const Guest&, const Job&);
  void leave(double now, Guest&);
  // Those who have waited and have a replica now, in the order in which they got it.
  std::vector<Guest*> take_granted() noexcept { return std::exchange(granted_, {}); }

  void set_class_weight(double now, policy::ClassId, Weight);

  double next_event() const noexcept;
  Job step();  // the query that ends at next_event()

  const policy::Assignment& assignment() const noexcept { return assignment_; }
  const SharingServer& replica(std::size_t index) const noexcept { return *replicas_[index]; }
  std::size_t replica_count() const noexcept { return replicas_.size(); }
  std::size_t waiting() const noexcept { return queue_.waiting(); }
  std::size_t guest_count() const noexcept { return guests_.size() - free_.size(); }

 private:
  void grant(double now);

  policy::Assignment assignment_;
  policy::AdmissionQueue queue_;
  std::vector<std::unique_ptr<SharingServer>> replicas_;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<Guest*> free_;
  std::vector<Guest*> granted_;
};

}  // namespace sluice::sim
