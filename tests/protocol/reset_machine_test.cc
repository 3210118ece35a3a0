#include "protocol/reset_machine.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"

namespace sluice::protocol {
namespace {

using ResetWant = ResetMachine::Want;
using Kind = ResetMachine::Failure::Kind;

ResetWant feed(ResetMachine& machine, ByteView bytes) {
  const auto room = machine.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  machine.commit(bytes.size());
  return machine.step();
}

Bytes reply(std::string_view tag, char status) {
  Bytes out;
  append_command_complete(out, tag);
  append_ready_for_query(out, status);
  return out;
}

Bytes query(std::string_view sql) {
  Bytes out;
  append_query(out, sql);
  return out;
}

TEST(ResetMachine, SendsTheResetQueryAloneWhenIdle) {
  ResetMachine machine('I', "DISCARD ALL");
  EXPECT_EQ(machine.take_output(), query("DISCARD ALL"));
  EXPECT_EQ(machine.step(), ResetWant::Read);
  EXPECT_EQ(feed(machine, reply("DISCARD ALL", 'I')), ResetWant::Done);
}

TEST(ResetMachine, RollsBackFirstAndCollectsSettingsWhereverTheBytesAreCut) {
  for (const char status : {'T', 'E'}) {
    Bytes bytes;
    append_parameter_status(bytes, "TimeZone", "UTC");
    append_notice_response(bytes, {"NOTICE", "00000", "n", "", ""});
    append(bytes, reply("DISCARD ALL", 'I'));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      ResetMachine machine(status, "DISCARD ALL");
      EXPECT_EQ(machine.take_output(), query("ROLLBACK"));
      EXPECT_EQ(feed(machine, reply("ROLLBACK", 'I')), ResetWant::Read);
      EXPECT_EQ(machine.take_output(), query("DISCARD ALL"));
      EXPECT_EQ(feed(machine, ByteView(bytes).first(cut)), ResetWant::Read);
      EXPECT_EQ(feed(machine, ByteView(bytes).subspan(cut)), ResetWant::Done);
      ASSERT_EQ(machine.parameters().size(), 1u);
      EXPECT_EQ(machine.parameters()[0].first, "TimeZone");
    }
  }
}

TEST(ResetMachine, WithoutAQueryOnlyRollsBack) {
  ResetMachine idle('I', "");
  EXPECT_TRUE(idle.take_output().empty());
  EXPECT_EQ(idle.step(), ResetWant::Done);
  ResetMachine block('T', "");
  EXPECT_EQ(feed(block, reply("ROLLBACK", 'I')), ResetWant::Done);
}

TEST(ResetMachine, NeverCallsAFailingResetDone) {  // B65
  Bytes error;
  append_error_response(error,
                        {"ERROR", "25001", "DISCARD ALL cannot run inside a transaction block", "", ""});
  append_ready_for_query(error, 'I');
  ResetMachine failing('I', "DISCARD ALL");
  EXPECT_EQ(feed(failing, error), ResetWant::Failed);
  EXPECT_EQ(failing.failure()->kind, Kind::ServerError);
  EXPECT_EQ(failing.failure()->error.sqlstate, "25001");
  EXPECT_EQ(feed(failing, reply("DISCARD ALL", 'I')), ResetWant::Failed);

  ResetMachine rollback('T', "DISCARD ALL");
  EXPECT_EQ(feed(rollback, error), ResetWant::Failed);
  EXPECT_EQ(rollback.take_output(), query("ROLLBACK"));

  ResetMachine block('I', "BEGIN");
  EXPECT_EQ(feed(block, reply("BEGIN", 'T')), ResetWant::Failed);
  EXPECT_EQ(block.failure()->kind, Kind::NotIdle);
}

// Was: a session that ended behind a COPY which failed cost its server connection.
TEST(ResetMachine, PassesOverTheAnswersToSyncsInDoubt) {  // B49
  for (const char status : {'I', 'E'})
    for (const std::uint32_t answered : {0u, 1u, 2u}) {
      Bytes bytes;
      for (std::uint32_t i = 0; i < answered; ++i)
        append_ready_for_query(bytes, status);
      const std::string first = status == 'I' ? "DISCARD ALL" : "ROLLBACK";
      append(bytes, reply(first, 'I'));
      for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        ResetMachine machine(status, "DISCARD ALL", 2);
        EXPECT_EQ(machine.take_output(), query(first));
        EXPECT_EQ(feed(machine, ByteView(bytes).first(cut)), ResetWant::Read);
        const ResetWant want = feed(machine, ByteView(bytes).subspan(cut));
        EXPECT_EQ(want, status == 'I' ? ResetWant::Done : ResetWant::Read);
        if (status == 'E') {
          EXPECT_EQ(feed(machine, reply("DISCARD ALL", 'I')), ResetWant::Done);
        }
      }
    }
  Bytes too_many;
  for (int i = 0; i < 3; ++i)
    append_ready_for_query(too_many, 'I');
  ResetMachine machine('I', "DISCARD ALL", 2);
  EXPECT_EQ(feed(machine, too_many), ResetWant::Failed);

  ResetMachine nothing_to_run('I', "", 1);
  EXPECT_EQ(nothing_to_run.take_output(), query("")) << "what comes later would be another session's";
  Bytes late;
  append_ready_for_query(late, 'I');
  append_message(late, 'I', {});
  append_ready_for_query(late, 'I');
  EXPECT_EQ(feed(nothing_to_run, late), ResetWant::Done);
}

TEST(ResetMachine, RejectsRepliesThatAreNotItsOwn) {
  const auto kind_of = [](const Bytes& bytes) {
    ResetMachine machine('I', "DISCARD ALL");
    EXPECT_EQ(feed(machine, bytes), ResetWant::Failed);
    return machine.failure()->kind;
  };
  Bytes stray;  // of a Sync in doubt
  append_ready_for_query(stray, 'I');
  EXPECT_EQ(kind_of(stray), Kind::NoCommandComplete);
  Bytes copy;
  append_message(copy, 'G', as_bytes("x"));
  EXPECT_EQ(kind_of(copy), Kind::UnexpectedMessage);
  Bytes trailing = reply("DISCARD ALL", 'I');
  append_ready_for_query(trailing, 'I');
  EXPECT_EQ(kind_of(trailing), Kind::TrailingBytes);
  ResetMachine early('T', "DISCARD ALL");
  Bytes both = reply("ROLLBACK", 'I');
  append(both, reply("DISCARD ALL", 'I'));
  EXPECT_EQ(feed(early, both), ResetWant::Failed);
  EXPECT_EQ(early.failure()->kind, Kind::TrailingBytes);
  Bytes bad_status;
  append_message(bad_status, 'S', as_bytes("no end"));
  EXPECT_EQ(kind_of(bad_status), Kind::Malformed);
  EXPECT_EQ(kind_of(Bytes(5)), Kind::Malformed);
}

}  // namespace
}  // namespace sluice::protocol
