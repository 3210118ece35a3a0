#include "pooling/listen_channels.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

std::string words(std::vector<ListenChannels::Granted> granted) {
  std::string out;
  for (const auto& one : granted)
    out += std::to_string(one.thread) + one.channel + std::to_string(one.ticket) + ' ';
  return out;
}

TEST(ListenChannels, GrantsOnlyWhatTheServerHasConfirmed) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";");
  channels.add(1, "a", 7);
  channels.add(1, "b", 8);
  EXPECT_EQ(words(channels.take_granted()), "");
  EXPECT_EQ(channels.next_sql(), "") << "one Query at a time";
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0a1 1a7 ");
  EXPECT_EQ(channels.next_sql(), "LISTEN \"b\";");
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "1b8 ");
  channels.add(2, "b", 9);
  EXPECT_EQ(words(channels.take_granted()), "2b9 ") << "listened to already";
  EXPECT_EQ(channels.threads_of("b"), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(channels.threads_of("c"), std::vector<unsigned>{});
}

TEST(ListenChannels, StopsWithTheLastThread) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  channels.add(1, "a", 2);
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";");
  channels.ready();
  channels.remove(0, "a");
  EXPECT_EQ(channels.next_sql(), "");
  channels.remove(1, "a");
  channels.remove(1, "a");
  EXPECT_TRUE(channels.empty());
  EXPECT_EQ(channels.next_sql(), "UNLISTEN \"a\";");
  channels.add(0, "a", 3);
  channels.ready();
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";");
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0a1 1a2 0a3 ");
}

TEST(ListenChannels, ListensAnewOnAnotherConnectionAndGrantsNothingTwice) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  channels.next_sql();
  channels.ready();
  channels.take_granted();
  channels.add(0, "b", 2);
  channels.next_sql();
  channels.disconnected();
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";LISTEN \"b\";");
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0b2 ");
}

TEST(ListenChannels, GrantsNothingWhileThereIsNoConnection) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  channels.next_sql();
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0a1 ");
  channels.disconnected();
  channels.add(1, "a", 2);
  channels.add(0, "a", 3);  // another session of the first thread
  EXPECT_EQ(words(channels.take_granted()), "");
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";");
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0a3 1a2 ");
  EXPECT_EQ(channels.threads_of("a"), (std::vector<unsigned>{0, 1})) << "each once";
}

TEST(ListenChannels, OfThoseThatListenAlreadyTakesNothingOutWhenTheServerCannotBeHad) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  channels.next_sql();
  channels.ready();
  channels.take_granted();
  channels.disconnected();
  channels.add(0, "a", 2);
  EXPECT_EQ(words(channels.take_waiting()), "0a2 ") << "who asked last is told";
  EXPECT_EQ(words(channels.take_waiting()), "");
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";") << "who asked before still wants it";
}

TEST(ListenChannels, AFailureIsThatOfOneChannel) {
  ListenChannels channels;
  for (const char* const name : {"a", "b", "c"})
    channels.add(0, name, 1);
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";LISTEN \"b\";LISTEN \"c\";");
  EXPECT_EQ(words(channels.failed().value()), "");
  EXPECT_EQ(channels.next_sql(), "LISTEN \"a\";");
  channels.ready();
  EXPECT_EQ(channels.next_sql(), "LISTEN \"b\";");
  EXPECT_EQ(words(channels.failed().value()), "0b1 ");
  EXPECT_EQ(channels.next_sql(), "LISTEN \"c\";");
  channels.ready();
  EXPECT_EQ(words(channels.take_granted()), "0a1 0c1 ");
  EXPECT_EQ(channels.next_sql(), "");
  channels.add(0, "d", 1);
  channels.add(0, "e", 1);
  EXPECT_EQ(channels.next_sql(), "LISTEN \"d\";LISTEN \"e\";") << "together again";
  channels.ready();
  channels.remove(0, "a");
  EXPECT_EQ(channels.next_sql(), "UNLISTEN \"a\";");
  EXPECT_FALSE(channels.failed()) << "it goes on sending what nobody wants";
  channels.disconnected();
  EXPECT_EQ(channels.next_sql(), "LISTEN \"c\";LISTEN \"d\";LISTEN \"e\";");
  EXPECT_TRUE(channels.failed());
  channels.next_sql();
  EXPECT_FALSE(channels.failed()) << "sessions rely on it";
}

