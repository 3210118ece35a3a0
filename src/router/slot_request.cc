#include "router/slot_request.h"

#include <utility>
#include <variant>

#include <asio/post.hpp>

namespace sluice::router {

SlotRequest::SlotRequest(asio::any_io_executor executor, Admission& admission)
    : executor_(std::move(executor)), admission_(admission) {}

void SlotRequest::granted(Granted slot) noexcept {
  asio::post(executor_, [self = std::unique_ptr<SlotRequest>(this), slot = std::move(slot)]() mutable {
    Owner* const owner = std::exchange(self->owner_, nullptr);
    if (owner == nullptr) return self->admission_.close(slot);
    SlotRequests& home = *self->home_;
    home.keep(std::move(self));
    owner->slot_granted(std::move(slot));
  });
}

SlotRequests::~SlotRequests() {
  close_finished();
}

void SlotRequests::close_finished() {
  if (finished_.empty()) return;
  admission_.close(finished_);
  finished_.clear();
}

// Deferred for a moment only: to other threads the slot looks taken until then.
void SlotRequests::close(Granted slot) {
  if (slot.limited) return admission_.close(slot);
  finished_.push_back(std::move(slot));
  if (finished_.size() >= kFinishedMax) return close_finished();
  if (std::exchange(closing_, true)) return;
  asio::post(executor_, [this] {
    closing_ = false;
    close_finished();
  });
}

Admission::Answer SlotRequests::ask(const SessionTag& tag, policy::ReplicaSet failed, Servers servers,
                                    std::optional<policy::QueuePlace> place, SlotRequest::Owner& owner,
                                    SlotRequest*& waiting) {
  if (kept_.empty()) kept_.push_back(std::make_unique<SlotRequest>(executor_, admission_));
  std::unique_ptr<SlotRequest> request = std::move(kept_.back());
  kept_.pop_back();
  Admission::Answer answer = admission_.ask(tag, *request, failed, servers, place, finished_);
  finished_.clear();
  if (std::holds_alternative<Admission::Queued>(answer)) {
    // Another thread may have granted it by now: what brings the slot runs on this thread, later.
    request->owner_ = &owner;
    request->home_ = this;
    waiting = request.release();
  } else {
    keep(std::move(request));
  }
  return answer;
}

void SlotRequests::give_up(SlotRequest& request) {
  request.owner_ = nullptr;
  if (admission_.withdraw(request)) keep(std::unique_ptr<SlotRequest>(&request));
}

void SlotRequests::keep(std::unique_ptr<SlotRequest> request) {
  if (kept_.size() < kKeptMax) kept_.push_back(std::move(request));
}

}  // namespace sluice::router
