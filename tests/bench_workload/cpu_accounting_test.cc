#include "bench/cpu_accounting.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/cpu_reader.h"
#include "bench/problem.h"

namespace sluice::bench {
namespace {

TEST(CpuAccounting, ReadsBothKindsOfCgroup) {
  EXPECT_DOUBLE_EQ(*parse_cpuacct_usage("1500000000\n"), 1.5);
  EXPECT_DOUBLE_EQ(*parse_cpu_stat("usage_usec 2500000\nuser_usec 1\nsystem_usec 2\n"), 2.5);
  EXPECT_DOUBLE_EQ(*parse_cpu_stat("nr_periods 7\nusage_usec 10\n"), 1e-5);
  for (const char* text : {"", "x", "-5", "12x", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_cpuacct_usage(text)) << text;
    EXPECT_FALSE(parse_cpu_stat(std::string("usage_usec ") + text)) << text;
  }
  EXPECT_FALSE(parse_cpu_stat("user_usec 5\n"));
}

TEST(CpuAccounting, ReadsQuotas) {
  EXPECT_DOUBLE_EQ(*parse_cpu_max("3000 10000\n"), 0.3);
  EXPECT_DOUBLE_EQ(*parse_cpu_max("max 100000\n"), 0);
  EXPECT_DOUBLE_EQ(*parse_cfs_quota("20000\n", "10000\n"), 2);
  EXPECT_DOUBLE_EQ(*parse_cfs_quota("-1\n", "100000\n"), 0);
  EXPECT_FALSE(parse_cpu_max("3000"));
  EXPECT_FALSE(parse_cpu_max("3000 0"));
  EXPECT_FALSE(parse_cfs_quota("", ""));
}

TEST(CpuAccounting, ReadsAProcessWhateverItsName) {
  const auto times = parse_process_stat(
      "42 (postgres: a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 110 20 5000 300 20 0 1 0 9 8 7");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->parent, 7);
  EXPECT_DOUBLE_EQ(times->own, 130);
  EXPECT_DOUBLE_EQ(times->children, 5300);
  for (const char* text : {"", "42 (a", "42 (a) S", "42 (a) S 7 42 42 0 -1 4194560 1 2 3 4 110 20 5000",
                           "42 (a) S x 42 42 0 -1 4194560 1 2 3 4 110 20 5000 300"})
    EXPECT_FALSE(parse_process_stat(text)) << text;
}

TEST(CpuReader, CountsThisProcessAndRefusesOneThatIsNot) {
  const auto own = ReplicaSpec::parse("me=127.0.0.1:5432,pid:" + std::to_string(::getpid()));
  ASSERT_TRUE(own);
  const std::vector<ReplicaSpec> replicas = {*own};
  const double before = read_cpu(replicas).at(0);
  volatile double burnt = 1;
  double used = 0;
  for (int round = 0; round < 10'000 && used < 0.05; ++round) {
    for (int i = 0; i < 1'000'000; ++i)
      burnt = burnt * 1.0000001;
    used = read_cpu(replicas).at(0) - before;
  }
  EXPECT_GE(used, 0.05);
  EXPECT_GE(read_basis(replicas).at(0).cores, 1);
  EXPECT_EQ(read_basis(replicas).at(0).cpu_source, "/proc");
  const std::vector<ReplicaSpec> nobody = {*ReplicaSpec::parse("r=127.0.0.1:5432,pid:2147483646")};
  EXPECT_THROW(read_cpu(nobody), Failure);
  const std::vector<ReplicaSpec> nowhere = {*ReplicaSpec::parse("r=127.0.0.1:5432,cgroup:/nonexistent")};
  EXPECT_THROW(read_cpu(nowhere), Failure);
}

}  // namespace
}  // namespace sluice::bench