TEST(ListenChannels, GivesBackThoseThatWaitWhenTheServerRefuses) {
  ListenChannels channels;
  channels.add(0, "a", 1);
  channels.next_sql();
  channels.ready();
  channels.add(1, "a", 2);
  channels.add(1, "b", 3);
  EXPECT_EQ(words(channels.take_waiting()), "1b3 ");
  EXPECT_FALSE(channels.empty());
  EXPECT_EQ(channels.size(), 1U);
}

TEST(ListenChannels, QuotesNames) {
  EXPECT_EQ(quoted_identifier("a\"b; drop table t"), "\"a\"\"b; drop table t\"");
}

TEST(ListenChannels, SaysAtMostSoMuchAtATime) {
  ListenChannels channels;
  for (std::size_t i = 0; i <= ListenChannels::kStatementsMax; ++i)
    channels.add(0, std::to_string(i), i);
  const std::string sql = channels.next_sql();
  EXPECT_EQ(std::count(sql.begin(), sql.end(), ';'), static_cast<long>(ListenChannels::kStatementsMax));
  channels.ready();
  const std::string rest = channels.next_sql();
  EXPECT_EQ(std::count(rest.begin(), rest.end(), ';'), 1);
}

// Against a server that does what it is told, at whatever moment: what is granted is listened to, and in the
// end just what is wanted.
TEST(ListenChannels, RandomHistoriesEndWithWhatIsWanted) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    ListenChannels channels;
    std::set<std::string> server;
    std::string running;
    std::set<std::pair<unsigned, std::string>> wanted, granted;
    std::uint64_t ticket = 0;
    const auto finish = [&] {
      for (std::size_t at = 0; at < running.size();) {
        const std::size_t end = running.find(';', at);
        const std::string one = running.substr(at, end - at);
        const std::string name(1, one[one.size() - 2]);
        one.starts_with("LISTEN") ? (void)server.insert(name) : (void)server.erase(name);
        at = end + 1;
      }
      running.clear();
      channels.ready();
    };
    const auto look = [&] {
      for (const auto& one : channels.take_granted()) {
        if (!wanted.contains({one.thread, one.channel})) continue;
        granted.emplace(one.thread, one.channel);
        EXPECT_TRUE(server.contains(one.channel)) << "seed=" << seed;
      }
    };
    for (int step = 0; step < 200; ++step) {
      const auto thread = static_cast<unsigned>(random() % 3);
      const std::string name(1, static_cast<char>('a' + random() % 4));
      switch (random() % 6) {
        case 0:
        case 1:
          if (wanted.emplace(thread, name).second) channels.add(thread, name, ++ticket);
          break;
        case 2:
          if (wanted.erase({thread, name}) > 0) channels.remove(thread, name);
          granted.erase({thread, name});
          break;
        case 3:
          if (running.empty()) running = channels.next_sql();
          break;
        case 4:
          if (!running.empty()) finish();
          break;
        default:
          if (random() % 20 != 0) break;
          server.clear();
          running.clear();
          channels.disconnected();
      }
      look();
    }
    if (!running.empty()) finish();
    while (!(running = channels.next_sql()).empty())
      finish();
    look();
    std::set<std::string> right;
    for (const auto& [thread, name] : wanted)
      right.insert(name);
    EXPECT_EQ(server, right) << "seed=" << seed;
    EXPECT_EQ(granted, wanted) << "seed=" << seed;
  }
}

}  // namespace
}  // namespace sluice::pooling
