#include "bench/run_folder.h"

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/descriptor_limit.h"
#include "tests/bench_workload/example_run.h"

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "sluice-bench-XXXXXX").string();
    output_ = ::mkdtemp(pattern.data());
  }
  ~RunFolderTest() override { fs::remove_all(output_); }

  fs::path output_;
  RunInfo info_ = example_run("plb", 30, 0.5, 1, 0.2);
};

TEST_F(RunFolderTest, IsThereWhenItIsFinishedAndNotBefore) {
  EXPECT_EQ(present(output_, info_.key), Present::No);
  {
    RunFolder abandoned(output_, info_.key);
    abandoned.add(QueryRecord{}, "premium");
  }
  EXPECT_EQ(present(output_, info_.key), Present::No);
  EXPECT_TRUE(read_runs(output_).empty());
  EXPECT_TRUE(fs::is_empty(output_ / "runs")) << "what was not finished is removed";
  RunFolder folder(output_, info_.key);
  folder.add(QueryRecord{}, "premium");
  folder.add(SessionRecord{}, "premium");
  EXPECT_TRUE(read_runs(output_).empty());
  folder.finish(info_);
  EXPECT_EQ(present(output_, info_.key), Present::Same);
  const fs::path place = output_ / "runs" / "plb-5-30-0.5-1";
  EXPECT_EQ(read_text(place / "queries.csv", 10'000), query_header() + line_of(QueryRecord{}, "premium"));
  EXPECT_EQ(read_text(place / "sessions.csv", 10'000),
            session_header() + line_of(SessionRecord{}, "premium"));
  const auto runs = read_runs(output_);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].key, info_.key);
}

TEST_F(RunFolderTest, TellsARunThatWasAskedForWithOtherOptions) {
  RunFolder(output_, info_.key).finish(info_);
  RunKey other = info_.key;
  other.think = "1";
  EXPECT_EQ(present(output_, other), Present::Other);
}

TEST_F(RunFolderTest, ReplacesARunAsAWhole) {
  RunFolder(output_, info_.key).finish(info_);
  info_.key.seed = 99;
  RunFolder again(output_, info_.key);
  EXPECT_EQ(present(output_, info_.key), Present::Other) << "the old one stays until the new one is whole";
  again.finish(info_);
  EXPECT_EQ(present(output_, info_.key), Present::Same);
}

TEST_F(RunFolderTest, LeavesNothingElseBehindWhenItReplacesARun) {
  for (int i = 0; i < 2; ++i)
    RunFolder(output_, info_.key).finish(info_);
  const auto all = fs::directory_iterator(output_ / "runs");
  EXPECT_EQ(std::distance(fs::begin(all), fs::end(all)), 1);
}

// A limit of a file's size is a full disk that a test can have.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  void (*before_)(int);
  rlimit limit_{};
};

// Write errors were told when the run was over: by then minutes of measuring were lost.
TEST_F(RunFolderTest, NoticesAtOnceWhatCannotBeWritten) {
  RunFolder(output_, info_.key).finish(info_);
  const std::string before = read_text(output_ / "runs" / "plb-5-30-0.5-1" / "sessions.csv", 10'000);
  {
    RunFolder folder(output_, info_.key);
    const SmallFiles limit(200);
    folder.add(SessionRecord{}, "premium");
    folder.flush();
    EXPECT_EQ(folder.fault(), "");
    for (int i = 0; i < 10; ++i)
      folder.add(QueryRecord{}, "premium");
    folder.flush();
    EXPECT_NE(folder.fault().find("queries.csv: File too large"), std::string::npos) << folder.fault();
    EXPECT_THROW(folder.finish(info_), Failure);
    EXPECT_THROW(RunFolder(output_ / std::string(300, 'x'), info_.key), Failure);
  }
  EXPECT_EQ(read_text(output_ / "runs" / "plb-5-30-0.5-1" / "sessions.csv", 10'000), before);
}

TEST(DescriptorLimit, IsRaisedAndElseRefusedWithBothNumbers) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  ensure_descriptors(10);
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, 100U) << "that is enough";
  ensure_descriptors(100);
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_GE(now.rlim_cur, 264U);
  try {
    ensure_descriptors(before.rlim_max / 2);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& e) {
    EXPECT_NE(std::string(e.what()).find("may have " + std::to_string(before.rlim_max)), std::string::npos)
        << e.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(RunFolderTest, SaysWhichFileIsNoRun) {
  RunFolder(output_, info_.key).finish(info_);
  write_text(output_ / "runs" / "plb-5-30-0.5-1" / "run.json", "{}");
  try {
    read_runs(output_);
    FAIL() << "no failure";
  } catch (const Failure& e) {
    EXPECT_NE(std::string(e.what()).find("plb-5-30-0.5-1/run.json"), std::string::npos) << e.what();
  }
  EXPECT_THROW(read_runs(output_ / "nowhere"), Failure);
}

}  // namespace
}  // namespace sluice::bench
