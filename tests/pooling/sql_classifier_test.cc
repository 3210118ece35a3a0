#include "pooling/sql_classifier.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

std::vector<std::string> pins(std::string_view sql, Backslash backslash = Backslash::Literal) {
  const SqlFacts facts = classify(sql, backslash);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPinReasonCount; ++i)
    if (facts.pins.contains(static_cast<PinReason>(i))) names.emplace_back(name(static_cast<PinReason>(i)));
  return names;
}

using Names = std::vector<std::string>;
using Steps = std::vector<SqlStep>;

TEST(SqlClassifier, FindsTemporaryTables) {
  for (const std::string sql : {"create temp table t (a int)",
                                "CREATE TEMPORARY TABLE t AS SELECT 1",
                                "create local temp table t()",
                                "create or replace temp view v as select 1",
                                "create temp sequence s",
                                "create table pg_temp.t (a int)",
                                "create table \"pg_temp\".t (a int)",
                                "select 1 as a into temp t",
                                "select 1 into temporary table t",
                                "SELECT 1 INTO pg_temp.t",
                                "with x as (select 1) select * into temp t from x",
                                "/* c */ create /* d */ temp -- e\n table t()",
                                "select 1; create temp table t()",
                                "explain analyze create temp table t as select 1",
                                "explain (analyze, verbose) create temp table t as select 1",
                                "create function pg_temp.f() returns int as ''",
                                "create view pg_temp.v as select 1",
                                "create sequence pg_temp.s",
                                "set search_path to pg_temp, public",
                                "SET SESSION search_path = 'PG_TEMP'",
                                "set local search_path to a, \"pg_temp\"",
                                "set schema 'pg_temp'",
                                "set local schema 'pg_temp'",
                                "select set_config('search_path', 'pg_temp, public', false)",
                                "select set_config('Search_Path', 'a,PG_TEMP', true)"})
    EXPECT_EQ(pins(sql), Names{"temporary_table"}) << sql;
  for (const std::string sql :
       {"create table temp (a int)", "select 'create temp table t()'", "insert into temp_orders values (1)",
        "insert into temp values (1)", "select $$; create temp table t()$$",
        "select $a$ $$; create temp table t() $a$", "select 1 into t", "select \"; create temp table t\"",
        "/* ; create temp table t() */ select 1", "/* /* */ ; create temp table t() */ select 1",
        "-- ; create temp table t()\nselect 1", "select E'\\'; create temp table t() --'",
        "set search_path to a; select 'pg_temp'", "select set_config('x.y', 'pg_temp', false)",
        "alter function f set search_path = a, pg_temp", "set my.path to 'pg_temp'"})
    EXPECT_EQ(pins(sql), Names{}) << sql;
}

TEST(SqlClassifier, ReadsBackslashesAsTheServerDoes) {
  const std::string sql = R"(select '\'; create temp table t(); --')";
  EXPECT_EQ(pins(sql, Backslash::Literal), Names{"temporary_table"});
  EXPECT_EQ(pins(sql, Backslash::Escape), Names{});
  const std::string other = R"(select '\\'; create temp table t(); --')";
  EXPECT_EQ(pins(other, Backslash::Escape), Names{"temporary_table"});
}

TEST(SqlClassifier, LetsATemporaryTableBeThatGoesWithItsTransaction) {
  for (const std::string sql : {"create temp table t (a int) on commit drop",
                                "CREATE LOCAL TEMPORARY TABLE t ON COMMIT DROP AS SELECT 1"})
    EXPECT_EQ(pins(sql), Names{}) << sql;
  for (const std::string sql : {"create temp table t (a int) on commit delete rows",
                                "create temp table t (a text default 'on commit drop')",
                                "create temp table t (a int) on commit drop; create temp table u (a int)",
                                "create temp table t (a int); drop table x"})
    EXPECT_EQ(pins(sql), Names{"temporary_table"}) << sql;
}

TEST(SqlClassifier, FindsSessionLocksAndNoOthers) {
  for (const std::string sql :
       {"select pg_advisory_lock(1)", "SELECT pg_catalog.PG_TRY_ADVISORY_LOCK (1, 2)",
        "select \"pg_advisory_lock_shared\"(1)", "select 1 where (select pg_try_advisory_lock_shared(1))",
        "with l as materialized (select pg_advisory_lock(5)) select 1 from l",
        "select pg_advisory_lock /* x */ (1)", "insert into t select pg_advisory_lock(1)"})
    EXPECT_EQ(pins(sql), Names{"advisory_lock"}) << sql;
  for (const std::string sql :
       {"select pg_advisory_xact_lock(1)", "select pg_try_advisory_xact_lock_shared(1)",
        "select pg_advisory_unlock_all()", "select 'pg_advisory_lock(1)'", "select pg_advisory_lock from t"})
    EXPECT_EQ(pins(sql), Names{}) << sql;
}

