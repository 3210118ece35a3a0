#include "router/trace_recorder.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "decide/event.h"
#include "decide/json_line.h"
#include "recording/trace_reader.h"
#include "tests/config/loading.h"
#include "tests/config/temporary_folder.h"

namespace sluice::router {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string name_of(policy::ReplicaId replica) {
  return "r" + std::to_string(replica.value());
}

std::shared_ptr<const config::Config> config_with(const std::string& more) {
  const config::LoadOutcome outcome = config::Loading().load_with(more);
  EXPECT_TRUE(outcome.config) << config::text_of(outcome.problems);
  return outcome.config;
}

struct Trace {
  std::vector<recording::Record> records;
  std::optional<recording::Damage> damage;
  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const recording::Record& r : records)
      if (const T* one = std::get_if<T>(&r)) out.push_back(*one);
    return out;
  }
  std::set<std::string> names(recording::NameKind kind) const {
    std::set<std::string> out;
    for (const auto& name : all<recording::Name>())
      if (name.kind == kind) out.insert(name.text);
    return out;
  }
};

Trace read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  recording::TraceReader reader(in);
  Trace out;
  while (auto record = reader.next())
    out.records.push_back(std::move(*record));
  out.damage = reader.damage();
  return out;
}

class TraceRecorderTest : public testing::Test {
 protected:
  std::shared_ptr<const config::Config> recording_to(const std::string& name, const std::string& more = "") {
    return config_with("record_trace: " + folder_.path(name) + "\n" + more);
  }
  // What a thread's sessions note comes back here as it would from the control thread.
  RecordingBuffer buffer_{3, [this](RecordedBatch batch) {
                            if (!recorder_.accepts()) return false;
                            recorder_.take(batch, name_of);
                            return true;
                          }};
  void one_transaction(SessionRecording& session, std::uint32_t replica) {
    session.admitted(RecordedKind::Transaction, policy::ReplicaId(replica), milliseconds(3), size_, now_);
    session.answered(milliseconds(2), now_ += milliseconds(5));
    session.answered(milliseconds(1), now_ += milliseconds(1));
    session.ended(now_ += milliseconds(1));
  }

  std::optional<double> size_ = 0.25;
  config::TemporaryFolder folder_;
  TraceRecorder recorder_{{}};
  SessionRecording::Clock::time_point now_ = SessionRecording::Clock::now() + std::chrono::seconds(1);
};

