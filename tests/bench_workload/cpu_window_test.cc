#include "bench/cpu_window.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "bench/problem.h"
#include "bench/run_folder.h"

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

// Folders that only look like the kernel's.
class CpuWindowTest : public testing::Test {
 protected:
  CpuWindowTest() {
    std::string pattern = (fs::temp_directory_path() / "sluice-cgroup-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CpuWindowTest() override { fs::remove_all(root_); }

  ReplicaSpec replica(const std::string& folder, const std::string& more = "") const {
    return *ReplicaSpec::parse("r=127.0.0.1:5433,cgroup:" + (root_ / folder).string() + more);
  }
  void write(const std::string& folder, const std::string& file, const std::string& text) const {
    fs::create_directories(root_ / folder);
    write_text(root_ / folder / file, text);
  }

  fs::path root_;
};

TEST_F(CpuWindowTest, SaysWhereItsNumbersAreFrom) {
  write("two", "cpu.stat", "usage_usec 1000000\n");
  write("two", "cpu.max", "5000 10000\n");
  CpuWindow window({replica("two"), *ReplicaSpec::parse("other=127.0.0.1:5434")});
  window.begin();
  window.end();
  const auto use = window.use();
  ASSERT_EQ(use.size(), 1U) << "the other one's processor time has no source";
  EXPECT_EQ(use[0].name, "r");
  EXPECT_EQ(use[0].cores, 0.5);
  EXPECT_EQ(use[0].cpu_source, "cgroup v2 cpu.stat");
  EXPECT_EQ(use[0].cores_source, "the cgroup's quota");
}

// With version 1 the processor time is in one mount and the quota in another: utilization was of the whole
// machine.
TEST_F(CpuWindowTest, FindsTheQuotaInTheOtherMountOfVersionOne) {
  write("cpuacct/some", "cpuacct.usage", "1000000000\n");
  write("cpu/some", "cpu.cfs_quota_us", "2500\n");
  write("cpu/some", "cpu.cfs_period_us", "10000\n");
  const auto basis = read_basis(std::vector{replica("cpuacct/some"), replica("cpuacct/some", ",cores:3")});
  EXPECT_EQ(basis[0].cores, 0.25);
  EXPECT_EQ(basis[0].cpu_source, "cgroup v1 cpuacct.usage");
  EXPECT_EQ(basis[0].cores_source, "the cgroup's quota");
  EXPECT_EQ(basis[1].cores, 3);
  EXPECT_EQ(basis[1].cores_source, "cores:N");
}

TEST_F(CpuWindowTest, SaysWhenThereIsNoQuota) {
  write("cpuacct/some", "cpuacct.usage", "1\n");
  EXPECT_EQ(read_basis(std::vector{replica("cpuacct/some")})[0].cores_source, kWholeMachine);
  write("cpu/some", "cpu.cfs_quota_us", "-1\n");
  write("cpu/some", "cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(read_basis(std::vector{replica("cpuacct/some")})[0].cores_source, kWholeMachine);
}

TEST_F(CpuWindowTest, FailsBeforeAnythingIsMeasuredOrWhenAReadingIsMissing) {
  EXPECT_THROW(CpuWindow({replica("nowhere")}), Failure);
  write("gone", "cpu.stat", "usage_usec 1\n");
  CpuWindow window({replica("gone")});
  window.begin();
  fs::remove_all(root_ / "gone");
  window.end();
  EXPECT_THROW(window.use(), Failure);
}

}  // namespace
}  // namespace sluice::bench
