#include "admin/views.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "admin/http_routes.h"
#include "admin/text.h"
#include "tests/admin/console_client.h"

namespace sluice::admin::testing {
namespace {

std::string column_names(std::string_view view, std::size_t count = 100) {
  std::string out;
  for (const Column& c : find_view(view)->columns) {
    if (count-- == 0) break;
    out.append(out.empty() ? "" : ", ").append(c.name);
  }
  return out;
}

TEST(Views, EveryOneIsShownByTheConsole) {
  ConsoleClient client;
  for (const View& view : all_views()) {
    const auto answers = client.ask("SHOW " + std::string(view.name));
    ASSERT_GE(answers.size(), 3U) << view.name;
    ASSERT_EQ(answers[0].type, 'T') << view.name;
    EXPECT_EQ(answers.back().type, 'Z') << view.name;
    for (std::size_t i = 1; i + 2 < answers.size(); ++i)
      EXPECT_EQ(answers[i].values().size(), view.columns.size()) << view.name;
  }
}

TEST(Views, GiveInt8WhereTheColumnSaysSo) {
  FakeRouterView router;
  for (const View& view : all_views()) {
    for (const Row& row : view.rows(router.snapshot, {router.now(), router.version()})) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool number = std::holds_alternative<std::int64_t>(row[i]);
        if (std::holds_alternative<std::monostate>(row[i])) continue;
        EXPECT_EQ(number, view.columns[i].type == ColumnType::Int8)
            << view.name << "." << view.columns[i].name;
      }
    }
  }
}

TEST(Views, HaveTheColumnsOfPgBouncerInItsOrder) {
  EXPECT_EQ(
      column_names("POOLS"),
      "database, user, cl_active, cl_waiting, cl_active_cancel_req, cl_waiting_cancel_req, sv_active, "
      "sv_active_cancel, sv_being_canceled, sv_idle, sv_used, sv_tested, sv_login, maxwait, maxwait_us, "
      "pool_mode, load_balance_hosts");
  for (const auto* view : {"CLIENTS", "SERVERS", "SOCKETS", "ACTIVE_SOCKETS"})
    EXPECT_EQ(column_names(view, 21),
              "type, user, database, replication, state, addr, port, local_addr, local_port, connect_time, "
              "request_time, wait, wait_us, close_needed, ptr, link, remote_pid, tls, application_name, "
              "prepared_statements, id");
  EXPECT_EQ(
      column_names("DATABASES", 17),
      "name, host, port, database, force_user, pool_size, min_pool_size, reserve_pool_size, server_lifetime, "
      "pool_mode, load_balance_hosts, max_connections, current_connections, max_client_connections, "
      "current_client_connections, paused, disabled");
  EXPECT_EQ(column_names("USERS"),
            "name, pool_size, reserve_pool_size, pool_mode, max_user_connections, current_connections, "
            "max_user_client_connections, current_client_connections");
  EXPECT_TRUE(column_names("SOCKETS", 28)
                  .ends_with("recv_pos, pkt_pos, pkt_remain, send_pos, send_remain, pkt_avail, send_avail"));
  EXPECT_EQ(column_names("FDS", 13),
            "fd, task, user, database, addr, port, cancel, link, client_encoding, std_strings, datestyle, "
            "timezone, password");
  EXPECT_EQ(column_names("MEM"), "name, size, used, free, memtotal");
  EXPECT_EQ(column_names("DNS_HOSTS"), "hostname, ttl, addrs");
  EXPECT_EQ(column_names("DNS_ZONES"), "zonename, serial, count");
  EXPECT_EQ(column_names("PEERS"), "peer_id, host, port, pool_size");
  EXPECT_EQ(column_names("PEER_POOLS"),
            "peer_id, cl_active_cancel_req, cl_waiting_cancel_req, sv_active_cancel, sv_login");
  EXPECT_EQ(column_names("CONFIG"), "key, value, default, changeable");
  EXPECT_EQ(column_names("LISTS"), "list, items");
  EXPECT_EQ(column_names("STATE"), "key, value");
  EXPECT_EQ(column_names("VERSION"), "version");
  EXPECT_EQ(column_names("TOTALS"), "name, value");
  for (const auto* view : {"STATS_TOTALS", "STATS_AVERAGES"})
    EXPECT_EQ(
        column_names(view),
        "database, server_assignment_count, xact_count, query_count, bytes_received, bytes_sent, xact_time, "
        "query_time, wait_time, client_parse_count, server_parse_count, bind_count, client_login_count");
  EXPECT_EQ(column_names("STATS"),
            "database, total_server_assignment_count, total_xact_count, total_query_count, total_received, "
            "total_sent, "
            "total_xact_time, total_query_time, total_wait_time, total_client_parse_count, "
            "total_server_parse_count, "
            "total_bind_count, total_client_login_count, avg_server_assignment_count, avg_xact_count, "
            "avg_query_count, "
            "avg_recv, avg_sent, avg_xact_time, avg_query_time, avg_wait_time, avg_client_parse_count, "
            "avg_server_parse_count, avg_bind_count, avg_client_login_count, total_requests");
}

TEST(Views, ListWhatPgBouncerListsInItsOrder) {
  ConsoleClient client;
  std::string names;
  for (const Answer& a : client.ask("SHOW LISTS"))
    if (a.type == 'D') names += a.values()[0] + ' ';
  EXPECT_TRUE(
      names.starts_with("databases users peers pools peer_pools free_clients used_clients login_clients "
                        "free_servers used_servers dns_names dns_zones dns_queries dns_pending "));
}