TEST_F(TraceRecorderTest, WritesWhatSessionsNote) {
  const auto began = SessionRecording::Clock::now();
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", "record_trace_names: plain\n")));
  SessionRecording session(buffer_, {"premium", "alice", "app", "here"});
  const auto asked = now_ - milliseconds(3);
  one_transaction(session, 1);
  buffer_.hand_over();
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  EXPECT_FALSE(trace.damage);
  ASSERT_EQ(trace.all<recording::Whole>().size(), 1U);
  const auto whole = trace.all<recording::Whole>()[0];
  EXPECT_TRUE(whole.transaction);
  EXPECT_EQ(whole.waited, milliseconds(3));
  EXPECT_EQ(whole.expected_size, milliseconds(250));
  EXPECT_EQ(whole.queries, (std::vector<recording::Query>{{milliseconds(3), milliseconds(2)},
                                                          {milliseconds(0), milliseconds(1)}}));
  EXPECT_EQ(whole.tail, milliseconds(1));
  EXPECT_NEAR(static_cast<double>(whole.at.count()),
              static_cast<double>(std::chrono::duration_cast<microseconds>(asked - began).count()), 200'000);
  EXPECT_TRUE(trace.all<recording::Admission>().empty());
  ASSERT_EQ(trace.all<recording::Who>().size(), 1U);
  EXPECT_EQ(trace.all<recording::Who>()[0].id, whole.who);
  EXPECT_EQ(trace.names(recording::NameKind::User), std::set<std::string>{"alice"});
  EXPECT_EQ(trace.names(recording::NameKind::Replica), std::set<std::string>{"r1"});
  EXPECT_EQ(trace.names(recording::NameKind::Host), std::set<std::string>{"here"});
}

// What is handed over before it has ended: a transaction that goes on, and one that is longer than is held
// back.
TEST_F(TraceRecorderTest, WritesLongOnesPieceByPiece) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  SessionRecording slow(buffer_, {"premium", "alice", "app", ""}),
      busy(buffer_, {"freemium", "bob", "app", ""});
  slow.admitted(RecordedKind::Transaction, policy::ReplicaId(1), milliseconds(3), 0.25, now_);
  buffer_.hand_over();
  slow.answered(milliseconds(2), now_ + milliseconds(5));
  buffer_.hand_over();
  buffer_.hand_over();
  slow.answered(milliseconds(1), now_ + milliseconds(7));
  busy.admitted(RecordedKind::Session, policy::ReplicaId(0), milliseconds(0), std::nullopt, now_);
  constexpr std::size_t kMany = 2 * SessionRecording::kQueriesHeld + 1;
  for (std::size_t i = 1; i <= kMany; ++i)
    busy.answered(microseconds(i), now_ + milliseconds(i));
  busy.ended(now_ + milliseconds(100));
  slow.ended(now_ + milliseconds(8));
  buffer_.hand_over();
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  EXPECT_FALSE(trace.damage);
  EXPECT_TRUE(trace.all<recording::Whole>().empty());
  const auto admissions = trace.all<recording::Admission>();
  ASSERT_EQ(admissions.size(), 2U);
  EXPECT_TRUE(admissions[0].transaction);
  EXPECT_FALSE(admissions[1].transaction);
  EXPECT_EQ(admissions[0].waited, milliseconds(3));
  EXPECT_EQ(admissions[0].expected_size, milliseconds(250));
  EXPECT_NE(admissions[0].number, admissions[1].number);
  EXPECT_NE(admissions[0].session_class, admissions[1].session_class);
  EXPECT_EQ(admissions[0].database, admissions[1].database);
  std::map<std::uint64_t, std::vector<recording::Query>> queries;
  for (const auto& some : trace.all<recording::Queries>())
    queries[some.number].insert(queries[some.number].end(), some.queries.begin(), some.queries.end());
  EXPECT_EQ(queries[admissions[0].number],
            (std::vector<recording::Query>{{milliseconds(3), milliseconds(2)},
                                           {milliseconds(1), milliseconds(1)}}));
  ASSERT_EQ(queries[admissions[1].number].size(), kMany);
  for (std::size_t i = 1; i <= kMany; ++i)
    EXPECT_EQ(queries[admissions[1].number][i - 1],
              (recording::Query{milliseconds(1) - microseconds(i), microseconds(i)}));
  const auto ends = trace.all<recording::End>();
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].number, admissions[1].number);
  EXPECT_EQ(ends[1].number, admissions[0].number);
  EXPECT_EQ(ends[1].at - admissions[0].at, milliseconds(11));
}

// As after a server that was lost: the queries of the next one are its own.
TEST_F(TraceRecorderTest, KeepsApartWhatNobodyEnded) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  SessionRecording session(buffer_, {"premium", "alice", "app", ""});
  session.admitted(RecordedKind::Transaction, policy::ReplicaId(0), {}, std::nullopt, now_);
  session.answered(milliseconds(2), now_ + milliseconds(2));
  now_ += milliseconds(50);
  one_transaction(session, 1);
  buffer_.hand_over();
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  ASSERT_EQ(trace.all<recording::Admission>().size(), 1U);
  ASSERT_EQ(trace.all<recording::Queries>().size(), 1U);
  EXPECT_EQ(trace.all<recording::Queries>()[0].queries,
            (std::vector<recording::Query>{{milliseconds(0), milliseconds(2)}}));
  EXPECT_TRUE(trace.all<recording::End>().empty());
  ASSERT_EQ(trace.all<recording::Whole>().size(), 1U);
  EXPECT_EQ(trace.all<recording::Whole>()[0].queries.size(), 2U);
}

