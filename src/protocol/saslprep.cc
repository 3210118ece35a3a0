#include "protocol/saslprep.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <stringprep.h>

namespace sluice::protocol {
namespace {

bool is_ascii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

std::string saslprep(std::string_view password) {
  std::string text(password.substr(0, password.find('\0')));
  if (is_ascii(text)) return text;
  char* prepared = nullptr;
  const int status = stringprep_profile(text.c_str(), &prepared, "SASLprep", STRINGPREP_NO_UNASSIGNED);
  const std::unique_ptr<char, decltype(&std::free)> owner(prepared, &std::free);
  if (status != STRINGPREP_OK || prepared == nullptr || *prepared == '\0') return text;
  return prepared;
}

}  // namespace sluice::protocol
