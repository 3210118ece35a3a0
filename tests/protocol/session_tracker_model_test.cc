// The tracker against a simulated server, over random histories cut at random places.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "protocol/session_tracker.h"
#include "tests/protocol/backend_model.h"

namespace sluice::protocol {
namespace {

using namespace std::chrono_literals;

struct FrontendMessage {
  char type;
  std::string text;
  bool limited = false;
};

Bytes encode(const FrontendMessage& message) {
  Bytes out;
  switch (message.type) {
    case 'Q':
      append_query(out, message.text);
      break;
    case 'P':
      append_parse(out, "", message.text);
      break;
    case 'B':
      append_bind(out, "", "");
      break;
    case 'D':
      append_describe(out, message.text == "S" ? 'S' : 'P', "");
      break;
    case 'E':
      append_execute(out, "", message.limited ? 1 : 0);
      break;
    case 'C':
      append_close(out, 'S', "x");
      break;
    case 'd':
      append_copy_data(out, as_bytes("row"));
      break;
    case 'f':
      append_copy_fail(out, "no");
      break;
    case 'F':
      append_copy_fail(out, "function call");
      out[0] = std::byte{'F'};
      break;
    case 'H':
      append_message(out, 'H', as_bytes(message.text));  // with a text: refused
      break;
    case 'S':
      append_sync(out);
      break;
    default:
      append_copy_done(out);
  }
  return out;
}

class History {
 public:
  // `doubt`: COPYs that fail behind a Sync of theirs may occur.
  History(std::mt19937& random, bool doubt) : random_(random), doubt_(doubt) {
    const std::size_t count = 3 + pick(30);
    while (messages.size() < count)
      segment();
  }
  std::vector<FrontendMessage> messages;

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  void add(char type, std::string text = "", bool limited = false) {
    messages.push_back({type, std::move(text), limited});
  }
  // A COPY, its data, and perhaps Syncs and Flushes among them, which the server then drops.
  void copy(bool extended) {
    const bool syncs = pick(2) == 0;
    const bool may_fail = doubt_ || !syncs;
    const std::string kind(1, may_fail ? "cxv"[pick(3)] : 'c');
    if (extended) {
      add('P', kind);
      add('B');
      add('E');
      if (syncs) add('S');                    // right behind the Execute, as libpq does
      if (syncs && doubt_ && pick(4) == 0) {  // and what it does not expect there
        add('P', "s");
        add('B');
        add('E');
        add(pick(2) == 0 ? 'S' : 'Q', "s");
      }
    } else {
      add('Q', (pick(2) == 0 ? "s" : "") + kind + (pick(2) == 0 ? "s" : ""));
    }
    for (std::size_t i = pick(4); i > 0; --i) {
      add('d');
      if (syncs && pick(3) == 0) add(pick(2) == 0 ? 'S' : 'H');
    }
    add(may_fail && pick(4) == 0 ? 'f' : 'c');
    if (extended) add('S');
  }
  void segment() {
    static const std::vector<std::string> kQueries{"s", "ss", "e", "se", "es", "b", "o", "n", "", "k", "bs"};
    static const std::vector<std::string> kStatements{"s", "e", "b", "o", "n", "", "k", "!"};
    const auto text = [&](const std::vector<std::string>& from) { return from[pick(from.size())]; };
    switch (pick(9)) {
      case 0:
      case 1:
        return add('Q', text(kQueries));
      case 2:
        return add('F');
      case 3:
      case 4:
        return copy(pick(2) == 0);
      case 5:
        return pick(6) == 0 ? add('H', "body") : add("SHdcf"[pick(5)]);
      default:
        add('P', text(kStatements));
        for (std::size_t i = 1 + pick(4); i > 0; --i) {
          if (pick(2) == 0) add('D', pick(2) == 0 ? "S" : "P");
          add('B');
          add('E', "", pick(3) == 0);
          if (pick(4) == 0) add('C');
          if (pick(5) == 0) add('H', pick(8) == 0 ? "body" : "");
        }
        if (pick(6) != 0) add('S');
    }
  }
  std::mt19937& random_;
  bool doubt_;
};

struct SeenOfHistory {
  std::size_t completed = 0, failed = 0, errors = 0, ready = 0;
  void on_sample(std::chrono::nanoseconds service, SampleKind kind, SessionTracker::TimePoint) {
    EXPECT_GE(service, 0ns);
    ++(kind == SampleKind::Completed ? completed : failed);
  }
  void on_error(const ErrorClass&) { ++errors; }
  void on_ready(const SessionTracker::Ready&) { ++ready; }
  void on_transaction_end(std::chrono::nanoseconds duration) { EXPECT_GE(duration, 0ns); }
};

// Whole messages at the front of a stream, by a reader that has nothing in common with the tracker's.
struct Counted {
  std::size_t answers = 0, completed = 0, failed = 0, ready = 0;
  char status = 'I';
  bool boundary = false;
};
Counted count_messages(ByteView bytes) {
  Counted counted;
  ByteReader in(bytes);
  while (in.remaining() > 0) {
    const auto type = in.u8();
    const auto length = in.u32();
    const auto body = length ? in.take(*length - 4) : std::nullopt;
    if (!body) return counted;
    const char t = static_cast<char>(*type);
    if (t != 'N' && t != 'S') ++counted.answers;
    if (t == 'C' || t == 'I' || t == 's' || t == 'V') ++counted.completed;
    if (t == 'E') ++counted.failed;
    if (t == 'Z') {
      ++counted.ready;
      counted.status = static_cast<char>((*body)[0]);
    }
  }
  counted.boundary = true;
  return counted;
}

class Playback {
 public:
  Playback(std::uint32_t seed, bool doubt) : random_(seed), doubt_(doubt), history_(random_, doubt) {
    for (const FrontendMessage& message : history_.messages) {
      const Bytes bytes = encode(message);
      append(stream_, bytes);
      ends_.push_back(stream_.size());
    }
  }

