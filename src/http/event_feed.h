#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

namespace sluice::http {

class EventViewer;

// Server-sent events for viewers who want to know how things are, not how they came to be so: of each kind of
// event the newest is kept, and a viewer that reads slowly finds the newest when it reads on. So there is one
// text per kind, made once, whoever looks, and nothing is queued for anybody. A viewer gets the kinds in
// turn: one that changes all the time keeps no other from it, however slowly it reads. When there was
// nothing for kHeartbeat, an event `heartbeat` says that the stream is alive; a comment would not do, as
// browsers do not tell their pages of those.
// Source: WHATWG, HTML, "Server-sent events"; an event here is one `event:` and one `data:` line.
// Thread: that of the executor, which must be one thread's. Lifetime: as long as its viewers wait in next().
class EventFeed {
 public:
  using Text = std::shared_ptr<const std::string>;
  static constexpr std::chrono::seconds kHeartbeat{5};

  EventFeed(asio::any_io_executor executor, std::size_t viewers_max);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Replaces the event of that kind for everybody; not when it says what the one before it said. `data` has
  // no line ends (JSON on one line). O(kinds + viewers).
  void publish(std::string_view kind, std::string_view data);
  // What was published before is sent to nobody any more. Only while there are no viewers.
  void forget() noexcept;
  // Somebody who has seen nothing yet. Null when there are viewers_max, or after close().
  std::shared_ptr<EventViewer> admit();
  // Ends all streams once what was published before is sent.
  void close();

  bool has_room() const noexcept { return !closed_ && viewers_.size() < viewers_max_; }
  std::size_t viewer_count() const noexcept { return viewers_.size(); }

 private:
  friend class EventViewer;
  struct Event {
    std::string kind;
    Text text;
    std::uint64_t version = 0;
  };
  void wake();

  asio::any_io_executor executor_;
  std::size_t viewers_max_;
  std::vector<Event> events_;  // one per kind, in the order in which the kinds appeared
  std::uint64_t version_ = 0;  // of the newest
  std::vector<EventViewer*> viewers_;
  bool closed_ = false;
};

// One of them. Counts as a viewer while it exists.
class EventViewer {
 public:
  explicit EventViewer(EventFeed& feed);
  ~EventViewer();
  EventViewer(const EventViewer&) = delete;
  EventViewer& operator=(const EventViewer&) = delete;

  // What is to be sent next, a heartbeat when there was nothing for long; null when the stream has ended.
  asio::awaitable<EventFeed::Text> next();

 private:
  friend class EventFeed;
  EventFeed::Text take();

  EventFeed* feed_;  // null once the feed is gone
  asio::steady_timer woken_;
  std::vector<std::uint64_t> seen_;  // by the event's place in the feed
  std::size_t turn_ = 0;             // the place that is looked at first
};

}  // namespace sluice::http
