#include "http/event_feed.h"

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

namespace sluice::http {
namespace {

class EventFeedTest : public ::testing::Test {
 protected:
  // What the viewer is sent next; nullopt while it waits, "" at the end of the stream.
  std::optional<std::string> next(EventViewer& viewer) {
    answer_.reset();
    asio::co_spawn(io_, viewer.next(), [this](std::exception_ptr failure, EventFeed::Text text) {
      EXPECT_EQ(failure, nullptr);
      answer_ = text_of(text);
    });
    return awaited();
  }
  // Of a next() that had to wait.
  std::optional<std::string> awaited() {
    io_.restart();
    io_.poll();
    return answer_;
  }
  static std::string text_of(const EventFeed::Text& text) { return text ? *text : ""; }

  asio::io_context io_{1};
  EventFeed feed_{io_.get_executor(), 2};
  std::optional<std::string> answer_;
};

TEST_F(EventFeedTest, SendsTheNewestOfEachKindInTheirOrder) {
  feed_.publish("a", "1");
  feed_.publish("b", "2");
  const auto viewer = feed_.admit();
  ASSERT_TRUE(viewer);
  EXPECT_EQ(next(*viewer), "event: a\ndata: 1\n\n");
  EXPECT_EQ(next(*viewer), "event: b\ndata: 2\n\n");
  EXPECT_EQ(next(*viewer), std::nullopt);
  feed_.publish("b", "3");
  EXPECT_EQ(awaited(), "event: b\ndata: 3\n\n");
}

TEST_F(EventFeedTest, ASlowViewerMissesWhatIsOld) {
  const auto viewer = feed_.admit();
  for (int i = 0; i < 1000; ++i)
    feed_.publish("a", std::to_string(i));
  EXPECT_EQ(next(*viewer), "event: a\ndata: 999\n\n");
  EXPECT_EQ(next(*viewer), std::nullopt);
}

TEST_F(EventFeedTest, SaysNothingTwice) {
  const auto viewer = feed_.admit();
  feed_.publish("a", "1");
  EXPECT_EQ(next(*viewer), "event: a\ndata: 1\n\n");
  EXPECT_EQ(next(*viewer), std::nullopt);
  feed_.publish("a", "1");
  feed_.publish("a", "2");
  EXPECT_EQ(awaited(), "event: a\ndata: 2\n\n");
}

// A viewer so slow that the first kind has changed whenever it reads on saw nothing but that kind.
TEST_F(EventFeedTest, GivesEveryKindItsTurnToASlowViewer) {
  const auto viewer = feed_.admit();
  feed_.publish("a", "0");
  feed_.publish("b", "1");
  feed_.publish("c", "2");
  std::string seen;
  for (int i = 0; i < 6; ++i) {
    feed_.publish("a", "again " + std::to_string(i));
    feed_.publish("c", "again " + std::to_string(i));
    const auto text = next(*viewer);
    ASSERT_TRUE(text);
    seen += text->at(7);
  }
  EXPECT_EQ(seen, "abcaca");
}

TEST_F(EventFeedTest, ForgetsWhatWasPublishedForOthers) {
  feed_.publish("a", "1");
  feed_.publish("b", "2");
  feed_.forget();
  const auto viewer = feed_.admit();
  EXPECT_EQ(next(*viewer), std::nullopt);
  feed_.publish("b", "2");
  EXPECT_EQ(awaited(), "event: b\ndata: 2\n\n");
}

TEST_F(EventFeedTest, IsFullWithAsManyViewersAsAreAllowed) {
  auto first = feed_.admit();
  const auto second = feed_.admit();
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(feed_.admit());
  first.reset();
  EXPECT_EQ(feed_.viewer_count(), 1U);
  EXPECT_TRUE(feed_.admit());
}

TEST_F(EventFeedTest, EndsAfterWhatWasPublishedBefore) {
  const auto viewer = feed_.admit();
  feed_.publish("a", "last");
  feed_.close();
  EXPECT_EQ(next(*viewer), "event: a\ndata: last\n\n");
  EXPECT_EQ(next(*viewer), "");
  EXPECT_FALSE(feed_.admit());
}

TEST_F(EventFeedTest, EndsForThoseWhoWait) {
  const auto viewer = feed_.admit();
  EXPECT_EQ(next(*viewer), std::nullopt);
  feed_.close();
  EXPECT_EQ(awaited(), "");
}

TEST_F(EventFeedTest, AViewerMayOutliveIt) {
  auto feed = std::make_unique<EventFeed>(io_.get_executor(), 1);
  const auto viewer = feed->admit();
  feed.reset();
  EXPECT_EQ(next(*viewer), "");
}

}  // namespace
}  // namespace sluice::http
