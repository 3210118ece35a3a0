// Random histories of clients over pooled servers: each client must see what a server of its own would show
// it.
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/pooling/pooled_world.h"

namespace sluice::pooling {
namespace {

using test::Database;
using test::PgModel;
using test::PooledClient;
using test::PooledServer;
using test::Stream;

class Writer {
 public:
  explicit Writer(std::mt19937& random) : random_(random) {}

  // A few batches; ends with a Sync, and with no transaction block open when `close`.
  Bytes batches() {
    const std::size_t count = 1 + pick(4);
    for (std::size_t i = 0; i < count; ++i)
      batch();
    return stream_.take();
  }
  Bytes end() { return Stream().sync().query("rollback").take(); }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  // The unnamed statement only behind a Parse of it: that an error leaves its predecessor in place is not
  // known to the router once the server has changed.
  std::string name() {
    static const std::vector<std::string> kNames{"", "a", "b", "c", "d", "sluice.0.1", "sluice.guard"};
    const std::string& name = kNames[pick(pick(3) == 0 ? kNames.size() : 4)];
    return name.empty() && !unnamed_ ? "a" : name;
  }
  std::string portal() { return pick(4) == 0 ? "p" : ""; }
  std::string text() {
    static const std::vector<std::string> kTexts{
        "select 1",       "select 2", "select 3",       "insert", "select fail", "begin",      "commit",
        "select missing", "selec",    "deallocate all", "",       "rollback",    "discard all"};
    return kTexts[pick(pick(3) == 0 ? kTexts.size() : 5)];
  }
  std::string text_alone() { return pick(8) == 0 ? "deallocate " + named_[pick(3)] : text(); }
  void batch() {
    if (pick(5) == 0) {
      unnamed_ = false;
      stream_.query(pick(4) == 0 ? text() + "; " + text() : text_alone());
      return;
    }
    if (pick(12) == 0) return copy();
    unnamed_ = false;
    for (std::size_t i = 1 + pick(6); i > 0; --i)
      message();
    if (pick(6) == 0) pick(8) == 0 ? stream_.flush_with_body() : stream_.flush();
    if (pick(8) != 0) stream_.sync();
  }
  // Its portal goes with it: who executes it once more by chance and then says anything but COPY data has no
  // session any more.
  void copy() {
    if (pick(2) == 0) return failing_copy();
    stream_.sync().parse("", "copy in").bind("", "").execute();
    if (pick(2) == 0) stream_.sync();
    for (std::size_t i = pick(3); i > 0; --i)
      stream_.copy_data();
    stream_.copy_done().close('P', "").sync();
    unnamed_ = false;
  }
  // Some of them before they have read the Syncs behind them.
  void failing_copy() {
    stream_.sync().parse("", pick(2) == 0 ? "copy fail" : "copy view").bind("", "").execute();
    for (std::size_t i = pick(3); i > 0; --i)
      stream_.sync();
    stream_.copy_data().copy_done().sync();
    unnamed_ = false;
  }
  void message() {
    switch (pick(9)) {
      case 0:
      case 1:
        if (pick(2) == 0) {
          stream_.parse("", text_alone(), static_cast<std::uint16_t>(pick(5) == 0 ? 1 : 0));
          unnamed_ = true;
        } else {
          stream_.parse(named_[pick(4)], text(), static_cast<std::uint16_t>(pick(5) == 0 ? 1 : 0));
        }
        return;
      case 2:
      case 3:
      case 4: {
        const std::string at = portal();
        stream_.bind(at, name(), static_cast<std::uint16_t>(pick(8) == 0 ? 1 : 0));
        if (pick(2) == 0) stream_.describe('P', at);
        if (pick(5) != 0) stream_.execute(at);
        return;
      }
      case 5:
        stream_.describe('S', name());
        return;
      case 6:
        stream_.close(pick(4) == 0 ? 'P' : 'S', name());
        return;
      case 7:
        stream_.query(text_alone());
        unnamed_ = false;
        return;
      default:
        stream_.execute(portal());
        return;
    }
  }