TEST(SqlClassifier, FindsTheOtherReasons) {
  EXPECT_EQ(pins("declare c cursor with hold for select 1"), Names{"hold_cursor"});
  EXPECT_EQ(pins("DECLARE c INSENSITIVE SCROLL CURSOR WITH HOLD FOR SELECT 1"), Names{"hold_cursor"});
  EXPECT_EQ(pins("declare c cursor without hold for select 1"), Names{});
  EXPECT_EQ(pins("prepare p as select 1"), Names{"prepare"});
  EXPECT_EQ(pins("prepare transaction 'x'"), Names{});
  EXPECT_EQ(pins("load 'auto_explain'"), Names{"load"});
}

TEST(SqlClassifier, TellsWhatIsSet) {
  const std::vector<std::pair<std::string, std::string>> sets = {
      {"set search_path to a, b", "search_path"},
      {"SET SESSION \"Work_Mem\" = '8MB'", "work_mem"},
      {"set my.own_thing = 1", "my.own_thing"},
      {"set time zone 'UTC'", "timezone"},
      {"set session time zone local", "timezone"},
      {"set names 'utf8'", "client_encoding"},
      {"set schema 'x'", "search_path"},
      {"set role x", "role"},
      {"set session role none", "role"},
      {"set session authorization default", "session_authorization"},
      {"set xml option document", "xmloption"},
      {"select set_config('Search_Path', 'a', false)", "search_path"},
      {"select pg_catalog.set_config('x.y', (select 'v,)'), f(true, 1))", "x.y"},
      {"select set_config('x.y'::text, 'v', false)", "x.y"},
      {"select set_config(E'x.y', $1, $2)", "x.y"},
      {"select set_config($$x.y$$, 'true', not true)", "x.y"},
      {"select set_config('x.y', 'v', is_local => false)", "x.y"},
      {"select set_config('x.y', is_local => false, new_value => 'true')", "x.y"},
      {"set session = 1", "session"},
      {"set transaction = 1", "transaction"}};
  for (const auto& [sql, name] : sets)
    EXPECT_EQ(classify(sql).steps, (Steps{{SqlAction::Set, name}})) << sql;
  for (const std::string sql :
       {"set local work_mem = '8MB'", "set transaction isolation level serializable",
        "set constraints all deferred", "select set_config('x.y', 'v', true)",
        "select set_config('x.y', 'v', 'true')", "select set_config('x.y', 'v', is_local => true)",
        "update t set a = 1", "set transaction snapshot '1'", "alter role x set work_mem = '1MB'"})
    EXPECT_EQ(classify(sql).steps, Steps{}) << sql;
  EXPECT_EQ(
      classify("set session characteristics as transaction isolation level serializable, read only").steps,
      (Steps{{SqlAction::Set, "default_transaction_isolation"},
             {SqlAction::Set, "default_transaction_read_only"}}));
  EXPECT_EQ(classify("reset all; reset time zone; reset x").steps,
            (Steps{{SqlAction::ResetAll, ""}, {SqlAction::Reset, "timezone"}, {SqlAction::Reset, "x"}}));
}

