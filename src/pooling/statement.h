#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.h"
#include "pooling/sql_facts.h"
#include "pooling/sql_lexer.h"

namespace sluice::pooling {

// Every name that the router gives a statement on a server begins so.
inline constexpr std::string_view kNamePrefix = "sluice.";

// A prepared statement as a client asked for it: text, parameter types, and the name it has on every server
// that has it. Immutable; shared by the clients that use it and the servers that have it.
class Statement {
 public:
  Statement(std::string name, Bytes body, SqlFacts facts)
      : name_(std::move(name)), body_(std::move(body)), facts_(std::move(facts)) {}

  // sluice.<store>.<number>
  std::string_view name() const noexcept { return name_; }
  // Parse's body behind the name: the text with its zero byte, the count and the OIDs of the parameter types.
  ByteView body() const noexcept { return body_; }
  std::string_view sql() const noexcept;
  const SqlFacts& facts() const noexcept { return facts_; }

 private:
  std::string name_;
  Bytes body_;
  SqlFacts facts_;
};
using StatementPtr = std::shared_ptr<const Statement>;

// The statements of one thread, each once.
// Shape:  keeps what somebody uses (a client's name, a server), and of the rest up to `unused_bytes_max`
// bytes,
//         so that a client that comes back finds its statements prepared. What is in use is bounded by those
//         who use it: TranslatorOptions and ServerStatements.
// Scope:  two clients share a statement only with equal text, types and scope. The scope stands for the
// settings
//         that PostgreSQL reads while it parses (DateStyle and TimeZone for literals, client_encoding,
//         search_path,
//         ...): see ClientSettings::parse_scope().
// Names:  unique among stores with different `store` numbers; a number is never used again.
// Thread: one. The store outlives nothing but its own calls: statements live on without it.
class StatementStore {
 public:
  StatementStore(std::uint32_t store, std::size_t unused_bytes_max)
      : store_(store), unused_bytes_max_(unused_bytes_max) {}

  // `body` as Statement::body(); well-formed (the text has its zero byte). `scope` as given by scope().
  StatementPtr intern(ByteView body, std::uint32_t scope, Backslash backslash);
  // A number for a scope text; equal texts, equal numbers. At most kScopesMax are told apart at a time:
  // beyond it each call gives a number of its own, which costs sharing and nothing else.
  std::uint32_t scope(std::string_view text);
  // A name of this store that was never given before.
  std::string new_name();

  std::size_t size() const noexcept { return statements_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }

  static constexpr std::size_t kScopesMax = 4096;

 private:
  struct Key {
    std::uint32_t scope;
    std::string_view body;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string_view>{}(key.body) ^ (key.scope * std::size_t{0x9E3779B97F4A7C15});
    }
  };
  void sweep();

  const std::uint32_t store_;
  const std::size_t unused_bytes_max_;
  std::uint64_t next_ = 1;
  std::size_t bytes_ = 0;     // of all statements known
  std::size_t sweep_at_ = 0;  // bytes_ at which unused ones are looked for
  std::uint32_t next_scope_ = 1;
  std::unordered_map<Key, StatementPtr, KeyHash> statements_;  // keys view the statements' own bodies
  std::unordered_map<std::string, std::uint32_t> scopes_;
};

}  // namespace sluice::pooling
