#include "pgclient/cancel.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <libpq-fe.h>

namespace sluice::pgclient {

void Cancel::Free::operator()(pg_cancel* request) const noexcept {
  PQfreeCancel(request);
}

bool Cancel::send() noexcept {
  char why[256];
  return request_ != nullptr && PQcancel(request_.get(), why, sizeof why) == 1;
}

// Whichever of sender and thread ends last frees it.
struct CancelSender::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Cancel> waiting;
  bool over = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return over || !waiting.empty(); });
      if (over) return;
      Cancel next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      next.send();
      lock.lock();
    }
  }
};

CancelSender::~CancelSender() {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
  shared_->waiting.clear();
  shared_->changed.notify_one();
}

void CancelSender::send(Cancel cancel) {
  const bool first = !shared_;
  if (first) shared_ = std::make_shared<Shared>();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waiting.push_back(std::move(cancel));
    shared_->changed.notify_one();
  }
  if (first) std::thread([shared = shared_] { shared->work(); }).detach();
}

}  // namespace sluice::pgclient