// Was: a DO block was not looked into, and the next client found what it had left.
TEST(SqlClassifier, LooksIntoDoBlocks) {
  const std::vector<std::pair<std::string, std::string>> reasons = {
      {"do $$ begin create temp table t (a int); end $$", "temporary_table"},
      {"DO LANGUAGE plpgsql 'begin if true then create temp table t as select 1; end if; end'",
       "temporary_table"},
      {"do $$ begin perform 1 from t; create table pg_temp.t (a int); end $$", "temporary_table"},
      {"do $$ begin execute 'create temp table t (a int)'; end $$", "temporary_table"},
      {"do $$ begin set search_path to pg_temp; end $$", "temporary_table"},
      {"do $$ begin perform pg_advisory_lock(1); end $$", "advisory_lock"},
      {"do $$ begin execute 'prepare p as select 1'; end $$", "prepare"},
      {"do $$ begin execute $x$declare c cursor with hold for select 1$x$; end $$", "hold_cursor"},
      {"do $$ begin listen a; end $$", "listen"},
      {"do $$ begin load 'x'; end $$", "load"},
      {"do $$ begin perform set_config(n, v, false); end $$", "set"},
      {"do $$ begin execute 'set ' || n || ' to 1'; end $$", "set"},
      {"do $$ begin execute 'reset ' || n; end $$", "set"},
      {"do $$ begin execute format('set %I to %L', n, v); end $$", "set"},
      {"do $$ begin execute 'set app.' || n || ' to 1'; end $$", "set"},
      {"do $$ begin execute 'reset app.' || n; end $$", "set"},
      {R"(do E'begin set role\x20team; end')", "set"},
      {R"(do $$ begin execute E'\x73et role team'; end $$)", "set"},
      {R"(do $$ begin execute U&'\0073et role team'; end $$)", "set"},
      {R"(do $$ begin execute E'select \'\'; set role team'; end $$)", "set"},
      {R"(do $$ begin execute E'create\ntemp table t (a int)'; end $$)", "temporary_table"},
      {"do $$ begin execute 'do ''begin create temp table t (a int); end'''; end $$", "temporary_table"}};
  for (const auto& [sql, reason] : reasons)
    EXPECT_EQ(pins(sql), Names{reason}) << sql;
  const std::vector<std::pair<std::string, std::string>> sets = {
      {"do $$ begin set role x; end $$", "role"},
      {"do $$ begin /* c */ set work_mem = '1MB'; end $$", "work_mem"},
      {"do $$ begin if true then perform 1; else set work_mem = '1MB'; end if; end $$", "work_mem"},
      {"do $$ begin execute 'set session authorization x'; end $$", "session_authorization"},
      {R"(do $$ begin execute E'\nset role team'; end $$)", "role"},
      {R"(do $$ begin execute E'-- a comment\nset\trole team'; end $$)", "role"},
      {"do $$ begin execute format('set search_path to %I', s); end $$", "search_path"},
      {"do $$ begin perform set_config('x.y', 'v', false); end $$", "x.y"}};
  for (const auto& [sql, name] : sets) {
    EXPECT_EQ(classify(sql).steps, (Steps{{SqlAction::Set, name}})) << sql;
    EXPECT_EQ(pins(sql), Names{}) << sql;
  }
  EXPECT_EQ(classify("do $$ begin reset role; execute 'reset all'; end $$").steps,
            (Steps{{SqlAction::ResetAll, ""}, {SqlAction::Reset, "role"}}));
  for (const std::string sql :
       {"do $$ begin update t set a = 1; alter table t alter a set not null; end $$",
        "do $$ begin create temp table t (a int) on commit drop; end $$",
        "do $$ begin set local work_mem = '1MB'; perform set_config('x.y', 'v', true); end $$",
        "do $$ begin insert into t values (1) on conflict do update set a = 2; end $$",
        "do $$ begin -- set role x\n perform pg_advisory_xact_lock(1); end $$",
        "do $$ begin raise notice 'load it'; raise 'set role x'; end $$",
        R"(do $$ begin perform regexp_replace(a, '\s+', E'\n') from t; end $$)",
        "do $$ begin execute 'deallocate all'; commit; end $$", "do $$ begin create role temp; end $$"})
    EXPECT_TRUE(classify(sql).ordinary()) << sql;
  std::string many = "do $$ begin ";
  for (std::size_t i = 0; i <= SqlFacts::kStepsMax; ++i)
    many += "set x.s" + std::to_string(i) + " = 1; ";
  EXPECT_EQ(pins(many + "end $$"), Names{"set"});
}

// Was: nothing, so that the next client found it.
TEST(SqlClassifier, PinsWhereTheTextDoesNotTellWhatIsSet) {
  for (const std::string sql :
       {"select set_config($1, $2, false)", "select set_config($1, $2, $3)",
        "select set_config('x' || '.y', 'v', false)", "select set_config(format('%s', 'x.y'), 'v', false)",
        "select set_config(('x.y'), 'v', false)", "select set_config('x'\n'.y', 'v', false)",
        "select set_config(E'\\x72ole', 'v', false)",
        "select set_config(U&'!0072ole' uescape '!', 'v', false)",
        "select set_config(setting_name => 'x.y', new_value => 'v', is_local => false)",
        "select set_config(setting_name := 'x.y', new_value := 'v', is_local := false)",
        "select set_config(is_local => false, setting_name => 'x.y', new_value => 'true')",
        "select set_config('x.y', set_config('role', 'team', false), true)",
        "select pg_catalog.\"set_config\"(name, 'v', false) from t",
        "update t set a = set_config(b, c, false)"}) {
    EXPECT_EQ(pins(sql), Names{"set"}) << sql;
    EXPECT_EQ(classify(sql).steps, Steps{}) << sql;
  }
  for (const std::string sql :
       {"select set_config($1, $2, true)", "select set_config('x' || $1, $2, 'true')",
        "select set_config(f('a', (1)), $1, is_local => true)", "select set_config from t"})
    EXPECT_TRUE(classify(sql).ordinary()) << sql;
}

