#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "router/admission.h"

namespace sluice::router {

// A transaction's request for a slot, while it waits. Its owner may give up at any time: a slot that is then
// on its way goes back as soon as it has come. While it is queued it belongs to nobody, and then to the
// handler that brings the slot to its owner's thread. Thread: the owner's, but for granted().
class SlotRequest final : public Waiter {
 public:
  class Owner {
   public:
    // The request is gone with it.
    virtual void slot_granted(Granted slot) = 0;

   protected:
    ~Owner() = default;
  };

  SlotRequest(asio::any_io_executor executor, Admission& admission);

  void granted(Granted slot) noexcept override;

 private:
  friend class SlotRequests;
  asio::any_io_executor executor_;
  Admission& admission_;
  Owner* owner_ = nullptr;
  class SlotRequests* home_ = nullptr;
};

// The requests of one thread. Those that need not wait, which are most, use the same one again and again.
class SlotRequests {
 public:
  SlotRequests(asio::any_io_executor executor, Admission& admission)
      : executor_(std::move(executor)), admission_(admission) {}
  SlotRequests(const SlotRequests&) = delete;
  SlotRequests& operator=(const SlotRequests&) = delete;
  ~SlotRequests();

  // Admission::ask(); when that says Queued, `waiting` is the request, and `owner` hears of its slot unless
  // it gives up before. The tag must live as long as it waits.
  Admission::Answer ask(const SessionTag& tag, policy::ReplicaSet failed, Servers servers,
                        std::optional<policy::QueuePlace> place, SlotRequest::Owner& owner,
                        SlotRequest*& waiting);
  // The owner waits no more.
  void give_up(SlotRequest& request);
  // Gives a slot back: at once where others may wait for it, else with the thread's next request, and at the
  // latest when its event loop has done what it has in hand. So a transaction takes the policy's lock once.
  void close(Granted slot);

 private:
  friend class SlotRequest;
  static constexpr std::size_t kKeptMax = 64;
  static constexpr std::size_t kFinishedMax = 64;

  void close_finished();
  void keep(std::unique_ptr<SlotRequest> request);

  asio::any_io_executor executor_;
  Admission& admission_;
  std::vector<std::unique_ptr<SlotRequest>> kept_;
  std::vector<Granted> finished_;  // not given back yet
  bool closing_ = false;           // close_finished() has been posted
};

}  // namespace sluice::router
