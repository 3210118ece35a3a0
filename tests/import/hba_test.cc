#include <gtest/gtest.h>

#include "config/config.h"
#include "config/fields.h"
#include "import/hba_file.h"
#include "import/translate.h"
#include "tests/config/temporary_folder.h"
#include "tests/import/files.h"

namespace sluice::import::testing {
namespace {

constexpr std::string_view kIni =
    "[databases]\n* = host=p\n[pgbouncer]\nauth_type = hba\nauth_hba_file = /etc/hba.conf\n";
constexpr std::string_view kTls =
    "client_tls_sslmode = prefer\nclient_tls_cert_file = cert\nclient_tls_key_file = cert\n";

class Hba : public ::testing::Test {
 protected:
  Hba() {
    folder_.write("users.txt", "\"anna\" \"md50123456789abcdef0123456789abcdef\"\n");
    folder_.write("cert", "-\n");
  }

  Translation translate_rules(const std::string& rules, std::string_view more = "",
                              std::map<std::string, std::string> others = {}) const {
    Files files{std::move(others)};
    files.texts["pgbouncer.ini"] = std::string(kIni) + std::string(more);
    files.texts["/etc/hba.conf"] = rules;
    return translate({"pgbouncer.ini", "users.txt"}, files.reader());
  }
  // The rules as the router's loader has them, but for the last, which refuses everybody.
  std::vector<std::string> rules_of(const Translation& made) const {
    const config::LoadOutcome outcome = config::load_text(made.yaml, folder_.path("sluice.yaml"));
    for (const config::Problem& problem : outcome.problems)
      EXPECT_NE(problem.severity, config::Severity::Error) << config::to_string(problem) << "\n" << made.yaml;
    std::vector<std::string> rules;
    if (!outcome.config) return rules;
    for (const config::HbaRule& rule : outcome.config->hba)
      rules.push_back(config::print_record(rule));
    EXPECT_FALSE(rules.empty());
    if (rules.empty()) return rules;
    EXPECT_EQ(rules.back(), "{method: reject}");
    rules.pop_back();
    return rules;
  }
  static bool has_note(const Translation& made, std::uint32_t line, std::string_view text) {
    for (const Note& note : made.notes)
      if (note.place.file == "/etc/hba.conf" && note.place.line == line &&
          to_string(note).find(text) != std::string::npos)
        return true;
    return false;
  }
  config::TemporaryFolder folder_;
};

using Rules = std::vector<std::string>;

TEST_F(Hba, BecomesTheListOfRulesInItsOrder) {
  const Translation made = translate_rules(
      "# TYPE DATABASE USER ADDRESS METHOD\n"
      "local all all md5\n"
      "host shop,\"two \"\"words\" berta , otto 10.0.0.0/8 scram-sha-256 # behind it\n"
      "host all all 192.168.1.0 255.255.255.0 md5\n"
      "hostssl all all all scram-sha-256\n"
      "hostnossl all \"all\" fd00::/8 reject\n",
      kTls);
  EXPECT_EQ(rules_of(made),
            (Rules{"{network: unix, method: md5}",
                   "{network: 10.0.0.0/8, user: [berta, otto], database: [shop, \"two \\\"words\"], "
                   "method: scram-sha-256}",
                   "{network: 192.168.1.0/24, method: md5}",
                   "{network: [0.0.0.0/0, \"::/0\"], tls: required, method: scram-sha-256}",
                   "{network: fd00::/8, user: all, tls: off, method: reject}"}))
      << made.yaml;
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(Hba, ReadsNamesFromFilesBesideIt) {
  const Translation made = translate_rules("host @dbs @/srv/users all md5\n", "",
                                           {{"/etc/dbs", "shop, blog # two\nwiki\n"},
                                            {"/srv/users", "@more \"@quoted\"\n"},
                                            {"/srv/more", "anna\n"}});
  EXPECT_EQ(rules_of(made),
            (Rules{"{network: [0.0.0.0/0, \"::/0\"], user: [anna, \"@quoted\"], database: [shop, blog, "
                   "wiki], method: md5}"}));
}

TEST_F(Hba, SaysWhatHasNoEquivalentAndLeavesItOut) {
  const Translation made = translate_rules(
      "host sameuser all all md5\n"
      "host replication,shop all all md5\n"
      "local all all peer\n"
      "host all all all ldap ldapserver=x\n"
      "host all +admins all md5\n"
      "host all all samenet md5\n"
      "host all all 10.0.0.1 md5\n"
      "hostgssenc all all all md5\n"
      "host all all\n"
      "host all all 10.0.0.0/33 md5\n"
      "host all all 10.0.0.0 255.0.255.0 md5\n"
      "host all all all secret\n"
      "host all a*b all md5\n"
      "host all all all ldap\n"
      "host all all 10.0.0.0/8 md5 map=people\n"
      "hostssl all all 10.0.0.0/8 cert clientcert=verify-full\n"
      "host all all 10.1.2.3/8 md5\n"
      "host all all 10.0.0.1 255.255.255.0 md5\n"
      "host all all,+admins all md5\n"
      "host all,samerole all all md5\n"
      "host shop,samegroup all all md5\n",
      kTls);
  EXPECT_EQ(rules_of(made), (Rules{"{network: [0.0.0.0/0, \"::/0\"], database: shop, method: md5}"}))
      << made.yaml;
  for (const auto& [line, text] :
       std::vector<std::pair<std::uint32_t, std::string>>{{1, "sameuser: no equivalent"},
                                                          {1, "none of its databases"},
                                                          {2, "replication: no equivalent"},
                                                          {3, "peer: no equivalent"},
                                                          {4, "ldapserver=x"},
                                                          {5, "+admins"},
                                                          {6, "samenet"},
                                                          {7, "no network"},
                                                          {8, "hostgssenc"},
                                                          {9, "too few columns"},
                                                          {10, "no network"},
                                                          {11, "no network"},
                                                          {12, "no method"},
                                                          {13, "pattern"},
                                                          {14, "ldap: no equivalent"},
                                                          {15, "map=people"},
                                                          {16, "clientcert=verify-full"},
                                                          {17, "bits behind"},
                                                          {18, "bits behind"},
                                                          {19, "+admins"},
                                                          {20, "samerole"},
                                                          {21, "samegroup"}})
    EXPECT_TRUE(has_note(made, line, text)) << line << " " << text;
}

// Was: it was left out with a note, and whom it kept out came in by the rules below.
TEST_F(Hba, TranslatesNothingWhereARejectCannotBeWritten) {
  for (const std::string rule :
       {"host sameuser all all reject", "host shop,replication all all reject", "host all a*b all reject",
        "host \"shop,blog\" all 10.0.0.0 255.0.0.0 reject", "local all an\xffna reject",
        "local replication all reject"}) {
    const Translation made = translate_rules("# first\n" + rule + "\nhost all all all md5\n");
    ASSERT_EQ(made.problems.size(), 1U) << rule;
    EXPECT_EQ(made.problems[0].place.file, "/etc/hba.conf");
    EXPECT_EQ(made.problems[0].place.line, 2U) << rule;
    EXPECT_TRUE(made.yaml.empty());
  }
}

TEST_F(Hba, LeavesOutARejectThatHoldsNowhereThereEither) {
  const Translation made = translate_rules(
      "host all +admins all reject\n"
      "host sameuser all 10.1.2.3/8 reject\n"
      "host sameuser all all reject map=x\n"
      "hostssl all all all reject\n"
      "host replication all all reject later\n");
  EXPECT_TRUE(made.problems.empty());
  EXPECT_EQ(rules_of(made), Rules{});
  for (std::uint32_t line = 1; line <= 5; ++line)
    EXPECT_TRUE(has_note(made, line, "left out")) << line;
}

TEST_F(Hba, LeavesOutRulesForTlsThatIsNotOffered) {
  const Translation made = translate_rules("hostssl all all all md5\n");
  EXPECT_EQ(rules_of(made), Rules{});
  EXPECT_TRUE(has_note(made, 1, "client_tls_sslmode is disable"));
}

// Nobody comes in without a proof who had to show one, and nobody logs in to PostgreSQL as a role of our
// choice.
TEST_F(Hba, WritesNoMethodThatAsksForNothing) {
  for (const auto& [theirs, ours] : std::vector<std::pair<std::string, std::string>>{
           {"trust", "scram-sha-256"}, {"cert", "scram-sha-256"}, {"password", "md5"}, {"plain", "md5"}}) {
    const Translation made = translate_rules("local all all " + theirs + "\n");
    EXPECT_EQ(rules_of(made), Rules{"{network: unix, method: " + ours + "}"});
    EXPECT_TRUE(has_note(made, 1, theirs + ": ")) << theirs;
  }
}

TEST_F(Hba, LetsNobodyInWhereNoRuleIsLeft) {
  for (const std::string rules : {"", "# nothing\n", "local all all peer\n"})
    EXPECT_EQ(rules_of(translate_rules(rules)), Rules{}) << rules;
}

TEST_F(Hba, IsNotUsedWithAnotherAuthType) {
  const Files files{{{"pgbouncer.ini",
                      "[databases]\n* = host=p\n[pgbouncer]\nauth_type = md5\nauth_hba_file = /nowhere\n"}}};
  const Translation made = translate({"pgbouncer.ini", "users.txt"}, files.reader());
  EXPECT_TRUE(made.problems.empty());
  EXPECT_EQ(made.yaml.find("hba:\n"), std::string::npos);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_NE(made.notes[0].text.find("not used"), std::string::npos);
}

TEST_F(Hba, TranslatesNothingWhereAFileCannotBeReadOrHasNoEnd) {
  std::string many;
  for (std::size_t i = 0; i <= kHbaLinesMax; ++i)
    many += "local all all md5\n";
  std::string names = "local all a";
  for (std::size_t i = 0; i < kHbaNamesMax; ++i)
    names += ",a";
  for (const std::string& rules :
       {std::string("host all @missing all md5\n"), std::string("host all \"anna all md5\n"), many,
        names + " md5\n", std::string("host all @itself all md5\n")}) {
    const Translation made = translate_rules(rules, "", {{"/etc/itself", "anna\n@itself\n"}});
    EXPECT_EQ(made.problems.size(), 1U);
    EXPECT_TRUE(made.yaml.empty());
  }
}

// Whatever the bytes: a translation or a problem, and a list that the loader understands.
TEST_F(Hba, StandsAnyBytes) {
  std::string rules = "hostssl \"a b\",@x +c 10.0.0.0/8,::1/128 md5 clientcert=verify-full # x\n";
  for (std::size_t at = 0; at < rules.size(); ++at)
    for (const char byte : {'"', ',', '\0', '@', '#', '\n', '\xff', '/'}) {
      std::string changed = rules;
      changed[at] = byte;
      const Translation made = translate_rules(changed, "", {{"/etc/x", "d"}});
      if (made.problems.empty()) (void)rules_of(made);
    }
}

}  // namespace
}  // namespace sluice::import::testing