  void play() {
    while (!::testing::Test::HasFailure()) {
      const bool all_sent = sent_ == stream_.size();
      const bool all_consumed = consumed_ == complete();
      if (all_sent && all_consumed && delivered_ == backend_.output().size()) return;
      now_ += 1ms;
      switch (random_() % 3) {
        case 0:
          send();
          break;
        case 1:
          if (!all_consumed) feed(backend_, history_.messages[consumed_++]);
          break;
        default:
          deliver();
      }
      check();
      if (tracker.fatal_seen()) return;
    }
  }

  // The frontend messages, for the report of a failure.
  std::string describe() const {
    std::string text;
    for (const FrontendMessage& message : history_.messages)
      text += message.type + (message.text.empty() ? "" : "'" + message.text + "'") + ' ';
    return text + "sent " + std::to_string(complete()) + ", consumed " + std::to_string(consumed_) +
           ", delivered " +
           std::to_string(count_messages(ByteView(backend_.output()).first(delivered_)).answers);
  }

  SessionTracker tracker;

 private:
  static void feed(test::BackendModel& backend, const FrontendMessage& message) {
    backend.consume(message.type, message.text, message.limited);
  }
  std::size_t complete() const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), sent_) - ends_.begin());
  }
  std::size_t piece(std::size_t left) {
    return std::min<std::size_t>(left, random_() % 2 == 0 ? random_() % 4 : random_() % 120);
  }
  void send() {
    const std::size_t bytes = piece(stream_.size() - sent_);
    const auto scan = tracker.on_frontend(ByteView(stream_).subspan(sent_, bytes), now_);
    EXPECT_EQ(scan.forward_bytes, bytes);
    sent_ += bytes;
  }
  void deliver() {
    const std::size_t bytes = piece(backend_.output().size() - delivered_);
    tracker.on_backend(ByteView(backend_.output()).subspan(delivered_, bytes), now_, seen_);
    delivered_ += bytes;
  }
  void check() {
    test::BackendModel future = backend_;
    for (std::size_t i = consumed_; i < complete(); ++i)
      feed(future, history_.messages[i]);
    const Counted counted = count_messages(ByteView(backend_.output()).first(delivered_));
    const bool owes = future.answers() > counted.answers || !future.at_rest();
    const bool sent_whole = sent_ == 0 || (complete() > 0 && ends_[complete() - 1] == sent_);
    const bool clean = !owes && counted.status == 'I' && counted.boundary && sent_whole;
    EXPECT_TRUE(tracker.check_invariant());
    EXPECT_EQ(tracker.transaction_status(), counted.status);
    EXPECT_EQ(seen_.ready, counted.ready);
    EXPECT_EQ(seen_.errors, counted.failed);
    EXPECT_FALSE(tracker.backend_malformed());
    if (tracker.fatal_seen() || future.dead()) return;
    if (tracker.clean_for_reuse()) {
      EXPECT_TRUE(clean);
    }
    if (tracker.ready_for_reset()) {  // what may still come a ResetMachine passes over
      const Counted rest = count_messages(ByteView(future.output()).subspan(delivered_));
      EXPECT_TRUE(future.at_rest());
      EXPECT_EQ(rest.answers, rest.ready);
      EXPECT_LE(rest.ready, tracker.doubtful_syncs());
    }
    if (doubt_) return;
    EXPECT_EQ(tracker.owes_answer(), owes);
    EXPECT_EQ(tracker.clean_for_reuse(), clean);
    EXPECT_EQ(seen_.completed, counted.completed);
    EXPECT_EQ(seen_.failed, counted.failed);
  }

  std::mt19937 random_;
  bool doubt_;
  History history_;
  Bytes stream_;
  std::vector<std::size_t> ends_;
  test::BackendModel backend_;
  std::size_t sent_ = 0, consumed_ = 0, delivered_ = 0;
  SessionTracker::TimePoint now_{1s};
  SeenOfHistory seen_;
};

constexpr std::uint32_t kSeeds = 1000;

std::uint32_t first_seed() {
  const char* text = std::getenv("SLUICE_SEED");
  return text == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

TEST(SessionTrackerModel, AgreesWithASimulatedServerOverRandomHistories) {
  const std::uint32_t first = first_seed();
  for (std::uint32_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    Playback playback(seed, false);
    playback.play();
    if (HasFailure()) ADD_FAILURE() << "SLUICE_SEED=" << seed << ": " << playback.describe();
  }
}

TEST(SessionTrackerModel, IsNeverCleanTooEarlyWhenACopyFailsBehindASync) {
  const std::uint32_t first = first_seed();
  for (std::uint32_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    Playback playback(seed, true);
    playback.play();
    if (HasFailure()) ADD_FAILURE() << "SLUICE_SEED=" << seed << ": " << playback.describe();
  }
}

}  // namespace
}  // namespace sluice::protocol
