#include "protocol/session_tracker.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"

namespace sluice::protocol {
namespace {

using namespace std::chrono_literals;

struct Seen {
  std::vector<std::chrono::nanoseconds> samples;
  std::vector<SessionTracker::TimePoint> sampled_at;
  std::string kinds;     // c completed, f failed
  std::string statuses;  // of ReadyForQuery
  std::vector<ErrorClass> errors;
  std::vector<std::chrono::nanoseconds> transactions;
  void on_sample(std::chrono::nanoseconds service, SampleKind kind, SessionTracker::TimePoint now) {
    samples.push_back(service);
    sampled_at.push_back(now);
    kinds += kind == SampleKind::Completed ? 'c' : 'f';
  }
  void on_error(const ErrorClass& error) { errors.push_back(error); }
  void on_ready(const SessionTracker::Ready& ready) { statuses += ready.status; }
  void on_transaction_end(std::chrono::nanoseconds duration) { transactions.push_back(duration); }
};

// A session whose two sides are written as strings of message types.
// Client: P B D E C H S Q F d c f as in the manual. Server: types as in the manual, Z idle, z in a
// transaction block, y in a failed one, E an ERROR 22012, ! a FATAL 57P01.
class Session {
 public:
  SessionTracker tracker;
  Seen seen;

  void client(std::string_view types, std::chrono::milliseconds at = 0ms) {
    const Bytes bytes = client_bytes(types);
    EXPECT_EQ(tracker.on_frontend(bytes, start_ + at).forward_bytes, bytes.size());
    EXPECT_TRUE(tracker.check_invariant());
  }
  void server(std::string_view types, std::chrono::milliseconds at = 0ms) {
    tracker.on_backend(server_bytes(types), start_ + at, seen);
    EXPECT_TRUE(tracker.check_invariant());
  }
  SessionTracker::TimePoint at(std::chrono::milliseconds after) const { return start_ + after; }
  static Bytes client_bytes(std::string_view types) {
    Bytes out;
    for (const char type : types)
      append_message(out, type, as_bytes(type == 'S' || type == 'H' || type == 'c' ? "" : "body"));
    return out;
  }
  static Bytes server_bytes(std::string_view types) {
    Bytes out;
    for (const char type : types) {
      switch (type) {
        case 'Z':
          append_ready_for_query(out, 'I');
          break;
        case 'z':
          append_ready_for_query(out, 'T');
          break;
        case 'y':
          append_ready_for_query(out, 'E');
          break;
        case 'E':
          append_error_response(out, {"ERROR", "22012", "division by zero", "", ""});
          break;
        case '!':
          append_error_response(out, {"FATAL", "57P01", "terminating connection", "", ""});
          break;
        default:
          append_message(out, type, as_bytes("body"));
      }
    }
    return out;
  }