// Was: always empty.
TEST(Views, TellWhichNamesAreLookedUp) {
  ConsoleClient client;
  EXPECT_EQ(types(client.ask("SHOW DNS_HOSTS")), "TCZ");
  client.router.snapshot.names = {{"pods.db.svc", 7, "10.0.0.1,10.0.0.2"}};
  const auto answers = client.ask("SHOW DNS_HOSTS");
  ASSERT_EQ(types(answers), "TDCZ");
  EXPECT_EQ(answers[1].values(), (std::vector<std::string>{"pods.db.svc", "7", "10.0.0.1,10.0.0.2"}));
}

TEST(Views, ShowOnlyBusySocketsAsActive) {
  ConsoleClient client;
  EXPECT_EQ(types(client.ask("SHOW SOCKETS")), "TDDCZ");
  EXPECT_EQ(types(client.ask("SHOW ACTIVE_SOCKETS")), "TCZ");
  client.router.snapshot.servers[0].busy = true;
  const auto answers = client.ask("SHOW ACTIVE_SOCKETS");
  ASSERT_EQ(types(answers), "TDCZ");
  EXPECT_EQ(answers[1].values()[0], "S");
  EXPECT_EQ(answers[1].values()[4], "sv_active");
}

TEST(Views, NeverShowSecretsWithDescriptors) {
  ConsoleClient client;
  client.router.snapshot.clients[0].fd = 17;
  const auto row = client.ask("SHOW FDS")[1].values();
  EXPECT_EQ(row[0], "17");
  EXPECT_EQ(row[1], "client");
  for (std::size_t i = 6; i < row.size(); ++i)
    EXPECT_EQ(row[i], "NULL") << i;
}

TEST(Views, TellWhatIsPausedAndDisabled) {
  ConsoleClient client;
  client.router.snapshot.databases[0].paused = true;
  auto row = client.ask("SHOW DATABASES")[1].values();
  EXPECT_EQ(row[15], "1");
  EXPECT_EQ(row[16], "0");
  client.router.snapshot.state.paused = true;
  const auto answers = client.ask("SHOW STATE");
  EXPECT_EQ(answers[1].values(), (std::vector<std::string>{"active", "no"}));
  EXPECT_EQ(answers[2].values(), (std::vector<std::string>{"paused", "yes"}));
}

TEST(Views, SplitWaitsIntoSecondsAndMicroseconds) {
  ConsoleClient client;
  const auto row = client.ask("SHOW POOLS")[1].values();
  EXPECT_EQ(row[13], "1");
  EXPECT_EQ(row[14], "500000");
}

TEST(Views, LinkClientsAndServersByPtr) {
  ConsoleClient client;
  const auto one = client.ask("SHOW CLIENTS")[1].values();
  const auto other = client.ask("SHOW SERVERS")[1].values();
  EXPECT_EQ(one[15], other[14]);
  EXPECT_EQ(other[15], one[14]);
  EXPECT_EQ(one[9], "2001-09-09 01:46:40 UTC");
}

TEST(Views, PrintLoadsAndChanges) {
  ConsoleClient client;
  const auto replica = client.ask("SHOW REPLICAS")[1].values();
  EXPECT_EQ(replica[8], "5") << "with the one of a class that a reload removed";
  EXPECT_EQ(replica[9], "premium=3,freemium=1");
  const auto decision = client.ask("SHOW DECISIONS")[1].values();
  EXPECT_EQ(decision.back(), "replica=r0 from=mixed to=premium kind=borrow");
}

TEST(Views, SumTotalsOverDatabases) {
  ConsoleClient client;
  const auto row = client.ask("SHOW TOTALS")[3].values();
  EXPECT_EQ(row[0], "total_query_count");
  EXPECT_EQ(row[1], "200");
}

TEST(Views, HaveUniqueNamesAndHelp) {
  std::set<std::string_view> names;
  for (const View& view : all_views()) {
    EXPECT_TRUE(names.insert(view.name).second) << view.name;
    EXPECT_FALSE(view.help.empty());
    std::set<std::string_view> columns;
    for (const Column& c : view.columns)
      EXPECT_TRUE(columns.insert(c.name).second) << view.name << c.name;
  }
  const auto shown = ConsoleClient().ask("SHOW HELP");
  EXPECT_EQ(shown.size() - 3, all_views().size() + all_commands().size());
}

// SLUICE_WRITE_DOCS=1 writes the pages instead of comparing them.
void check_page(const std::string& name, const std::string& expected) {
  const char* source = std::getenv("SLUICE_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "SLUICE_SOURCE_DIR is not set";
  const std::string path = std::string(source) + "/docs/reference/" + name;
  if (std::getenv("SLUICE_WRITE_DOCS") != nullptr) std::ofstream(path) << expected;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), expected) << "run admin_test with SLUICE_WRITE_DOCS=1 and look at the difference";
}

TEST(Views, AreDocumentedAsTheyAre) {
  check_page("console.md", console_reference());
  check_page("http.md", http_reference());
}

TEST(StatsAverage, DividesByTimeAndByCount) {
  StatsCounters before, now;
  now.xact_count = 10;
  now.xact_time_us = 5000;
  now.bytes_sent = 4000;
  const StatsCounters average = average_between(before, now, std::chrono::seconds(2));
  EXPECT_EQ(average.xact_count, 5);
  EXPECT_EQ(average.xact_time_us, 500);
  EXPECT_EQ(average.bytes_sent, 2000);
  EXPECT_EQ(average_between(before, now, Micros(0)).xact_count, 0);
  EXPECT_EQ(average_between(now, before, Micros(1)).xact_time_us, 0);
}

TEST(Text, ShowsWhatClientsCanDisplay) {
  EXPECT_EQ(displayable("a\xff"), "a?");
  EXPECT_EQ(shortened("caf\xc3\xa9s", 4), "caf...");
}

}  // namespace
}  // namespace sluice::admin::testing