TEST_F(TraceRecorderTest, SaysOnceWhoManySessionsAre) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", "record_trace_names: plain\n")));
  std::vector<std::unique_ptr<SessionRecording>> sessions;
  for (int i = 0; i < 100; ++i)
    sessions.push_back(std::make_unique<SessionRecording>(
        buffer_, RecordedWho{i % 2 == 0 ? "premium" : "freemium", "alice", "app", "here"}));
  for (int round = 0; round < 2; ++round) {
    for (const auto& session : sessions)
      one_transaction(*session, 0);
    buffer_.hand_over();
  }
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  EXPECT_EQ(trace.all<recording::Who>().size(), 2U);
  const auto whole = trace.all<recording::Whole>();
  ASSERT_EQ(whole.size(), 200U);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_EQ(whole[i].who, i % 2) << i;
}

TEST_F(TraceRecorderTest, BeginsWithAConfigurationThatDecideReads) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", "policy: proportional\n")));
  recorder_.close();
  const auto found = read(folder_.path("trace")).all<recording::Configuration>();
  ASSERT_EQ(found.size(), 1U);
  const auto parsed = decide::parse_event(decide::parse_json_line(found[0].json).value);
  EXPECT_EQ(parsed.problem, "");
  EXPECT_EQ(std::get<decide::ConfigEvent>(parsed.event).config.policy, policy::PolicyKind::Proportional);
}

TEST_F(TraceRecorderTest, NotesAnExpectedSizeAsFarAsItIsOne) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  SessionRecording session(buffer_, {"premium", "alice", "app", ""});
  const std::vector<std::optional<double>> sizes = {std::nullopt, 0, 1.5, -1, 1e300, std::nan("")};
  for (const auto& size : sizes) {
    size_ = size;
    one_transaction(session, 0);
  }
  buffer_.hand_over();
  recorder_.close();
  std::vector<std::optional<microseconds>> found;
  for (const auto& whole : read(folder_.path("trace")).all<recording::Whole>())
    found.push_back(whole.expected_size);
  EXPECT_EQ(found,
            (std::vector<std::optional<microseconds>>{std::nullopt, microseconds(0), milliseconds(1'500),
                                                      std::nullopt, recording::kSpanMax, std::nullopt}));
}

TEST_F(TraceRecorderTest, NotesTheQueueAndItsChanges) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  const std::string other = "queue_discipline: shortest_first\nqueue_ageing: 4\n";
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", other)));
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", other)));
  recorder_.close();
  const auto found = read(folder_.path("trace")).all<recording::Queue>();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].order, recording::QueueOrder::Fcfs);
  EXPECT_EQ(found[0].ageing, std::chrono::seconds(10));
  EXPECT_EQ(found[1].order, recording::QueueOrder::ShortestFirst);
  EXPECT_EQ(found[1].ageing, std::chrono::seconds(4));
}

TEST_F(TraceRecorderTest, HashesNamesAlikeWithinAProcess) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  SessionRecording one(buffer_, {"premium", "alice", "app", ""}),
      two(buffer_, {"premium", "alice", "other", ""});
  one_transaction(one, 0);
  one_transaction(two, 0);
  buffer_.hand_over();
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  const auto users = trace.names(recording::NameKind::User);
  ASSERT_EQ(users.size(), 1U);
  EXPECT_EQ(users.begin()->size(), 16U);
  EXPECT_FALSE(users.contains("alice"));
  EXPECT_EQ(trace.names(recording::NameKind::Database).size(), 2U);
  EXPECT_TRUE(trace.names(recording::NameKind::Host).empty());
}

