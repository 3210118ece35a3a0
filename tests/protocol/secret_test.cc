#include "protocol/secret.h"

#include <gtest/gtest.h>

#include "protocol/crypto.h"
#include "protocol/md5_login.h"
#include "protocol/saslprep.h"
#include "protocol/scram_server.h"

namespace sluice::protocol {
namespace {

using namespace std::string_literals;

const std::string kKey = "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=";
const std::string kServerKey = "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

std::string verifier_text(const std::string& iterations) {
  return "SCRAM-SHA-256$" + iterations + ":W22ZaJ0SNY7soEsUEjb6gQ==$" + kKey + ":" + kServerKey;
}

// RFC 7677, section 3: user "user", password "pencil".
TEST(Secret, ReadsTheVerifierOfRfc7677AsItIsDerived) {
  const auto secret = parse_secret(verifier_text("4096"));
  ASSERT_TRUE(secret);
  const auto* verifier = std::get_if<ScramVerifier>(&*secret);
  ASSERT_NE(verifier, nullptr);
  EXPECT_EQ(*verifier, scram_verifier("pencil", *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096));
}

TEST(Secret, TellsTheKindsApart) {
  EXPECT_EQ(*parse_secret(""), Secret(UnknownUser{}));
  EXPECT_EQ(*parse_secret("pencil"), Secret(PlainPassword{"pencil"}));
  const std::string hash = "md5" + std::string(32, 'a');
  EXPECT_EQ(*parse_secret(hash), Secret(Md5Hash{hash}));
  EXPECT_EQ(*parse_secret(hash + "a"), Secret(PlainPassword{hash + "a"}));
  EXPECT_EQ(*parse_secret("md5" + std::string(32, 'A')), Secret(PlainPassword{"md5" + std::string(32, 'A')}));
  EXPECT_EQ(*parse_secret("SCRAM-SHA-256"), Secret(PlainPassword{"SCRAM-SHA-256"}));
}

TEST(Secret, BoundsIterationCounts) {
  EXPECT_TRUE(parse_secret(verifier_text("1")));
  EXPECT_TRUE(parse_secret(verifier_text("1000000")));
  for (const char* bad : {"0", "1000001", "4294967297", "99999999999999999999"})
    EXPECT_EQ(parse_secret(verifier_text(bad)).error().code, SecretErrc::IterationsOutOfRange) << bad;
  for (const char* bad : {"", "-1", "+1", " 1", "1x"})
    EXPECT_EQ(parse_secret(verifier_text(bad)).error().code, SecretErrc::MalformedVerifier) << bad;
}

TEST(Secret, NeverTakesABrokenVerifierForAPassword) {
  const std::string whole = verifier_text("4096");
  for (std::size_t size = "SCRAM-SHA-256$"s.size(); size < whole.size(); ++size)
    EXPECT_FALSE(parse_secret(whole.substr(0, size))) << size;
  EXPECT_FALSE(parse_secret(whole + "="));
}

TEST(Secret, HashesMd5AsPostgreSqlDoes) {
  EXPECT_EQ(md5_hash("postgres", "secret"), "md5" + *md5_hex({as_bytes("secretpostgres")}));
  EXPECT_EQ(md5_hex({}), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(Base64, RoundTripsAndRefusesWhatIsNotStrict) {
  for (std::size_t size = 0; size < 70; ++size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::byte>(i * 37 + size);
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
  EXPECT_EQ(base64_encode(as_bytes("n,,")), "biws");
  for (const char* bad :
       {"b", "bi", "biw", "biws=", "bi s", "b===", "=", "====", "bi=s", "bi==biws", "biw\n"})
    EXPECT_EQ(base64_decode(bad), std::nullopt) << bad;
}

TEST(Saslprep, FollowsPostgreSql) {
  EXPECT_EQ(saslprep("pencil\x01"), "pencil\x01");  // ASCII: untouched
  EXPECT_EQ(saslprep("I\xC2\xADX"), "IX");          // RFC 4013: soft hyphen vanishes
  EXPECT_EQ(saslprep("\xC2\xAA"), "a");             // feminine ordinal
  EXPECT_EQ(saslprep("\xE2\x85\xA8"), "IX");        // Roman numeral nine
  EXPECT_EQ(saslprep("a\xC2\xA0"
                     "b"),
            "a b");  // no-break space
  EXPECT_EQ(saslprep("\xD8\xA7"
                     "1"),
            "\xD8\xA7"
            "1");                                         // bidirectional: forbidden, so as it is
  EXPECT_EQ(saslprep("\xC2\xAD"), "\xC2\xAD");            // nothing left, so as it is
  EXPECT_EQ(saslprep("\xFF\xFE"), "\xFF\xFE");            // not UTF-8, so as it is
  EXPECT_EQ(saslprep("caf\x65\xCC\x81"), "caf\xC3\xA9");  // composed
}

}  // namespace
}  // namespace sluice::protocol
