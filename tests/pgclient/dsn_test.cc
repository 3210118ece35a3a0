#include "pgclient/dsn.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace sluice::pgclient {
namespace {

ConnectParams params(const std::string& dsn) {
  const auto parsed = parse_dsn(dsn);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) {
    ADD_FAILURE() << dsn << ": " << *problem;
    return {};
  }
  return std::get<ConnectParams>(parsed);
}

TEST(Dsn, IsAUriOrWords) {
  ConnectParams expected;
  expected.host = "db.example.com";
  expected.port = 6432;
  expected.user = "alice";
  expected.password = "a b'c";
  expected.database = "app";
  expected.sslmode = "require";
  EXPECT_EQ(params("postgresql://alice:a%20b%27c@db.example.com:6432/app?sslmode=require"), expected);
  EXPECT_EQ(params("host=db.example.com port=6432 user=alice password='a b\\'c' dbname=app sslmode=require "
                   "connect_timeout=5"),
            expected);
}

TEST(Dsn, HasDefaultsOfItsOwnAndNoneOfTheEnvironment) {
  ::setenv("PGHOST", "elsewhere", 1);
  ::setenv("PGPASSWORD", "secret", 1);
  const ConnectParams p = params("user=alice");
  EXPECT_EQ(p.host, "127.0.0.1");
  EXPECT_EQ(p.port, 5432);
  EXPECT_EQ(p.database, "alice");
  EXPECT_EQ(p.password, "");
  ::unsetenv("PGHOST");
  ::unsetenv("PGPASSWORD");
}

TEST(Dsn, SaysWhatIsWrongAndNothingSecret) {
  for (const char* dsn :
       {"", "hunter2", "postgresql://", "host=h", "host=a,b user=u password=hunter2",
        "user=u port=0 password=hunter2", "user=u port=65536", "user=u port=1,2", "user=u passfile=hunter2",
        "user=u password='hunter2", "user=u hunter2=x", "postgresql://u:hunter2@h:x/"}) {
    const auto parsed = parse_dsn(dsn);
    ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << dsn;
    EXPECT_EQ(std::get<std::string>(parsed).find("hunter2"), std::string::npos)
        << std::get<std::string>(parsed);
    EXPECT_FALSE(std::get<std::string>(parsed).empty());
  }
}

}  // namespace
}  // namespace sluice::pgclient