TEST_F(TraceRecorderTest, IsForItsOwnerAlone) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  struct stat status {};
  ASSERT_EQ(::stat(folder_.path("trace").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(TraceRecorderTest, KeepsSoManyFilesEachOfWhichCanBeReadAlone) {
  ASSERT_TRUE(
      recorder_.configure(*recording_to("trace", "record_trace_file_size: 1MB\nrecord_trace_files: 3\n")));
  SessionRecording session(buffer_, {"premium", "alice", "app", ""});
  Rng rng(1);
  for (int i = 0; i < 700'000; ++i) {
    session.admitted(RecordedKind::Session, policy::ReplicaId(static_cast<std::uint32_t>(rng.below(3))),
                     microseconds(rng.below(1'000'000)), std::nullopt,
                     now_ += microseconds(rng.below(100'000)));
    session.ended(now_ += microseconds(rng.below(1'000'000)));
  }
  buffer_.hand_over();
  recorder_.close();
  for (const char* name : {"trace", "trace.1", "trace.2"}) {
    const Trace trace = read(folder_.path(name));
    EXPECT_FALSE(trace.damage) << name;
    EXPECT_EQ(trace.all<recording::Configuration>().size(), 1U) << name;
    EXPECT_EQ(trace.names(recording::NameKind::Class), std::set<std::string>{"premium"}) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path("trace.3")));
  EXPECT_GT(std::filesystem::file_size(folder_.path("trace.1")), 1'000'000U);
  EXPECT_LT(std::filesystem::file_size(folder_.path("trace.1")), 1'400'000U);
}

TEST_F(TraceRecorderTest, LosesNothingFromOneFileToTheNext) {
  constexpr std::size_t kSessions = 400'000;
  ASSERT_TRUE(
      recorder_.configure(*recording_to("trace", "record_trace_file_size: 1MB\nrecord_trace_files: 20\n")));
  SessionRecording session(buffer_, {"premium", "alice", "app", ""});
  Rng rng(2);
  for (std::size_t i = 0; i < kSessions; ++i) {
    session.admitted(RecordedKind::Session, policy::ReplicaId(0), microseconds(rng.below(1'000'000)),
                     std::nullopt, now_ += microseconds(rng.below(100'000)));
    session.ended(now_ += microseconds(rng.below(1'000'000)));
  }
  buffer_.hand_over();
  recorder_.close();
  std::size_t found = read(folder_.path("trace")).all<recording::Whole>().size();
  int files = 1;
  for (; std::filesystem::exists(folder_.path("trace." + std::to_string(files))); ++files)
    found += read(folder_.path("trace." + std::to_string(files))).all<recording::Whole>().size();
  EXPECT_GT(files, 2);
  EXPECT_EQ(found, kSessions);
}

TEST_F(TraceRecorderTest, WhoAskedBeforeTheFileBeganHasWaitedSinceThen) {
  ASSERT_TRUE(recorder_.configure(*recording_to("trace")));
  SessionRecording session(buffer_, {"premium", "alice", "app", ""});
  const auto hour = std::chrono::hours(1);
  session.admitted(RecordedKind::Transaction, policy::ReplicaId(0), milliseconds(3), std::nullopt,
                   now_ - hour);
  session.ended(now_ - hour + milliseconds(5));
  session.admitted(RecordedKind::Transaction, policy::ReplicaId(0), hour, std::nullopt, now_);
  session.ended(now_ + milliseconds(7));
  session.admitted(RecordedKind::Transaction, policy::ReplicaId(0), hour, std::nullopt,
                   now_ + milliseconds(7));
  buffer_.hand_over();  // it goes on
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  ASSERT_EQ(trace.all<recording::Whole>().size(), 1U);
  const auto whole = trace.all<recording::Whole>()[0];
  EXPECT_EQ(whole.at, microseconds(0));
  EXPECT_GT(whole.waited, milliseconds(900));  // the fixture's second
  EXPECT_LE(whole.waited, milliseconds(1000));
  EXPECT_EQ(whole.tail, milliseconds(7));
  ASSERT_EQ(trace.all<recording::Admission>().size(), 1U);
  const auto admission = trace.all<recording::Admission>()[0];
  EXPECT_EQ(admission.at, microseconds(0));
  EXPECT_EQ(admission.waited, whole.waited + milliseconds(7));
}

TEST_F(TraceRecorderTest, AReloadBeginsNotesAndEnds) {
  EXPECT_FALSE(recorder_.configure(*config_with("")));
  EXPECT_TRUE(recorder_.configure(*recording_to("trace")));
  EXPECT_TRUE(recorder_.configure(*recording_to("trace")));  // nothing has changed
  EXPECT_TRUE(recorder_.configure(*recording_to("trace", "policy: least_loaded\n")));
  EXPECT_FALSE(recorder_.configure(*config_with("")));
  EXPECT_EQ(read(folder_.path("trace")).all<recording::Configuration>().size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("trace.1")));
}

TEST_F(TraceRecorderTest, AFileThatCannotBeOpenedEndsTheRecordingAlone) {
  EXPECT_FALSE(recorder_.configure(*recording_to("no/such/folder")));
  one_transaction(*std::make_unique<SessionRecording>(buffer_, RecordedWho{"premium", "a", "b", ""}), 0);
  buffer_.hand_over();
  recorder_.flush();
  EXPECT_TRUE(recorder_.configure(*recording_to("trace")));
}

TEST(RecordingBuffer, DropsABatchThatNobodyTakes) {
  int offered = 0;
  RecordingBuffer buffer(0, [&](const RecordedBatch&) { return ++offered > 1; });
  SessionRecording session(buffer, {"premium", "a", "b", ""});
  for (std::size_t i = 0; i < 4 * RecordingBuffer::kBatchEvents; ++i) {
    session.admitted(RecordedKind::Session, policy::ReplicaId(0), {}, {}, {});
    session.ended({});
  }
  EXPECT_EQ(offered, 4);
  buffer.hand_over();
  EXPECT_EQ(offered, 4) << "an empty one is not offered";
}

TEST(RecordingBuffer, HandsOverWhatIsFullOfQueries) {
  std::size_t events = 0, queries = 0, largest = 0;
  RecordingBuffer buffer(0, [&](const RecordedBatch& batch) {
    events += batch.events.size();
    queries += batch.queries.size();
    largest = std::max(largest, batch.queries.size());
    return true;
  });
  SessionRecording session(buffer, {"premium", "a", "b", ""});
  constexpr std::size_t kTransactions = 2'000, kOfEach = SessionRecording::kQueriesHeld - 1;
  for (std::size_t i = 0; i < kTransactions; ++i) {
    session.admitted(RecordedKind::Transaction, policy::ReplicaId(0), {}, {}, {});
    for (std::size_t q = 0; q < kOfEach; ++q)
      session.answered({}, {});
    session.ended({});
  }
  buffer.hand_over();
  EXPECT_EQ(events, kTransactions);
  EXPECT_EQ(queries, kTransactions * kOfEach);
  EXPECT_LT(largest, RecordingBuffer::kBatchQueries + SessionRecording::kQueriesHeld);
}

// Each of them, wherever it stands among those that hold something back.
TEST(RecordingBuffer, ForgetsASessionThatIsGone) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    std::size_t events = 0;
    RecordingBuffer buffer(0,
                           [&](const RecordedBatch& batch) { return events += batch.events.size(), true; });
    std::array<std::unique_ptr<SessionRecording>, 3> sessions;
    for (auto& session : sessions) {
      session = std::make_unique<SessionRecording>(buffer, RecordedWho{"premium", "a", "b", ""});
      session->admitted(RecordedKind::Transaction, policy::ReplicaId(0), {}, {}, {});
    }
    sessions[gone].reset();
    sessions[(gone + 1) % 3]->ended({});
    sessions[(gone + 1) % 3].reset();
    buffer.hand_over();
    EXPECT_EQ(events, 2U) << "one in whole, one admission";
  }
}

TEST(SessionRecording, NotesNothingWithoutAReplica) {
  std::size_t events = 0;
  RecordingBuffer buffer(0, [&](const RecordedBatch& batch) { return events += batch.events.size(), true; });
  SessionRecording session(buffer, {"premium", "a", "b", ""});
  session.answered(milliseconds(1), {});
  session.ended({});
  buffer.hand_over();
  EXPECT_EQ(events, 0U);
}

}  // namespace
}  // namespace sluice::router
