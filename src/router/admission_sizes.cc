// The search for the sizes that replicas take, outside of the lock.

#include <mutex>
#include <optional>
#include <utility>

#include "router/admission.h"

namespace sluice::router {

void Admission::set_search_due(std::function<void()> due) {
  search_due_ = std::move(due);
  replicas_.assignment.set_size_search(policy::SizeIntervals::Search::Apart);
}

void Admission::search_sizes() {
  for (;;) {
    std::optional<policy::Pools::SizeQuestion> asked;
    {
      const std::lock_guard lock(mutex_);
      search_asked_ = false;
      asked = replicas_.assignment.take_size_question();
    }
    if (!asked) return;
    const policy::SizeIntervals::Answer answer = policy::SizeIntervals::answer(asked->question);
    Grants grants;
    {
      const std::lock_guard lock(mutex_);
      if (replicas_.assignment.take_size_answer(*asked, answer)) serve(grants);
    }
    deliver(grants);
  }
}

}  // namespace sluice::router