TEST(SqlClassifier, TellsWhatActsOnNamesAndChannels) {
  EXPECT_EQ(classify("discard all").steps, (Steps{{SqlAction::DiscardAll, ""}}));
  EXPECT_EQ(classify("discard plans").steps, Steps{});
  EXPECT_EQ(classify("DEALLOCATE ALL;").steps, (Steps{{SqlAction::DeallocateAll, ""}}));
  EXPECT_EQ(classify("deallocate prepare all").steps, (Steps{{SqlAction::DeallocateAll, ""}}));
  EXPECT_EQ(classify("deallocate prepare").steps, (Steps{{SqlAction::Deallocate, "prepare"}}));
  EXPECT_EQ(classify("deallocate \"A \"\"b\"").steps, (Steps{{SqlAction::Deallocate, "A \"b"}}));
  EXPECT_EQ(classify("deallocate \"all\"").steps, (Steps{{SqlAction::Deallocate, "all"}}));
  EXPECT_EQ(classify("listen Chan").steps, (Steps{{SqlAction::Listen, "chan"}}));
  EXPECT_EQ(classify("unlisten *").steps, (Steps{{SqlAction::UnlistenAll, ""}}));
  EXPECT_EQ(classify("unlisten \"X\"").steps, (Steps{{SqlAction::Unlisten, "X"}}));
  EXPECT_EQ(classify("unlisten " + std::string(70, 'a')).steps[0].name.size(), 63u);
}

// Names that a server might refuse go to the session's own server: on a connection for all they would harm
// others.
TEST(SqlClassifier, TakesPlainNamesAloneToListenTo) {
  for (const std::string name : {"a", "\"A b\"", "\"a\"\"b\""}) {
    EXPECT_EQ(classify("listen " + name).steps.size(), 1u) << name;
    EXPECT_EQ(pins("listen " + name), Names{}) << name;
  }
  const std::string long_name(64, 'a');
  for (const std::string& name : {std::string(), std::string("\"\""), std::string("a b"), std::string("'x'"),
                                  long_name, std::string("\"\xff\""), std::string("caf\xc3\xa9"),
                                  std::string("U&\"\\0061\""), std::string("\"a")}) {
    EXPECT_TRUE(classify("listen " + name).steps.empty()) << name;
    EXPECT_EQ(pins("listen " + name), Names{"listen"}) << name;
  }
}

TEST(SqlClassifier, TellsTheTarget) {
  EXPECT_EQ(classify("begin read only").target, Target::ReadOnly);
  EXPECT_EQ(classify("START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").target,
            Target::ReadOnly);
  EXPECT_EQ(classify("begin read write").target, Target::ReadWrite);
  EXPECT_EQ(classify("begin; set transaction read only").target, Target::Unsaid);
  EXPECT_EQ(classify("begin isolation level read committed").target, Target::Unsaid);
  EXPECT_EQ(classify("/* sluice: target=replica */ select 1").target, Target::Replica);
  EXPECT_EQ(classify("select 1 /*sluice: target = primary*/").target, Target::Primary);
  EXPECT_EQ(classify("-- sluice: target=replica\nselect 1").target, Target::Replica);
  EXPECT_EQ(classify("/* sluice: target=primary */ begin read only").target, Target::Primary);
  EXPECT_EQ(classify("select '/* sluice: target=replica */'").target, Target::Unsaid);
  EXPECT_EQ(classify("/* sluice: target=elsewhere */ select 1").target, Target::Unsaid);
  for (const std::string_view sql :
       {"begin read only", "/* sluice: target=replica */ select 1", "select 1 /*sluice: target = primary*/",
        "select 1", "  start transaction read only", "show x"})
    EXPECT_EQ(target_of(sql), classify(sql).target) << sql;
}

TEST(SqlClassifier, CountsStatements) {
  EXPECT_EQ(classify("").statement_count, 0u);
  EXPECT_EQ(classify(" ; ;; -- x").statement_count, 0u);
  EXPECT_EQ(classify("select 1;").statement_count, 1u);
  EXPECT_EQ(classify("select ';'; set x = 1; ").statement_count, 2u);
}

