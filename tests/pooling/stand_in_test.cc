#include "pooling/stand_in.h"

#include <gtest/gtest.h>

#include "tests/pooling/pooled_world.h"

namespace sluice::pooling {
namespace {

using test::Stream;
using test::World;

Bytes body_of(std::string_view sql, std::initializer_list<std::uint32_t> types) {
  Bytes body;
  ByteWriter writer(body);
  writer.cstring(sql);
  writer.u16(static_cast<std::uint16_t>(types.size()));
  for (const std::uint32_t type : types)
    writer.u32(type);
  return body;
}

std::optional<Bytes> instead(std::string_view sql, std::initializer_list<std::uint32_t> types,
                             StandInFor use) {
  return stand_in(body_of(sql, types), Backslash::Literal, use);
}

TEST(StandIn, IsAnEmptyTextWithTheStatementsParameters) {
  EXPECT_EQ(instead("select $1, $2", {23}, StandInFor::Bind), body_of("", {23, 25}));
  EXPECT_EQ(instead("select 1", {23, 20}, StandInFor::Bind), body_of("", {23, 20}));
  EXPECT_EQ(instead("select '$7', \"$8\", a$9 /* $3 */, $tag$ $4 $tag$", {}, StandInFor::Bind),
            body_of("", {}));
  EXPECT_EQ(instead("insert into t values ($1)", {23}, StandInFor::Describe), body_of("", {23}));
}

TEST(StandIn, IsNotForWhatAFailedBlockParses) {
  for (const std::string_view sql :
       {"", " -- nothing", "commit", "END", "rollback to a", "abort", "prepare transaction 'x'"})
    EXPECT_FALSE(instead(sql, {}, StandInFor::Bind)) << sql;
}

TEST(StandIn, IsNotForDescribeOfRowsOrOfTypesThatOnlyTheServerKnows) {
  EXPECT_FALSE(instead("select 1", {}, StandInFor::Describe));
  EXPECT_FALSE(instead("insert into t values (1) returning a", {}, StandInFor::Describe));
  EXPECT_FALSE(instead("insert into t values ($1)", {}, StandInFor::Describe));
  EXPECT_FALSE(instead("insert into t values ($1)", {0}, StandInFor::Describe));
}

TEST(StandIn, RefusesNonsense) {
  EXPECT_FALSE(instead("select $99999999999999", {}, StandInFor::Bind));
  EXPECT_FALSE(stand_in(as_bytes("no end"), Backslash::Literal, StandInFor::Bind));
}

// A server that lacks the statement says in a failed block what one that has it would say.
TEST(StandIn, GivesTheErrorsThatPostgresqlGivesInAFailedBlock) {
  World w;
  w.a_on(w.one, Stream().parse("s", "select 1", 1).parse("i", "insert", 0).parse("", "insert", 1).sync());
  w.a_on(w.two, Stream().query("begin").query("select fail"));
  w.a_on(w.two, Stream().bind("", "s", 0).sync().bind("", "s", 1).sync());
  w.a_on(w.two, Stream().bind("", "", 0).sync().bind("", "", 1).sync());
  w.a_on(w.two, Stream().describe('S', "i").bind("", "i").execute().sync());
  w.a_on(w.two, Stream()
                    .describe('S', "i")
                    .parse("r", "rollback")
                    .bind("", "r")
                    .execute()
                    .bind("", "i")
                    .execute()
                    .sync());
  w.a_on(w.two, Stream().bind("", "s", 1).execute().sync());
}

}  // namespace
}  // namespace sluice::pooling
