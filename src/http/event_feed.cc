#include "http/event_feed.h"

#include <algorithm>

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"

namespace sluice::http {
namespace {

EventFeed::Text heartbeat() {
  static const EventFeed::Text text = std::make_shared<const std::string>("event: heartbeat\ndata: {}\n\n");
  return text;
}

}  // namespace

EventFeed::EventFeed(asio::any_io_executor executor, std::size_t viewers_max)
    : executor_(std::move(executor)), viewers_max_(viewers_max) {}

EventFeed::~EventFeed() {
  for (EventViewer* viewer : viewers_)
    viewer->feed_ = nullptr;
}

void EventFeed::publish(std::string_view kind, std::string_view data) {
  std::string text;
  text.reserve(kind.size() + data.size() + 16);
  text.append("event: ").append(kind).append("\ndata: ").append(data).append("\n\n");
  auto event =
      std::find_if(events_.begin(), events_.end(), [&](const Event& known) { return known.kind == kind; });
  if (event == events_.end()) event = events_.insert(events_.end(), {std::string(kind), nullptr, 0});
  if (event->text && *event->text == text) return;
  event->text = std::make_shared<const std::string>(std::move(text));
  event->version = ++version_;
  wake();
}

void EventFeed::forget() noexcept {
  SLUICE_ASSERT(viewers_.empty());
  events_.clear();
}

std::shared_ptr<EventViewer> EventFeed::admit() {
  if (!has_room()) return nullptr;
  return std::make_shared<EventViewer>(*this);
}

void EventFeed::close() {
  closed_ = true;
  wake();
}

void EventFeed::wake() {
  for (EventViewer* viewer : viewers_)
    viewer->woken_.cancel();
}

EventViewer::EventViewer(EventFeed& feed) : feed_(&feed), woken_(feed.executor_) {
  feed.viewers_.push_back(this);
}

EventViewer::~EventViewer() {
  if (feed_ != nullptr) std::erase(feed_->viewers_, this);
}

EventFeed::Text EventViewer::take() {
  seen_.resize(feed_->events_.size(), 0);
  for (std::size_t count = 0; count < seen_.size(); ++count) {
    const std::size_t i = (turn_ + count) % seen_.size();
    if (seen_[i] == feed_->events_[i].version) continue;
    seen_[i] = feed_->events_[i].version;
    turn_ = i + 1;
    return feed_->events_[i].text;
  }
  return nullptr;
}

asio::awaitable<EventFeed::Text> EventViewer::next() {
  if (feed_ == nullptr) co_return nullptr;
  EventFeed::Text text = take();
  if (text || feed_->closed_) co_return text;
  woken_.expires_after(EventFeed::kHeartbeat);
  const auto [error] = co_await woken_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  if (!error) co_return heartbeat();
  // Woken for an event, or because all ends; then there may be none.
  if (feed_ == nullptr) co_return nullptr;
  text = take();
  co_return text;
}

}  // namespace sluice::http
