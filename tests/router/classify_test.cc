#include "router/classify.h"

#include <asio/io_context.hpp>

#include "base/error.h"
#include "router/worker.h"
#include "tests/router/snapshot_fixture.h"
#include "tests/support/run_coroutine.h"

namespace sluice::router {
namespace {

using test::Configured;

class FakeDirectory final : public Directory {
 public:
  asio::awaitable<Result<protocol::Secret>> secret_of(std::string) override {
    co_return Error(BaseErrc::NotFound);
  }
  asio::awaitable<Result<std::vector<std::string>>> roles_of(std::string user) override {
    ++questions;
    if (user == "unlucky") co_return Error(BaseErrc::Timeout);
    std::vector<std::string> roles;
    if (user == "alice") roles.push_back("paying");
    co_return roles;
  }
  void forget(std::string) override {}

  int questions = 0;
};

constexpr std::string_view kRules =
    "databases:\n"
    "  - {name: app, target: primary}\n"
    "  - {name: app_read, server_database: app, target: replicas}\n"
    "hosts:\n"
    "  - {name: web1, networks: [10.0.1.0/24]}\n"
    "rules:\n"
    "  - {application_name: \"report*\", class: premium}\n";
constexpr std::string_view kRoleRules =
    "auth_user: lookup\n"
    "rules:\n  - {role: paying, class: premium}\n";

class Classifying {
 public:
  explicit Classifying(std::string_view yaml) : configured(yaml), shared(*configured.admission, directory) {}

  Classified operator()(ClientIdentity identity, std::string address = "10.0.1.7") {
    asio::io_context io{1};
    const net::SocketAddress peer{std::move(address), 4711, false};
    const std::string listener = "main";
    return tests::run_coroutine(io, classify(shared, configured.snapshot, identity, peer, listener));
  }
  std::string class_of(const Classified& classified) const {
    return configured.snapshot->class_name(classified.priority);
  }

  Configured configured;
  FakeDirectory directory;
  Shared shared;
};

ClientIdentity client(std::string user, std::string database) {
  ClientIdentity identity;
  identity.startup.user = std::move(user);
  identity.startup.database = std::move(database);
  return identity;
}

TEST(Classify, FindsDatabaseClassAndHost) {
  Classifying classify_it(kRules);
  ClientIdentity identity = client("alice", "app_read");
  identity.startup.parameters = {{"application_name", "other"}, {"application_name", "report 7"}};
  const Classified found = classify_it(identity);
  EXPECT_FALSE(found.refusal);
  EXPECT_EQ(classify_it.class_of(found), "premium");
  EXPECT_EQ(found.host, "web1");
  EXPECT_FALSE(found.primary);
  EXPECT_EQ(found.server_database, "app");
  ASSERT_NE(found.database, nullptr);
  EXPECT_EQ(found.database->name, "app_read");
  const Classified other = classify_it(client("alice", "app"), "192.168.0.1");
  EXPECT_EQ(classify_it.class_of(other), "freemium");
  EXPECT_EQ(other.host, "");
  EXPECT_TRUE(other.primary);
  EXPECT_EQ(classify_it.directory.questions, 0) << "roles are asked for only where a rule names one";
}

TEST(Classify, RefusesAnUnknownDatabase) {
  Classifying classify_it(kRules);
  const Classified found = classify_it(client("alice", "nothing"));
  ASSERT_TRUE(found.refusal);
  EXPECT_EQ(found.refusal->sqlstate, "3D000");
  EXPECT_EQ(found.refusal->severity, "FATAL");
}

TEST(Classify, LetsTheClientChooseTheTarget) {
  Classifying classify_it(kRules);
  ClientIdentity identity = client("alice", "app");
  for (const char* word : {"replicas", "replica"}) {
    identity.asked.target = word;
    EXPECT_FALSE(classify_it(identity).primary) << word;
  }
  identity.startup.database = "app_read";
  identity.asked.target = "primary";
  EXPECT_TRUE(classify_it(identity).primary);
  identity.asked.target = "moon";
  const Classified found = classify_it(identity);
  ASSERT_TRUE(found.refusal);
  EXPECT_EQ(found.refusal->sqlstate, "22023");
}

TEST(Classify, RefusesSettingsOfOursThatDoNotExist) {
  Classifying classify_it(kRules);
  ClientIdentity identity = client("alice", "app");
  identity.asked.unknown = {"sluice.prioritty"};
  const Classified found = classify_it(identity);
  ASSERT_TRUE(found.refusal);
  EXPECT_EQ(found.refusal->sqlstate, "42704");
  EXPECT_NE(found.refusal->message.find("sluice.prioritty"), std::string::npos);
}

TEST(Classify, AsksForRolesWhereARuleNamesOne) {
  Classifying classify_it(kRoleRules);
  EXPECT_EQ(classify_it.class_of(classify_it(client("alice", "app"))), "premium");
  EXPECT_EQ(classify_it.class_of(classify_it(client("bob", "app"))), "freemium");
  EXPECT_EQ(classify_it.class_of(classify_it(client("unlucky", "app"))), "freemium")
      << "who cannot be looked up has no role";
  EXPECT_EQ(classify_it.directory.questions, 3);
}

}  // namespace
}  // namespace sluice::router
