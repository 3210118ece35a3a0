#pragma once

#include <optional>
#include <string_view>

namespace sluice::protocol {

// Reads the comma-separated attributes of a SCRAM message, "a=value", off its front.
// Source: RFC 5802, section 7. Views live as long as the message.
class ScramAttributes {
 public:
  explicit ScramAttributes(std::string_view message) noexcept : rest_(message) {}

  struct Attribute {
    char name;
    std::string_view value;
  };
  // nullopt: nothing left, or not a letter with '='. A trailing comma leaves an empty attribute, which is
  // none.
  std::optional<Attribute> next() noexcept;
  // The next attribute if it has this name; nullopt otherwise.
  std::optional<std::string_view> expect(char name) noexcept;
  bool at_end() const noexcept { return done_; }
  // Where the next attribute begins in the message.
  std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
  bool done_ = false;
};

}  // namespace sluice::protocol
