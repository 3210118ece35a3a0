#include "router/trace_recorder.h"

#include <cmath>
#include <filesystem>
#include <fstream>
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
    session.admitted(RecordedEvent::Kind::Transaction, policy::ReplicaId(replica), milliseconds(3), size_,
                     now_);
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
  ASSERT_TRUE(recorder_.configure(*recording_to("trace", "record_trace_names: plain\n")));
  SessionRecording session(buffer_, {"premium", "alice", "app", "here"});
  const auto asked = now_ - milliseconds(3);
  one_transaction(session, 1);
  buffer_.hand_over();
  recorder_.close();
  const Trace trace = read(folder_.path("trace"));
  EXPECT_FALSE(trace.damage);
  ASSERT_EQ(trace.all<recording::Admission>().size(), 1U);
  const auto admission = trace.all<recording::Admission>()[0];
  EXPECT_TRUE(admission.transaction);
  EXPECT_EQ(admission.waited, milliseconds(3));
  EXPECT_EQ(admission.expected_size, milliseconds(250));
  ASSERT_EQ(trace.all<recording::Queries>().size(), 1U);
  EXPECT_EQ(trace.all<recording::Queries>()[0].queries,
            (std::vector<recording::Query>{{milliseconds(3), milliseconds(2)},
                                           {milliseconds(0), milliseconds(1)}}));
  const auto end = trace.all<recording::End>()[0];
  EXPECT_EQ(end.number, admission.number);
  EXPECT_NEAR(static_cast<double>((end.at - admission.at).count()),
              static_cast<double>(std::chrono::duration_cast<microseconds>(now_ - asked).count()), 2);
  EXPECT_EQ(trace.names(recording::NameKind::User), std::set<std::string>{"alice"});
  EXPECT_EQ(trace.names(recording::NameKind::Replica), std::set<std::string>{"r1"});
  EXPECT_EQ(trace.names(recording::NameKind::Host), std::set<std::string>{"here"});
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
  for (const auto& admission : read(folder_.path("trace")).all<recording::Admission>())
    found.push_back(admission.expected_size);
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
    session.admitted(
        RecordedEvent::Kind::Session, policy::ReplicaId(static_cast<std::uint32_t>(rng.below(3))),
        microseconds(rng.below(1'000'000)), std::nullopt, now_ += microseconds(rng.below(100'000)));
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
  for (std::size_t i = 0; i < 2 * RecordingBuffer::kBatchEvents; ++i) {
    session.admitted(RecordedEvent::Kind::Session, policy::ReplicaId(0), {}, {}, {});
    session.ended({});
  }
  EXPECT_EQ(offered, 4);
  buffer.hand_over();
  EXPECT_EQ(offered, 4) << "an empty one is not offered";
}

TEST(SessionRecording, NotesNothingWithoutAReplica) {
  std::size_t events = 0;
  RecordingBuffer buffer(0, [&](const RecordedBatch& batch) { return events += batch.size(), true; });
  SessionRecording session(buffer, {"premium", "a", "b", ""});
  session.answered(milliseconds(1), {});
  session.ended({});
  buffer.hand_over();
  EXPECT_EQ(events, 0U);
}

}  // namespace
}  // namespace sluice::router
