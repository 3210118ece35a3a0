#include "protocol/crypto.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace sluice::protocol {
namespace {

const unsigned char* raw(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(ScramKey& key) {
  return reinterpret_cast<unsigned char*>(key.data());
}

// One context per thread, set up once: OpenSSL's one-shot functions look algorithm and digest up by name and
// build a context for each call, which costs several times what the hash of a short message does.
class HmacContext {
 public:
  HmacContext() {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> method(EVP_MAC_fetch(nullptr, "HMAC", nullptr),
                                                                   &EVP_MAC_free);
    SLUICE_ASSERT(method != nullptr);
    context_.reset(EVP_MAC_CTX_new(method.get()));
    SLUICE_ASSERT(context_ != nullptr);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                     OSSL_PARAM_construct_end()};
    SLUICE_ASSERT(EVP_MAC_CTX_set_params(context_.get(), parameters) == 1);
  }

  ScramKey mac(ByteView key, ByteView message) {
    // OpenSSL takes a null key for "the previous key".
    static constexpr unsigned char kNoKey[1] = {};
    ScramKey mac{};
    std::size_t size = 0;
    SLUICE_ASSERT(EVP_MAC_init(context_.get(), key.empty() ? kNoKey : raw(key), key.size(), nullptr) == 1);
    SLUICE_ASSERT(EVP_MAC_update(context_.get(), raw(message), message.size()) == 1);
    SLUICE_ASSERT(EVP_MAC_final(context_.get(), raw(mac), &size, mac.size()) == 1 && size == mac.size());
    return mac;
  }

 private:
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_{nullptr, &EVP_MAC_CTX_free};
};

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

ScramKey sha256(ByteView bytes) {
  static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  SLUICE_ASSERT(method != nullptr);
  ScramKey digest{};
  unsigned int size = 0;
  SLUICE_ASSERT(EVP_Digest(raw(bytes), bytes.size(), raw(digest), &size, method, nullptr) == 1);
  SLUICE_ASSERT(size == digest.size());
  return digest;
}

ScramKey hmac_sha256(ByteView key, ByteView message) {
  thread_local HmacContext context;
  return context.mac(key, message);
}

ScramKey pbkdf2_sha256(std::string_view password, ByteView salt, std::uint32_t iterations) {
  constexpr std::size_t kIntMax = std::numeric_limits<int>::max();
  SLUICE_ASSERT(iterations >= 1 && iterations <= kIntMax);
  SLUICE_ASSERT(password.size() <= kIntMax && salt.size() <= kIntMax);
  ScramKey key{};
  SLUICE_ASSERT(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), raw(salt),
                                  static_cast<int>(salt.size()), static_cast<int>(iterations), EVP_sha256(),
                                  static_cast<int>(key.size()), raw(key)) == 1);
  return key;
}

ScramKey exclusive_or(const ScramKey& a, const ScramKey& b) {
  ScramKey result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = a[i] ^ b[i];
  return result;
}

bool equal_in_constant_time(ByteView a, ByteView b) {
  return a.size() == b.size() && (a.empty() || CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0);
}

std::string base64_encode(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j)
      text.push_back(j <= count ? kBase64Digits[group >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

std::optional<Bytes> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t digits = 4;
    if (i + 4 == text.size()) {
      while (digits > 2 && text[i + digits - 1] == '=')
        --digits;
    }
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t value = j < digits ? kBase64Digits.find(text[i + j]) : 0;
      if (value == std::string_view::npos) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    for (std::size_t j = 0; j + 1 < digits; ++j)
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * j)));
  }
  return bytes;
}

std::optional<std::string> md5_hex(std::initializer_list<ByteView> parts) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (!context || EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) != 1) return std::nullopt;
  for (const ByteView part : parts)
    if (EVP_DigestUpdate(context.get(), part.data(), part.size()) != 1) return std::nullopt;
  if (EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1) return std::nullopt;
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text.push_back(kHexDigits[digest[i] >> 4]);
    text.push_back(kHexDigits[digest[i] & 15]);
  }
  return text;
}

}  // namespace sluice::protocol
