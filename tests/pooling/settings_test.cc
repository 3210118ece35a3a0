#include <gtest/gtest.h>

#include "pooling/settings_machine.h"
#include "protocol/backend_messages.h"

namespace sluice::pooling {
namespace {

Bytes answer() {
  Bytes out;
  protocol::append_row_description(out, std::vector<protocol::TextColumn>{{"set_config"}, {"set_config"}});
  protocol::append_data_row(out, std::vector<std::optional<std::string>>{"UTC", std::nullopt});
  protocol::append_command_complete(out, "SELECT 1");
  protocol::append_parameter_status(out, "TimeZone", "UTC");
  protocol::append_ready_for_query(out, 'I');
  return out;
}

SettingsMachine::Want run(SettingsMachine& machine, ByteView bytes) {
  const auto room = machine.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  machine.commit(bytes.size());
  return machine.step();
}

TEST(SettingsMachine, KeepsRowAndReportsAtEverySplit) {
  const Bytes bytes = answer();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    SettingsMachine machine("SELECT 1");
    EXPECT_EQ(run(machine, ByteView(bytes).first(cut)), SettingsMachine::Want::Read);
    EXPECT_EQ(run(machine, ByteView(bytes).subspan(cut)), SettingsMachine::Want::Done);
    EXPECT_EQ(machine.values(), (std::vector<std::string>{"UTC", ""}));
    EXPECT_EQ(machine.reports(), (std::vector<SettingsMachine::Report>{{"TimeZone", "UTC"}}));
  }
}

TEST(SettingsMachine, FailsWithTheServersWords) {
  SettingsMachine machine("SELECT 1");
  Bytes bytes;
  protocol::append_error_response(bytes, {"ERROR", "22023", "invalid value", "", ""});
  EXPECT_EQ(run(machine, bytes), SettingsMachine::Want::Failed);
  ASSERT_TRUE(machine.error().has_value());
  EXPECT_EQ(machine.error()->sqlstate, "22023");
}

TEST(SettingsMachine, FailsWhenSomethingFollowsOrNothingCame) {
  SettingsMachine trailing("SELECT 1");
  Bytes bytes = answer();
  bytes.push_back(std::byte{'N'});
  EXPECT_EQ(run(trailing, bytes), SettingsMachine::Want::Failed);
  SettingsMachine empty("SELECT 1");
  Bytes ready;
  protocol::append_ready_for_query(ready, 'I');
  EXPECT_EQ(run(empty, ready), SettingsMachine::Want::Failed);
}

}  // namespace
}  // namespace sluice::pooling
