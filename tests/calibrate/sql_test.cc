#include "calibrate/sql.h"

#include <gtest/gtest.h>

#include "calibrate/failure.h"

namespace sluice::calibrate {
namespace {

TEST(DatabaseUrl, IsTakenApart) {
  const auto full = parse_database_url("postgresql://us%40er:p%3Ass@db.example:6432/my%20db?sslmode=require");
  EXPECT_EQ(full.user, "us@er");
  EXPECT_EQ(full.password, "p:ss");
  EXPECT_EQ(full.host, "db.example");
  EXPECT_EQ(full.port, 6432);
  EXPECT_EQ(full.database, "my db");
  EXPECT_EQ(full.sslmode, "require");
  const auto short_one = parse_database_url("postgres://app@[::1]");
  EXPECT_EQ(short_one.host, "::1");
  EXPECT_EQ(short_one.port, 5432);
  EXPECT_EQ(short_one.database, "app");
}

TEST(DatabaseUrl, IsNeverRepeated) {
  for (const char* url :
       {"", "db", "mysql://u:secret@h/d", "postgresql://u:secret@h:port/d", "postgresql://u:secret@h:70000/d",
        "postgresql://u:secret@[::1/d", "postgresql://h/d"}) {
    try {
      parse_database_url(url);
      ADD_FAILURE() << url;
    } catch (const Failure& e) {
      EXPECT_EQ(std::string(e.what()).find("secret"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace sluice::calibrate
