#include "router/server_request.h"

#include "tests/router/snapshot_fixture.h"

namespace sluice::router {
namespace {

using test::Configured;
using Parameters = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kServerUser = "server_user: svc\nserver_password_file: password\n";

ClientIdentity alice() {
  ClientIdentity identity;
  identity.startup.user = "alice";
  identity.startup.database = "app";
  identity.credentials.password = "secret";
  return identity;
}

std::vector<ServerRequest> requests_of(const Configured& configured, const ClientIdentity& identity,
                                       const SessionTag& tag = {}) {
  const net::SocketAddress peer{"10.0.0.1", 4711, false};
  return server_requests(*configured.snapshot, identity, ServerId(1), "appdb", tag, peer);
}

TEST(ServerRequests, LogInAsTheUserWithWhatTheClientAskedFor) {
  const Configured configured;
  ClientIdentity identity = alice();
  identity.startup.options = "-c work_mem=4MB";
  identity.startup.parameters = {{"TimeZone", "UTC"}, {"application_name", "report"}};
  const auto requests = requests_of(configured, identity);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].server, ServerId(1));
  EXPECT_EQ(requests[0].credentials.password, "secret");
  EXPECT_EQ(requests[0].parameters, (Parameters{{"user", "alice"},
                                                {"database", "appdb"},
                                                {"options", "-c work_mem=4MB"},
                                                {"TimeZone", "UTC"},
                                                {"application_name", "report"}}));
}

TEST(ServerRequests, LeaveOutWhatIsToBeIgnored) {
  const Configured configured("ignore_startup_parameters: [extra_float_digits]\n");
  ClientIdentity identity = alice();
  identity.startup.parameters = {{"extra_float_digits", "3"}, {"DateStyle", "ISO"}};
  EXPECT_EQ(requests_of(configured, identity)[0].parameters,
            (Parameters{{"user", "alice"}, {"database", "appdb"}, {"DateStyle", "ISO"}}));
}

TEST(ServerRequests, AskForReplication) {
  const Configured configured;
  ClientIdentity identity = alice();
  identity.startup.replication = protocol::Replication::Physical;
  EXPECT_EQ(requests_of(configured, identity)[0].parameters[2],
            (Parameters::value_type{"replication", "true"}));
  identity.startup.replication = protocol::Replication::Database;
  EXPECT_EQ(requests_of(configured, identity)[0].parameters[2],
            (Parameters::value_type{"replication", "database"}));
}

TEST(ServerRequests, FallBackToServerUser) {
  const Configured configured(kServerUser);
  const auto both = requests_of(configured, alice());
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].parameters[0].second, "alice");
  EXPECT_EQ(both[1].parameters[0].second, "svc");
  EXPECT_EQ(both[1].credentials.password, "sesame");
  ClientIdentity nothing_to_log_in_with = alice();
  nothing_to_log_in_with.credentials = {};
  const auto one = requests_of(configured, nothing_to_log_in_with);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].parameters[0].second, "svc");
}

TEST(ServerRequests, NameClientClassAndHostWhereAsked) {
  const Configured configured("application_name_add_host: true\napplication_name_add_class: true\n");
  SessionTag tag;
  tag.priority = *configured.admission->find_class("freemium");
  tag.host = "web1";
  ClientIdentity identity = alice();
  identity.startup.parameters = {{"application_name", "report"}};
  EXPECT_EQ(requests_of(configured, identity, tag)[0].parameters[2].second,
            "report - 10.0.0.1:4711 [freemium@web1]");
  for (const std::vector<protocol::Parameter>& nameless :
       std::vector<std::vector<protocol::Parameter>>{{}, {{"application_name", ""}}}) {
    identity.startup.parameters = nameless;
    EXPECT_EQ(requests_of(configured, identity, tag)[0].parameters[2].second,
              "10.0.0.1:4711 [freemium@web1]");
  }
}

