#include "protocol/cancel_key.h"

#include <random>

#include <gtest/gtest.h>

#include "protocol/frontend_messages.h"

namespace sluice::protocol {
namespace {

CancelKeyRandom random_bytes(std::mt19937& random) {
  CancelKeyRandom bytes;
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(CancelKey, HasAPositiveProcessIdAndFourSecretBytesUnder30) {  // B26
  std::mt19937 random(1);
  for (std::uint32_t router : {0u, 1u, CancelKey::kRouterNumberMax}) {
    for (int i = 0; i < 1000; ++i) {
      const CancelKey key = make_cancel_key(random_bytes(random), kProtocol30, router);
      EXPECT_GT(key.process_id, 0);
      EXPECT_EQ(key.secret().size(), 4u);
      EXPECT_EQ(router_number_of(key.process_id), router);
    }
  }
}

TEST(CancelKey, HasALongSecretUnder32) {
  std::mt19937 random(2);
  EXPECT_EQ(make_cancel_key(random_bytes(random), kProtocol32, 7).secret().size(), 32u);
}

TEST(CancelKey, IsPositiveEvenWhenTheRandomBytesAreZero) {
  EXPECT_EQ(make_cancel_key({}, kProtocol30, 0).process_id, 1);
}

TEST(CancelKey, ComparesSecretsWhole) {
  EXPECT_TRUE(secrets_equal(as_bytes("abcd"), as_bytes("abcd")));
  EXPECT_FALSE(secrets_equal(as_bytes("abcd"), as_bytes("abce")));
  EXPECT_FALSE(secrets_equal(as_bytes("abcd"), as_bytes("abc")));
  EXPECT_FALSE(secrets_equal(as_bytes("abcd"), {}));
}

}  // namespace
}  // namespace sluice::protocol
