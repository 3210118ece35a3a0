#include "config/match.h"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

ClientFacts client(std::string_view user = "u", std::string_view address = "10.0.0.1") {
  ClientFacts facts;
  facts.user = user;
  facts.database = "d";
  facts.address = *parse_address(address);
  return facts;
}

Config with_classes() {
  Config config;
  config.classes.resize(3);
  config.classes[0].name = "gold";
  config.classes[1].name = "silver";
  config.classes[2].name = "bronze";
  config.options.default_class = "bronze";
  return config;
}

TEST(Pattern, MatchesStarsAndQuestionMarks) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_FALSE(matches_pattern("", "a"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("report-*", "report-"));
  EXPECT_TRUE(matches_pattern("report-*-x", "report-a-b-x"));
  EXPECT_FALSE(matches_pattern("report-*-x", "report-a-b-y"));
  EXPECT_TRUE(matches_pattern("a?c", "abc"));
  EXPECT_FALSE(matches_pattern("a?c", "ac"));
  EXPECT_TRUE(matches_pattern("**a**", "xxaxx"));
  EXPECT_FALSE(matches_pattern("Abc", "abc"));
}

TEST(Pattern, IsNeverMoreThanQuadratic) {
  std::string pattern;
  for (int i = 0; i < 500; ++i)
    pattern += "a*";
  EXPECT_FALSE(matches_pattern(pattern + "b", std::string(20'000, 'a')));
}

TEST(ClassRules, TheFirstThatMatchesInEveryPartWins) {
  Config config = with_classes();
  config.rules.resize(3);
  config.rules[0].user = {"u"};
  config.rules[0].database = {"other"};
  config.rules[0].class_name = "gold";
  config.rules[1].user = {"x", "u"};
  config.rules[1].class_name = "silver";
  config.rules[2].class_name = "gold";
  EXPECT_EQ(find_class(config, client("u")), 1U);
  EXPECT_EQ(find_class(config, client("z")), 0U);
  config.rules.pop_back();
  EXPECT_EQ(find_class(config, client("z")), 2U);
}

TEST(ClassRules, LookAtEveryFact) {
  Config config = with_classes();
  ClassRule& rule = config.rules.emplace_back();
  rule.class_name = "gold";
  rule.application_name = {"app*"};
  rule.network = {*parse_network("10.0.0.0/8")};
  rule.listener = {"public"};
  rule.certificate_name = {"c"};
  rule.role = {"staff"};
  const std::vector<std::string> roles = {"x", "staff"};
  ClientFacts facts = client();
  facts.application_name = "app1";
  facts.listener = "public";
  facts.certificate_name = "c";
  facts.roles = roles;
  EXPECT_EQ(find_class(config, facts), 0U);
  EXPECT_TRUE(uses_roles(config));
  for (int left_out = 0; left_out < 5; ++left_out) {
    ClientFacts other = facts;
    if (left_out == 0) other.application_name = "";
    if (left_out == 1) other.address = *parse_address("11.0.0.1");
    if (left_out == 2) other.listener = "x";
    if (left_out == 3) other.certificate_name = "";
    if (left_out == 4) other.roles = {};
    EXPECT_EQ(find_class(config, other), 2U) << left_out;
  }
}

TEST(ClassRules, AStarNeedsACertificate) {
  Config config = with_classes();
  config.rules.emplace_back().certificate_name = {"*"};
  config.rules[0].class_name = "gold";
  EXPECT_EQ(find_class(config, client()), 2U);
}

TEST(RequestedClass, CountsOnlyForUsersThatMayAsk) {
  Config config = with_classes();
  config.classes[0].may_request = {"vip*"};
  EXPECT_EQ(find_class(config, client("vip1"), "gold"), 0U);
  EXPECT_EQ(find_class(config, client("u"), "gold"), 2U);
  EXPECT_EQ(find_class(config, client("vip1"), "silver"), 2U);
  EXPECT_EQ(find_class(config, client("vip1"), "unknown"), 2U);
}

TEST(Hosts, TheLongestNetworkWinsThenTheFirst) {
  Config config;
  config.hosts.resize(3);
  config.hosts[0].networks = {*parse_network("10.0.0.0/8"), *parse_network("10.0.0.0/24")};
  config.hosts[1].networks = {*parse_network("10.0.0.0/16")};
  config.hosts[2].networks = {*parse_network("10.0.0.0/24")};
  EXPECT_EQ(find_host(config, client("u", "10.0.0.1")), &config.hosts[0]);
  EXPECT_EQ(find_host(config, client("u", "10.0.1.1")), &config.hosts[1]);
  EXPECT_EQ(find_host(config, client("u", "10.1.0.1")), &config.hosts[0]);
  EXPECT_EQ(find_host(config, client("u", "11.0.0.1")), nullptr);
}

TEST(Hosts, TheStartupOptionCountsOnlyWhereTrusted) {
  Config config;
  config.hosts.resize(1);
  config.hosts[0].name = "a";
  EXPECT_EQ(find_host(config, client(), "a"), nullptr);
  config.options.trust_host_option_users = {"u"};
  EXPECT_EQ(find_host(config, client(), "a"), &config.hosts[0]);
  EXPECT_EQ(find_host(config, client("v"), "a"), nullptr);
  EXPECT_EQ(find_host(config, client(), "b"), nullptr);
  config.options.trust_host_option_networks = {*parse_network("10.0.0.0/8")};
  EXPECT_EQ(find_host(config, client("v"), "a"), &config.hosts[0]);
}

TEST(SizeOption, CountsOnlyWhereTrusted) {
  Config config;
  EXPECT_FALSE(trusts_size_option(config, client()));
  config.options.trust_size_option_users = {"u"};
  EXPECT_TRUE(trusts_size_option(config, client()));
  EXPECT_FALSE(trusts_size_option(config, client("v")));
  config.options.trust_size_option_networks = {*parse_network("10.0.0.0/8")};
  EXPECT_TRUE(trusts_size_option(config, client("v")));
}

TEST(Databases, AnExactNameGoesBeforeTheStarWhereverItStands) {
  Config config;
  EXPECT_EQ(find_database(config, "x"), nullptr);
  config.databases.resize(2);
  config.databases[0].name = "*";
  config.databases[1].name = "x";
  EXPECT_EQ(find_database(config, "x"), &config.databases[1]);
  EXPECT_EQ(find_database(config, "y"), &config.databases[0]);
  EXPECT_EQ(find_database(config, "*"), &config.databases[0]);
}

TEST(ProxyProtocol, IsTheServersOwnThenTheGeneralOne) {
  Config config;
  config.options.server_proxy_protocol = ProxyProtocol::V1;
  Server server;
  EXPECT_EQ(proxy_protocol_of(config, server), ProxyProtocol::V1);
  for (const auto& [own, told] : {std::pair(ProxyProtocolOf::Off, ProxyProtocol::Off),
                                  std::pair(ProxyProtocolOf::V1, ProxyProtocol::V1),
                                  std::pair(ProxyProtocolOf::V2, ProxyProtocol::V2)}) {
    server.proxy_protocol = own;
    EXPECT_EQ(proxy_protocol_of(config, server), told);
  }
}

TEST(PoolMode, IsTheUsersThenTheDatabasesThenTheGeneralOne) {
  Config config;
  config.databases.resize(2);
  config.databases[0].pool_mode = PoolModeOf::Transaction;
  config.user_settings.resize(2);
  config.user_settings[0].name = {"report-*"};
  config.user_settings[0].pool_mode = PoolModeOf::Session;
  config.user_settings[1].name = {"web"};
  EXPECT_EQ(pool_mode_of(config, config.databases[0], "report-1"), PoolMode::Session);
  EXPECT_EQ(pool_mode_of(config, config.databases[0], "web"), PoolMode::Transaction);
  EXPECT_EQ(pool_mode_of(config, config.databases[0], "other"), PoolMode::Transaction);
  EXPECT_EQ(pool_mode_of(config, config.databases[1], "web"), PoolMode::Session);
  config.options.pool_mode = PoolMode::Transaction;
  EXPECT_EQ(pool_mode_of(config, config.databases[1], "web"), PoolMode::Transaction);
}

TEST(Hba, TheFirstThatMatchesWinsAndNoneRefuses) {
  Config config;
  config.hba.resize(3);
  config.hba[0].tls = TlsUse::Required;
  config.hba[0].method = AuthMethod::Cert;
  config.hba[1].network = {*parse_network("unix")};
  config.hba[1].method = AuthMethod::Trust;
  config.hba[2].user = {"u"};
  config.hba[2].database = {"d"};
  config.hba[2].tls = TlsUse::Off;
  EXPECT_EQ(find_hba_rule(config, client()), &config.hba[2]);
  EXPECT_EQ(find_hba_rule(config, client("v")), nullptr);
  ClientFacts facts = client("v");
  facts.tls = true;
  EXPECT_EQ(find_hba_rule(config, facts), &config.hba[0]);
  facts.tls = false;
  facts.address = unix_address();
  EXPECT_EQ(find_hba_rule(config, facts), &config.hba[1]);
}

}  // namespace
}  // namespace sluice::config