TEST(ServerRequests, SayWhereTheClientIsWhereAskedAndKeepSuchConnectionsApart) {
  const Configured off, on("server_proxy_protocol: v1\n");
  ClientIdentity identity = alice();
  identity.local = {"10.0.0.9", 6432, false};
  EXPECT_FALSE(requests_of(off, identity)[0].place);
  const ServerRequest request = requests_of(on, identity)[0];
  EXPECT_EQ(as_text(proxy_preamble(config::ProxyProtocol::V1, request.place)),
            "PROXY TCP4 10.0.0.1 10.0.0.9 4711 6432\r\n");
  EXPECT_TRUE(proxy_preamble(config::ProxyProtocol::Off, request.place).empty());
  const std::string key = pool_key(*on.snapshot, request);
  const auto key_of = [&](const net::SocketAddress& peer) {
    return pool_key(*on.snapshot, server_requests(*on.snapshot, identity, ServerId(1), "appdb", {}, peer)[0]);
  };
  EXPECT_EQ(key_of({"10.0.0.1", 9999, false}), key) << "another connection of the same client's";
  EXPECT_NE(key_of({"10.0.0.2", 4711, false}), key);
  EXPECT_NE(key_of({"", 0, true}), key);
}

TEST(ServerRequests, KeepConnectionsApartOfTheServerAloneThatIsTold) {
  const Configured configured;
  auto snapshot = std::make_shared<Snapshot>(*configured.snapshot);
  snapshot->servers.at(ServerId(0)).proxy_protocol = config::ProxyProtocol::V2;
  snapshot->tells_places = true;
  ClientIdentity identity = alice();
  identity.local = {"10.0.0.9", 6432, false};
  const auto key_of = [&](std::uint32_t server, const std::string& address) {
    const net::SocketAddress peer{address, 4711, false};
    return pool_key(*snapshot, server_requests(*snapshot, identity, ServerId(server), "appdb", {}, peer)[0]);
  };
  EXPECT_NE(key_of(0, "10.0.0.1"), key_of(0, "10.0.0.2"));
  EXPECT_EQ(key_of(1, "10.0.0.1"), key_of(1, "10.0.0.2"));
}

TEST(ServerRequests, AConnectionWhoseAddressIsGoneIsSaidToBeOurs) {
  for (const auto& [version, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"v1", "PROXY UNKNOWN\r\n"}, {"v2", std::string("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16)}}) {
    const Configured on("server_proxy_protocol: " + version + "\n");
    const config::ProxyProtocol told = on.snapshot->servers.at(ServerId(1)).proxy_protocol;
    EXPECT_EQ(as_text(proxy_preamble(told, requests_of(on, alice())[0].place)), bytes);
    EXPECT_EQ(as_text(proxy_preamble(told, std::nullopt)), bytes);
  }
}

TEST(PoolKey, IsEqualExactlyForInterchangeableConnections) {
  const Configured configured;
  ServerRequest request;
  request.server = ServerId(1);
  request.parameters = {{"user", "alice"}, {"database", "app"}, {"TimeZone", "UTC"}};
  const std::string key = pool_key(*configured.snapshot, request);
  ServerRequest other = request;
  other.credentials.password = "whatever";
  EXPECT_EQ(pool_key(*configured.snapshot, other), key);
  other.server = ServerId(2);
  EXPECT_NE(pool_key(*configured.snapshot, other), key);
  other = request;
  other.parameters[2] = {"TimeZon", "eUTC"};
  EXPECT_NE(pool_key(*configured.snapshot, other), key);
  other.parameters = {{"user", "alice"}, {"TimeZone", "UTC"}, {"database", "app"}};
  EXPECT_NE(pool_key(*configured.snapshot, other), key);
  other.parameters = {{"user", "alice"}, {"database", "app"}};
  EXPECT_NE(pool_key(*configured.snapshot, other), key);
}

// A reload may give a replica another address under its old name: what was connected to the old one is not
// it.
TEST(PoolKey, TellsWhereTheServerIsAndHowItIsReached) {
  const Configured configured;
  ServerRequest request;
  request.server = ServerId(1);
  request.parameters = {{"user", "alice"}, {"database", "app"}};
  const std::string key = pool_key(*configured.snapshot, request);
  Snapshot later = *configured.snapshot;
  EXPECT_EQ(pool_key(later, request), key);
  later.servers.at(ServerId(1)).target.port += 1;
  EXPECT_NE(pool_key(later, request), key);
  later = *configured.snapshot;
  later.servers.at(ServerId(1)).target.host += "x";
  EXPECT_NE(pool_key(later, request), key);
  later = *configured.snapshot;
  later.server_sslmode = protocol::SslMode::VerifyFull;
  EXPECT_NE(pool_key(later, request), key);
}

}  // namespace
}  // namespace sluice::router