  const std::vector<std::string> named_{"a", "b", "c", "d"};
  std::mt19937& random_;
  Stream stream_;
  bool unnamed_ = false;
};

struct Client {
  Client(std::uint64_t session, StatementStore& statements, SettingsStore& settings,
         const TrackedSettings& tracked, const TranslatorOptions& options, Database& database)
      : pooled(session, statements, settings, tracked, options), direct(database) {}
  PooledClient pooled;
  PgModel direct;
  Bytes all;    // what it has said
  Bytes right;  // what it should have heard
  Bytes to_send;
};

// One history. Returns what went wrong, or "".
void run_history(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  Database database;
  StatementStore statements(0, pick(2) == 0 ? 0 : 1 << 20);
  SettingsStore settings;
  const TrackedSettings tracked(std::vector<std::string>{});
  const TranslatorOptions options;
  std::vector<std::unique_ptr<PooledServer>> servers;
  for (int i = 0; i < 2; ++i)
    servers.push_back(std::make_unique<PooledServer>(database, settings, 1 + pick(3)));
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint64_t i = 0; i < 2; ++i)
    clients.push_back(std::make_unique<Client>(i + 1, statements, settings, tracked, options, database));

  std::size_t rounds = 3 + pick(10);
  for (std::size_t step = 0, idle = 0; step < 20'000; ++step) {
    Client& client = *clients[pick(2)];
    if (client.to_send.empty() && !client.pooled.translator().held() && client.pooled.quiet() && rounds > 0 &&
        pick(3) == 0) {
      --rounds;
      Writer writer(random);
      client.to_send = rounds < 2 ? writer.end() : writer.batches();
      append(client.all, client.to_send);
      client.direct.consume(client.to_send);
      append(client.right, client.direct.take());
    }
    if (!client.pooled.attached()) {
      if (client.to_send.empty()) {
        if (++idle > 2000) break;
        continue;
      }
      PooledServer& server = *servers[pick(2)];
      Client& other = client.pooled.attached() ? client : *clients[&client == clients[0].get() ? 1 : 0];
      if (other.pooled.server() == &server) continue;
      client.pooled.attach(server);
    }
    idle = 0;
    const std::size_t most = pick(3) == 0 ? 1 + pick(8) : 1 + pick(400);
    const std::size_t taken =
        client.pooled.send(ByteView(client.to_send).first(std::min(most, client.to_send.size())));
    client.to_send.erase(client.to_send.begin(), client.to_send.begin() + static_cast<std::ptrdiff_t>(taken));
    if (pick(2) == 0) client.pooled.receive(1 + pick(300));
    if (client.pooled.quiet() && client.pooled.hand_back() == HandBack::Yes) client.pooled.detach();
  }
  for (auto& client : clients) {
    if (client->pooled.attached())
      while (client->pooled.receive(1 << 20)) {
      }
    EXPECT_TRUE(client->to_send.empty()) << "seed=" << seed;
    EXPECT_EQ(test::words(client->pooled.received()), test::words(client->right)) << "seed=" << seed;
  }
  for (auto& server : servers)
    EXPECT_LE(server->model.statement_count(), server->statements.statements_max() + 1) << "seed=" << seed;
}

TEST(RandomHistories, LookAsOnAServerOfOnesOwn) {
  if (const char* seed = std::getenv("SLUICE_SEED"))
    return run_history(static_cast<unsigned>(std::atoi(seed)));
  const char* const more = std::getenv("SLUICE_SEED_COUNT");
  const unsigned count = more != nullptr ? static_cast<unsigned>(std::atoi(more)) : 1000;
  for (unsigned seed = 1; seed <= count; ++seed) {
    run_history(seed);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace sluice::pooling
