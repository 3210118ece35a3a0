#include "bench/replica_spec.h"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

TEST(ReplicaSpec, ReadsEveryForm) {
  const auto plain = ReplicaSpec::parse("r0=127.0.0.1:5433");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->name, "r0");
  EXPECT_EQ(plain->address, "127.0.0.1:5433");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(plain->cpu));
  const auto cgroup = ReplicaSpec::parse("r1=localhost:5433,cgroup:/sys/fs/cgroup/x:y,cores:0.3");
  ASSERT_TRUE(cgroup);
  EXPECT_EQ(cgroup->address, "127.0.0.1:5433");
  EXPECT_EQ(std::get<CgroupSource>(cgroup->cpu).path, "/sys/fs/cgroup/x:y");
  EXPECT_DOUBLE_EQ(cgroup->cores, 0.3);
  const auto process = ReplicaSpec::parse("r2=[::1]:5433,pid:77");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->address, "::1:5433");
  EXPECT_EQ(std::get<ProcessSource>(process->cpu).pid, 77);
}

TEST(ReplicaSpec, RefusesOthers) {
  for (const char* text : {"", "r0", "=h:1", "r0=h", "r0=:5", "r0=h:0", "r0=h:65536", "r0=h:x",
                           "r0=h:1,pid:0", "r0=h:1,pid:x", "r0=h:1,pid:99999999999", "r0=h:1,cgroup:relative",
                           "r0=h:1,cores:0", "r0=h:1,cores:nan", "r0=h:1,what:1", "r0=h:1,pid:1,cgroup:/x"})
    EXPECT_FALSE(ReplicaSpec::parse(text)) << text;
}

TEST(ReplicaName, FindsTheReplicaByWhatItSaysOfItself) {
  const std::vector<ReplicaSpec> replicas = {*ReplicaSpec::parse("r0=10.0.0.1:5432"),
                                             *ReplicaSpec::parse("r1=10.0.0.2:5432"),
                                             *ReplicaSpec::parse("r2=10.0.0.2:5433")};
  EXPECT_EQ(replica_name(replicas, "10.0.0.2:5432"), "r1");
  EXPECT_EQ(replica_name(replicas, "10.0.0.9:5432"), "10.0.0.9:5432");
  EXPECT_EQ(replica_name(replicas, "5433"), "r2") << "a Unix socket: the port alone";
  EXPECT_EQ(replica_name(replicas, "5432"), "5432") << "two have that port";
  EXPECT_EQ(replica_name(replicas, ""), "");
}

}  // namespace
}  // namespace sluice::bench
