#include "bench/run_folder.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

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
