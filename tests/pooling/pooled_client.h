#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pooling/hand_back.h"
#include "pooling/session_translator.h"
#include "protocol/session_tracker.h"
#include "tests/pooling/pg_model.h"

namespace sluice::pooling::test {

// A server of the pool: the model, and what the router knows of it.
struct PooledServer {
  PooledServer(Database& database, SettingsStore& store, std::size_t statements_max)
      : model(database), statements(statements_max), settings(store) {}
  PgModel model;
  ServerStatements statements;
  ServerSettings settings;
};

// A client behind the translator and the tracker, as the router would run them.
class PooledClient {
 public:
  PooledClient(std::uint64_t session, StatementStore& statements, SettingsStore& settings,
               const TrackedSettings& tracked, const TranslatorOptions& options)
      : settings_(settings, tracked, {}), translator_(session, statements, options, settings_) {}

  SessionTranslator& translator() { return translator_; }
  const Bytes& received() const { return received_; }
  // Channels that the router is to listen to before the transaction goes on.
  std::vector<std::string> take_begun() { return std::exchange(begun_, {}); }
  bool attached() const { return server_ != nullptr; }
  HandBack hand_back() const { return pooling::hand_back(tracker_, translator_); }

  void attach(PooledServer& server) {
    server_ = &server;
    translator_.attach(server.statements, server.settings);
  }
  void detach() {
    server_ = nullptr;
    translator_.detach();
  }
  PooledServer* server() { return server_; }

  // Gives `bytes` to the translator; returns how many it took.
  std::size_t send(ByteView bytes) {
    Pieces out;
    protocol::SessionTracker::TimePoint now{};
    struct {
      void on_piece(char, ByteView, bool, protocol::SessionTracker::TimePoint) {}
    } nobody;
    std::size_t taken = translator_.on_client(bytes, now, nobody, out);
    while (translator_.has_begun_listens()) {
      for (std::string& channel : translator_.take_begun_listens())
        begun_.push_back(std::move(channel));
      translator_.listens_ready();
      taken += translator_.on_client(bytes.subspan(taken), now, nobody, out);
    }
    EXPECT_TRUE(translator_.check_invariant());
    to_server(out);
    settle_doubt();
    return taken;
  }

  // Carries up to `bytes_max` of the server's flushed bytes to the client. False: there were none.
  bool receive(std::size_t bytes_max) {
    append(pending_, server_->model.take());
    if (pending_.empty()) return false;
    const std::size_t count = std::min(bytes_max, pending_.size());
    const Bytes piece(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    struct {
      void on_sample(std::chrono::nanoseconds, protocol::SampleKind, protocol::SessionTracker::TimePoint) {}
      void on_error(const protocol::ErrorClass&) {}
      void on_ready(const protocol::SessionTracker::Ready&) {}
      void on_transaction_end(std::chrono::nanoseconds) {}
    } nobody;
    tracker_.on_backend(piece, {}, nobody);
    Pieces to_client;
    Pieces back;
    translator_.on_server(piece, to_client, back);
    EXPECT_TRUE(translator_.check_invariant());
    append(received_, to_client.joined());
    to_server(back);
    settle_doubt();
    return true;
  }
  bool quiet() const { return pending_.empty(); }

  // All of `bytes` on `server`, with everything answered, in pieces of `piece_bytes`.
  void run(ByteView bytes, PooledServer& server, std::size_t piece_bytes = 1 << 20) {
    if (server_ == nullptr) attach(server);
    std::size_t stuck = 0;
    while (!bytes.empty() || translator_.held()) {
      const std::size_t taken = send(bytes.first(std::min(piece_bytes, bytes.size())));
      bytes = bytes.subspan(taken);
      stuck = taken > 0 ? 0 : stuck + 1;
      while (receive(piece_bytes))
        stuck = 0;
      if (stuck > 3) break;
    }
    EXPECT_TRUE(bytes.empty()) << "held for ever";
    send({});
    while (receive(piece_bytes)) {
    }
    if (hand_back() == HandBack::Yes) detach();
  }

 private:
  void settle_doubt() {
    if (hand_back() != HandBack::InDoubt) return;
    Pieces out;
    translator_.settle_doubt(out);
    to_server(out);
  }
  void to_server(const Pieces& pieces) {
    const Bytes bytes = pieces.joined();
    tracker_.on_frontend(bytes, {});
    server_->model.consume(bytes);
  }

  ClientSettings settings_;
  SessionTranslator translator_;
  protocol::SessionTracker tracker_;
  PooledServer* server_ = nullptr;
  Bytes pending_;
  Bytes received_;
  std::vector<std::string> begun_;
};

}  // namespace sluice::pooling::test