TEST(SqlClassifier, IsQuickAboutOrdinaryTexts) {
  for (const std::string sql :
       {"select abalance from pgbench_accounts where aid = $1;", "SELECT 1", "BEGIN;", "commit", "END;",
        "insert into t (a, b) values ($1, $2) returning id",
        "update pgbench_tellers set tbalance = tbalance + 1 where tid = 2",
        "select * from a -- plain comment\n where b = 1",
        "SELECT 1 /*route='%2Ffeed',traceparent='00-a-b-01'*/", "with x as (select 1) select * from x",
        "select to_char(now(), 'x'), photo_id from into_the_wild"})
    EXPECT_TRUE(surely_ordinary(sql)) << sql;
  for (const std::string sql : {"set x = 1", "select 1; set x = 1", "create table t()", "", "begin read only",
                                "select U&\"pg\\005fadvisory_lock\"(1)", "beginx; set a = 1", "call p()"})
    EXPECT_FALSE(surely_ordinary(sql)) << sql;
}

TEST(SqlClassifier, QuickAnswerLooksEverywhere) {
  for (std::size_t before = 0; before < 40; ++before)
    for (std::size_t behind = 0; behind < 20; ++behind)
      for (const std::string what :
           {"; set x = 1", ";;", "pg_advisory_lock(1)", "PG_TRY_advisory_lock(1)", "set_config('a'",
            "pg_temp.t", "/*sluice: target=primary*/", "-- s", "u&\"x\"", " into t", " INTO t"}) {
        const std::string sql = "select " + std::string(before, 'x') + what + std::string(behind, ' ') + "y";
        EXPECT_FALSE(surely_ordinary(sql)) << sql;
        const std::string plain =
            "select " + std::string(before, 'x') + "_a/ *- -&to in to" + std::string(behind, ' ');
        EXPECT_TRUE(surely_ordinary(plain) && surely_ordinary(plain + ";") && surely_ordinary(plain + "; "))
            << plain;
      }
}

TEST(SqlClassifier, QuickAnswerNeverContradictsTheLexer) {
  // Every text of the other tests' kind, cut and joined: what is surely ordinary has nothing for the lexer
  // either.
  const std::vector<std::string> parts = {"select ",
                                          "insert into ",
                                          "with ",
                                          "into ",
                                          "temp ",
                                          "pg_temp.",
                                          "; ",
                                          "set_config(",
                                          "'x', ",
                                          "false)",
                                          "pg_advisory_lock(1)",
                                          "/* sluice: target=replica */ ",
                                          "begin ",
                                          "read only ",
                                          "update ",
                                          "\"",
                                          "-- ",
                                          "\n",
                                          "discard all ",
                                          "set x=1 "};
  std::uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string sql;
    for (int i = 0; i < 6; ++i) {
      state = state * 1664525u + 1013904223u;
      sql += parts[(state >> 16) % parts.size()];
    }
    if (!surely_ordinary(sql)) continue;
    // The lexer alone: an empty statement in front keeps the quick answer out.
    const SqlFacts facts = classify("; " + sql);
    EXPECT_TRUE(facts.ordinary() && facts.target == Target::Unsaid && facts.statement_count <= 1) << sql;
  }
}

TEST(SqlClassifier, EndsOnAnyPrefix) {
  const std::string sql =
      "/* a /* b */ c */ select E'x\\'y', $t$ z $t$, U&\"q\", $1, 1.5e3 from \"a\"\"b\"; set x.y = 'it''s'; "
      "-- end";
  for (std::size_t bytes = 0; bytes <= sql.size(); ++bytes)
    EXPECT_LE(classify(std::string_view(sql).substr(0, bytes)).statement_count, 3u);
}

TEST(SqlClassifier, KeepsABoundedNumberOfSteps) {
  std::string sql;
  for (int i = 0; i < 1000; ++i)
    sql += "set a" + std::to_string(i) + " = 1;";
  const SqlFacts facts = classify(sql);
  EXPECT_EQ(facts.steps.size(), SqlFacts::kStepsMax);
  EXPECT_TRUE(facts.truncated);
  EXPECT_EQ(facts.statement_count, 1000u);
}

TEST(SqlClassifier, KnowsWhatMayHoldMoreThanWasLookedAt) {
  const auto large = [](std::uint32_t statements, bool block) {
    SqlFacts facts;
    facts.truncated = true;
    facts.statement_count = statements;
    facts.has_block = block;
    return facts.large();
  };
  EXPECT_TRUE(large(0, false)) << "a comment, and who knows what behind it";
  EXPECT_FALSE(large(1, false));
  EXPECT_TRUE(large(1, true));
  EXPECT_TRUE(large(2, false));
}

}  // namespace
}  // namespace sluice::pooling
