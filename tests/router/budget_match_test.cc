#include "router/budget_match.h"

#include <gtest/gtest.h>

#include "protocol/frontend_messages.h"

namespace sluice::router {
namespace {

Bytes query_message(std::string_view sql) {
  Bytes out;
  protocol::append_query(out, sql);
  return out;
}

Bytes parse_message(std::string_view name, std::string_view sql) {
  Bytes out;
  protocol::append_parse(out, name, sql);
  return out;
}

TEST(RouteOfMessage, IsTakenFromTheCommentOfAQueryOrParse) {
  EXPECT_EQ(route_of_message(query_message("SELECT 1 /*route='%2Ffeed'*/")), "/feed");
  EXPECT_EQ(route_of_message(query_message("/*route='%2Ffeed'*/ SELECT 1;")), "/feed");
  EXPECT_EQ(route_of_message(parse_message("s1", "SELECT $1 /*route='%2Ffeed'*/")), "/feed");
  EXPECT_EQ(route_of_message(parse_message("", "BEGIN /*controller='articles',action='show'*/")),
            "articles#show");
  EXPECT_EQ(route_of_message(query_message("SELECT 1")), "");
  EXPECT_EQ(route_of_message(query_message("SELECT 1 /* no route */")), "");
}

TEST(RouteOfMessage, IsEmptyForWhateverIsCutShortOrOfAnotherType) {
  const Bytes whole = parse_message("s1", "SELECT 1 /*route='%2Ffeed'*/");
  for (std::size_t i = 0; i + 3 < whole.size(); ++i)
    EXPECT_EQ(route_of_message(ByteView(whole).first(i)), "") << i;
  Bytes bind = whole;
  bind[0] = std::byte{'B'};
  EXPECT_EQ(route_of_message(bind), "");
  EXPECT_EQ(route_of_message({}), "");
}

config::Budget budget(std::string name) {
  config::Budget made;
  made.name = std::move(name);
  return made;
}

struct Rules {
  Rules() {
    config.budgets = {budget("feed"), budget("batch"), budget("reports"), budget("rest"), budget("never")};
    config.budgets[0].route = {"/feed*"};
    config.budgets[1].class_names = {"freemium", "batch"};
    config.budgets[1].user = {"job-*"};
    config.budgets[2].route = {"/report/?"};
    config.budgets[2].application_name = {"web"};
    config.budgets[3].database = {"app"};
    for (std::uint32_t i = 0; i < config.budgets.size(); ++i)
      ids.emplace_back(i);
  }
  BudgetMatch match(std::string_view user, std::string_view application, std::string_view database,
                    std::string_view class_name = "freemium") const {
    config::ClientFacts facts;
    facts.user = user;
    facts.application_name = application;
    facts.database = database;
    return BudgetMatch(config, ids, facts, class_name);
  }
  std::string name(std::optional<policy::BudgetId> id) const {
    return id ? config.budgets[id->value()].name : "";
  }
  std::string of(const BudgetMatch& match, std::string_view route) const {
    return name(match.of_transaction(query_message("SELECT 1 /*route='" + std::string(route) + "'*/")));
  }

  config::Config config;
  std::vector<policy::BudgetId> ids;
};

TEST(BudgetMatch, TakesTheFirstEntryThatMatchesInAllItsKeys) {
  const Rules rules;
  EXPECT_EQ(rules.name(rules.match("job-7", "", "app").without_route()), "batch");
  EXPECT_EQ(rules.name(rules.match("job-7", "", "app", "premium").without_route()), "rest");
  EXPECT_EQ(rules.name(rules.match("anna", "", "app").without_route()), "rest");
  EXPECT_EQ(rules.name(rules.match("anna", "", "other").without_route()), "never")
      << "an entry without keys takes all that is left";
  EXPECT_EQ(BudgetMatch().without_route(), std::nullopt);
}

TEST(BudgetMatch, LooksAtTheRouteOfEachTransaction) {
  const Rules rules;
  const BudgetMatch web = rules.match("anna", "web", "app");
  EXPECT_EQ(rules.of(web, "/feed/new"), "feed");
  EXPECT_EQ(rules.of(web, "/report/1"), "reports");
  EXPECT_EQ(rules.of(web, "/report/12"), "rest");
  EXPECT_EQ(rules.name(web.of_transaction(query_message("SELECT 1"))), "rest");
  const BudgetMatch other = rules.match("anna", "cli", "app");
  EXPECT_EQ(rules.of(other, "/report/1"), "rest");
  const BudgetMatch job = rules.match("job-7", "web", "app");
  EXPECT_EQ(rules.of(job, "/feed"), "feed");
  EXPECT_EQ(rules.of(job, "/report/1"), "batch") << "which stands in front of it";
}

}  // namespace
}  // namespace sluice::router