 private:
  SessionTracker::TimePoint start_{1h};
};

TEST(SessionTracker, IsCleanBeforeAnythingWasSaid) {
  Session s;
  EXPECT_FALSE(s.tracker.owes_answer());
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  EXPECT_EQ(s.tracker.transaction_status(), 'I');
}

TEST(SessionTracker, KeepsTheServerAfterFlushUntilTheSyncIsAnswered) {  // B29
  Session s;
  s.client("PDH");
  s.server("1tT");
  EXPECT_TRUE(s.tracker.owes_answer());
  EXPECT_FALSE(s.tracker.clean_for_reuse());
  s.client("BES");
  s.server("2DC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

// B74
TEST(SessionTracker, TellsSinceWhenTheServerWorksAndNotWhenItIsTheClientsTurn) {
  Session s;
  const auto since = [&s]() -> std::optional<std::chrono::nanoseconds> {
    const auto at = s.tracker.work_since();
    return at ? std::optional<std::chrono::nanoseconds>(*at - s.at(0ms)) : std::nullopt;
  };
  EXPECT_EQ(since(), std::nullopt);
  s.client("Q", 10ms);
  s.server("TDDD", 500ms);  // rows that trickle in do not start it anew, nor does a first statement's end
  s.server("CTD", 600ms);
  EXPECT_EQ(since(), 10ms);
  s.client("Q", 700ms);  // pipelined: its turn comes with the ReadyForQuery
  s.server("Cz", 800ms);
  EXPECT_EQ(since(), 800ms);
  s.server("TCz", 900ms);
  EXPECT_EQ(since(), std::nullopt);
  s.client("PBDE", 1000ms);
  EXPECT_EQ(since(), 1000ms);
  s.server("12TDC", 1100ms);  // all is answered; the Sync is the client's to send
  EXPECT_EQ(since(), std::nullopt);
  EXPECT_TRUE(s.tracker.owes_answer());
  EXPECT_TRUE(s.tracker.clients_turn());
  s.client("S", 2000ms);
  EXPECT_EQ(since(), 2000ms);
  EXPECT_FALSE(s.tracker.clients_turn());
  s.server("Z", 2001ms);
  s.tracker.on_pause(s.at(2500ms));
  EXPECT_FALSE(s.tracker.clients_turn());
  s.tracker.on_resume(s.at(2600ms));
  EXPECT_TRUE(s.tracker.clients_turn());
  s.client("Q", 3000ms);
  s.server("W", 3001ms);
  EXPECT_EQ(since(), std::nullopt);
  EXPECT_FALSE(s.tracker.clients_turn()) << "a stream has no turns";
}

TEST(SessionTracker, SkipsEverythingToTheSyncAfterAnExtendedError) {  // B30
  Session s;
  s.client("PBECQDS");
  s.server("12E");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  EXPECT_EQ(s.seen.kinds, "f");
}

TEST(SessionTracker, WaitsForASyncThatComesLongAfterTheError) {  // B30
  Session s;
  s.client("PBECQFD");
  s.server("12E");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.client("QP");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.client("S");
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  s.client("Q");
  s.server("TDCZ");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, CountsAFunctionCall) {  // B41
  Session s;
  s.client("FQ");
  s.server("VZTDC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  EXPECT_EQ(s.seen.kinds, "cc");
}

TEST(SessionTracker, IsNotCleanBeforeTheLastOfTwentyPipelinedGroups) {  // B42
  std::string client;
  std::string server;
  for (int i = 0; i < 20; ++i) {
    client += i % 5 == 4 ? "Q" : "PBES";
    server += i % 5 == 4 ? "TDC" : "12DC";
    server += i < 18 ? 'z' : 'Z';
  }
  const Bytes bytes = Session::client_bytes(client);
  const Bytes answers = Session::server_bytes(server);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Session s;
    s.tracker.on_frontend(ByteView(bytes).first(cut), {});
    s.tracker.on_frontend(ByteView(bytes).subspan(cut), {});
    for (std::size_t i = 0; i < answers.size(); ++i) {
      ASSERT_FALSE(s.tracker.clean_for_reuse()) << "cut=" << cut << " at " << i;
      s.tracker.on_backend(ByteView(answers).subspan(i, 1), {}, s.seen);
    }
    ASSERT_TRUE(s.tracker.clean_for_reuse()) << "cut=" << cut;
    ASSERT_EQ(s.seen.kinds.size(), 20u);
    ASSERT_EQ(s.seen.statuses, std::string(18, 'T') + "II");
  }
}

TEST(SessionTracker, AnswersASimpleQueryAndTheBatchBehindIt) {  // B44
  Session s;
  s.client("QPDBES");
  s.server("CZ");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("12TDC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, TakesAsynchronousMessagesAnywhere) {  // B46, B58, B59
  Session s;
  s.server("ANS");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  s.client("PBES");
  s.server("N1SSN2ADNCSSZS");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  EXPECT_EQ(s.seen.kinds, "c");
  EXPECT_TRUE(s.seen.errors.empty());
}

TEST(SessionTracker, IgnoresLeftoversOfARejectedCopy) {  // B48
  Session s;
  s.client("Q");
  s.server("G");
  s.client("ddd");
  s.server("Ey");
  EXPECT_FALSE(s.tracker.owes_answer());
  s.client("ddc");
  EXPECT_FALSE(s.tracker.owes_answer());
  s.client("Q");
  s.server("CZ");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, SwallowsASyncSentDuringCopy) {  // B49
  for (const bool answered_early : {false, true}) {
    Session s;
    s.client("PBES");
    if (answered_early) s.server("12G");
    s.client("ddcS");
    if (!answered_early) s.server("12G");
    s.server("C");
    EXPECT_TRUE(s.tracker.owes_answer());
    s.server("Z");
    EXPECT_TRUE(s.tracker.clean_for_reuse());
  }
}

TEST(SessionTracker, ExpectsBothSyncsWhenTheCopyNeverBegan) {  // B49
  Session s;
  s.client("PBESdcS");
  s.server("12EZ");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, KeepsTheBatchOpenWhenItsOnlySyncWasSwallowed) {  // B49
  Session s;
  s.client("PBESc");
  s.server("12GC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.client("S");
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, DoubtsASyncBehindAFailedCopyUntilALaterAnswer) {  // B49
  Session s;
  s.client("PBES");
  s.server("12G");
  s.client("dfS");
  s.server("EZ");
  EXPECT_FALSE(s.tracker.owes_answer());
  EXPECT_FALSE(s.tracker.clean_for_reuse());  // the first Sync may still be answered
  EXPECT_EQ(s.tracker.doubtful_syncs(), 1u);
  EXPECT_TRUE(s.tracker.ready_for_reset());
  s.client("Q");
  s.server("TDCZ");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

// The server runs it if the COPY failed before it had read that Sync.
TEST(SessionTracker, DoesNotTrustAServerWithMoreThanSyncsBehindAFailedCopy) {  // B49
  for (const char* const behind : {"PBES", "Q", "QS", "PBESQ", "FS"}) {
    Session s;
    s.client(std::string("PBES") + behind);
    s.server("12GEZ");
    EXPECT_FALSE(s.tracker.ready_for_reset()) << behind;
    s.server("12CZZZ");
    EXPECT_FALSE(s.tracker.clean_for_reuse()) << behind;
  }
}

TEST(SessionTracker, TakesTheAnswerToASyncThatTheFailedCopyHadNotRead) {  // B49, COPY to a view
  Session s;
  s.client("PBES");
  s.server("12GE");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_FALSE(s.tracker.owes_answer());
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, RunsTheRestOfAQueryAfterItsCopy) {
  Session s;
  s.client("Q");
  s.server("TDCG");
  s.client("dcQ");
  s.server("CTDCGC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("IZ");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
}

TEST(SessionTracker, LeavesReplicationStreamsOutOfTheSamples) {
  Session s;
  s.client("Q");
  s.server("W");
  s.client("dd");
  s.server("dddc");
  s.client("c");
  s.server("TDC");
  EXPECT_TRUE(s.tracker.owes_answer());
  s.server("Z");
  EXPECT_TRUE(s.tracker.clean_for_reuse());
  EXPECT_EQ(s.seen.kinds, "");
}

TEST(SessionTracker, SeesTheServersOwnFatal) {  // B55
  Session s;
  s.client("Q");
  s.server("TD!");
  EXPECT_TRUE(s.tracker.fatal_seen());
  EXPECT_FALSE(s.tracker.clean_for_reuse());
  ASSERT_EQ(s.seen.errors.size(), 1u);
  EXPECT_EQ(std::string(s.seen.errors[0].sqlstate.data(), 5), "57P01");
  EXPECT_TRUE(s.seen.errors[0].fatal);
}

TEST(SessionTracker, DoesNotTakeATranslatedErrorForAFatal) {
  using namespace std::string_literals;
  Session s;
  Bytes bytes;
  append_message(bytes, 'E', as_bytes("SFEHLER\0VERROR\0C42601\0MFATAL\0\0"s));
  append_message(bytes, 'E', as_bytes("SFATALE\0C42601\0\0"s));
  for (const std::byte& byte : bytes)
    s.tracker.on_backend(ByteView(&byte, 1), {}, s.seen);
  EXPECT_EQ(s.seen.errors.size(), 2u);
  EXPECT_FALSE(s.tracker.fatal_seen());
}

TEST(SessionTracker, ForwardsABadHeaderForTheServerToJudgeAndNothingMore) {  // B56
  using namespace std::string_literals;
  for (const std::string& bad : {"Q\0\0\0\0"s, "Q\0\0\0\3"s, "Q\xff\xff\xff\xff"s, "Q\x7f\xff\xff\xff"s,
                                 "z\0\0\0\4"s, "\0\0\0\0\4"s, "\xff\0\0\0\4"s, "p\0\0\0\5"s}) {
    Session s;
    const std::string bytes = "S\0\0\0\4"s + bad + "Q\0\0\0\5\0"s;
    const auto scan = s.tracker.on_frontend(as_bytes(bytes), {});
    EXPECT_EQ(scan.end, SessionTracker::FrontendEnd::Malformed);
    EXPECT_EQ(scan.forward_bytes, 10u);
    EXPECT_EQ(s.tracker.on_frontend(as_bytes(bytes), {}).forward_bytes, 0u);
    EXPECT_FALSE(s.tracker.clean_for_reuse());
  }
}

TEST(SessionTracker, CallsTheServerMalformedForImpossibleLengths) {  // B56
  using namespace std::string_literals;
  for (const std::string& bad : {"D\0\0\0\0"s, "T\0\0\0\3"s, "E\xff\xff\xff\xff"s, "S\x7f\xff\xff\xff"s,
                                 "Z\0\0\0\4"s, "Z\0\0\0\6II"s, "Z\0\0\0\5x"s}) {
    Session s;
    s.tracker.on_backend(as_bytes(bad + "Z\0\0\0\5I"s), {}, s.seen);
    EXPECT_TRUE(s.tracker.backend_malformed());
    EXPECT_FALSE(s.tracker.clean_for_reuse());
    EXPECT_EQ(s.seen.statuses, "");
  }
}

TEST(SessionTracker, StopsBeforeTerminateWhereverItIsCut) {  // B64
  using namespace std::string_literals;
  const std::string bytes = "Q\0\0\0\6s\0X\0\0\0\4"s;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    Session s;
    const auto first = s.tracker.on_frontend(as_bytes(bytes).first(cut), {});
    const auto second = s.tracker.on_frontend(as_bytes(bytes).subspan(cut), {});
    EXPECT_EQ(first.forward_bytes + second.forward_bytes, 7u) << cut;
    EXPECT_EQ(second.end, SessionTracker::FrontendEnd::Terminate);
    s.server("CZ");
    EXPECT_TRUE(s.tracker.clean_for_reuse());
  }
}

TEST(SessionTracker, IsNotCleanInsideAMessageOrATransaction) {  // B64
  Session half;
  half.tracker.on_frontend(as_bytes("P"), {});
  EXPECT_FALSE(half.tracker.clean_for_reuse());
  Session body;
  body.tracker.on_frontend(ByteView(Session::client_bytes("P")).first(8), {});
  EXPECT_FALSE(body.tracker.clean_for_reuse());
  Session server;
  server.tracker.on_backend(as_bytes("N"), {}, server.seen);
  EXPECT_FALSE(server.tracker.clean_for_reuse());
  Session block;
  block.client("Q");
  block.server("Cz");
  EXPECT_FALSE(block.tracker.owes_answer());
  EXPECT_FALSE(block.tracker.clean_for_reuse());
  Session failed;
  failed.client("Q");
  failed.server("Ey");
  EXPECT_EQ(failed.tracker.transaction_status(), 'E');
  EXPECT_FALSE(failed.tracker.clean_for_reuse());
}

TEST(SessionTracker, MeasuresEachStatementWithItsOwnSync) {  // B80
  Session s;
  s.client("PBESPBESPBES", 0ms);
  s.server("12DCZ", 100ms);
  s.server("12DCZ", 300ms);
  s.server("12DCZ", 600ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{100ms, 200ms, 300ms}));
}

TEST(SessionTracker, MeasuresStatementsOfOneSyncTogether) {  // B80
  Session s;
  s.client("PBEPBES", 0ms);
  s.server("12DC12DCZ", 300ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{300ms, 0ms}));
  s.client("Q", 1000ms);
  s.server("CTDCZ", 1500ms);
  EXPECT_EQ(s.seen.samples.size(), 4u);
  EXPECT_EQ(s.seen.samples[2] + s.seen.samples[3], 500ms);
}

TEST(SessionTracker, LeavesIdleTimeInATransactionOut) {  // B80
  Session s;
  s.client("Q", 0ms);
  s.server("Cz", 1ms);
  s.client("Q", 5001ms);
  s.server("TDCz", 5003ms);
  s.client("PB", 9000ms);
  s.client("ES", 12000ms);
  s.server("12CZ", 12004ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{1ms, 2ms, 4ms}));
  EXPECT_EQ(s.seen.sampled_at,
            (std::vector<SessionTracker::TimePoint>{s.at(1ms), s.at(5003ms), s.at(12004ms)}));
  EXPECT_EQ(s.seen.transactions, (std::vector<std::chrono::nanoseconds>{12004ms}));
}

TEST(SessionTracker, LeavesTheTimeOfASlowReaderOut) {  // B80
  Session s;
  s.client("Q", 0ms);
  s.server("TDD", 10ms);
  s.tracker.on_stall(980ms);
  s.server("CZ", 1000ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{20ms}));
}

TEST(SessionTracker, LeavesTheTimeOutInWhichTheOwnerKeepsWorkBack) {
  Session s;
  s.client("PBE", 10ms);
  s.tracker.on_pause(s.at(20ms));
  EXPECT_EQ(s.tracker.work_since(), std::nullopt);
  s.tracker.on_pause(s.at(100ms));  // is paused already
  s.tracker.on_resume(s.at(1020ms));
  s.tracker.on_resume(s.at(1050ms));
  EXPECT_EQ(s.tracker.work_since(), s.at(1010ms));
  s.client("S", 1020ms);
  s.server("12CZ", 1030ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{20ms}));

  s.client("PBEHPBE", 2000ms);
  s.tracker.on_pause(s.at(2010ms));
  s.server("12C", 2100ms);  // of what it had before
  s.tracker.on_resume(s.at(3000ms));
  s.client("S", 3000ms);
  s.server("12CZ", 3004ms);
  EXPECT_EQ(s.seen.samples, (std::vector<std::chrono::nanoseconds>{20ms, 100ms, 4ms}));
}

TEST(SessionTracker, CountsAnErrorOnce) {  // B80
  Session s;
  s.client("Q");
  s.server("TDE!");
  EXPECT_EQ(s.seen.kinds, "f");
  Session idle;
  idle.server("!");
  EXPECT_EQ(idle.seen.kinds, "");
  Session suspended;
  suspended.client("PBEESQ");
  suspended.server("12Ds", 1ms);
  suspended.server("DCZIZ", 2ms);
  EXPECT_EQ(suspended.seen.kinds, "ccc");
  EXPECT_TRUE(suspended.tracker.clean_for_reuse());
}

TEST(SessionTracker, KeepsALongBatchAsOneRunAndAPipelineOfManySyncsBounded) {
  Session batch;
  batch.client(std::string(100000, 'B'));
  EXPECT_FALSE(batch.tracker.full());
  batch.client("S");
  batch.server(std::string(100000, '2') + "Z");
  EXPECT_TRUE(batch.tracker.clean_for_reuse());
  Session pipeline;
  int groups = 0;
  for (; !pipeline.tracker.full(); ++groups)
    pipeline.client("BES");
  EXPECT_EQ(groups, 128);
  pipeline.client("BES");  // what was read before the owner looked is still taken
  for (int i = 0; i <= groups; ++i) {
    EXPECT_FALSE(pipeline.tracker.clean_for_reuse());
    pipeline.server("2CZ");
  }
  EXPECT_TRUE(pipeline.tracker.clean_for_reuse());
  EXPECT_FALSE(pipeline.tracker.full());
}

struct Bodies {
  std::vector<std::string> seen;  // type and body
  std::string body;
  void on_piece(char type, ByteView piece, bool complete, SessionTracker::TimePoint) {
    body += as_text(piece);
    if (complete) seen.push_back(type + std::exchange(body, ""));
  }
};

TEST(SessionTracker, ShowsEachBodyWhereverTheBytesAreCut) {
  const Bytes bytes = Session::client_bytes("PBSHQ");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    SessionTracker tracker;
    Bodies bodies;
    tracker.on_frontend(ByteView(bytes).first(cut), {}, bodies);
    tracker.on_frontend(ByteView(bytes).subspan(cut), {}, bodies);
    EXPECT_EQ(bodies.seen, (std::vector<std::string>{"Pbody", "Bbody", "S", "H", "Qbody"})) << cut;
  }
}

TEST(SessionTracker, SaysWithReadyForQueryWhetherAllIsAnswered) {
  struct : Seen {
    std::string idle;
    void on_ready(const SessionTracker::Ready& ready) { idle += ready.idle ? 'y' : 'n'; }
  } seen;
  SessionTracker tracker;
  tracker.on_frontend(Session::client_bytes("QQ"), {});
  tracker.on_backend(Session::server_bytes("CZCZ"), {}, seen);
  EXPECT_EQ(seen.idle, "ny");
}

}  // namespace
}  // namespace sluice::protocol
