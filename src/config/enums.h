#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "sluice/placement/policy.h"
#include "sluice/policy/admission_queue.h"
#include "sluice/policy/budgets.h"
#include "sluice/policy/pool_config.h"

namespace sluice::config {

using PolicyName = policy::PolicyKind;
using ReplicaOrder = policy::ReplicaOrder;
using QueueDiscipline = policy::QueueDiscipline;
using BudgetMode = policy::BudgetMode;
using PlacementPolicy = placement::Policy;

// How a client proves who it is.
enum class AuthMethod { Reject, Trust, Cert, Md5, ScramSha256, Passthrough };
// libpq's six. For clients: allow and prefer both mean "TLS if the client asks", verify-* ask for its
// certificate.
enum class SslMode { Disable, Allow, Prefer, Require, VerifyCa, VerifyFull };
enum class TlsUse { Any, Required, Off };
enum class Target { Replicas, Primary };
// How long a client keeps a server connection. Inherited: as the more general place says.
enum class PoolMode { Session, Transaction };
enum class Isolation { Default, Strict };
enum class OnPin { Pin, Refuse };
enum class PoolModeOf { Inherited, Session, Transaction };
enum class ReadOnly { Target, Replicas };
enum class ReadYourWrites { Off, On };
enum class NoReplica { Refuse, Wait };
enum class SizeLearning { Auto, On };
enum class Discover { Off, Dns };
enum class ProxyProtocol { Off, V1, V2 };
enum class ProxyProtocolOf { Inherited, Off, V1, V2 };
enum class LogLevel { Debug, Info, Warning, Error };
enum class LogFormat { KeyValue, Json };
enum class TlsProtocols { Secure, Tls12, Tls13 };
enum class RecordedNames { Hashed, Plain };
enum class IoEngine { Auto, Epoll, IoUring };

// The words of an enum in configuration files, in the order in which they are listed to people.
template <class E>
struct EnumWords;

template <class E>
using Words = std::pair<std::string_view, E>;

template <>
struct EnumWords<PolicyName> {
  static constexpr std::array words = {Words<PolicyName>{"plb", PolicyName::Plb},
                                       Words<PolicyName>{"round_robin", PolicyName::RoundRobin},
                                       Words<PolicyName>{"least_loaded", PolicyName::LeastLoaded},
                                       Words<PolicyName>{"dedicated", PolicyName::Dedicated},
                                       Words<PolicyName>{"random_two_choices", PolicyName::RandomTwoChoices},
                                       Words<PolicyName>{"proportional", PolicyName::Proportional}};
};
template <>
struct EnumWords<AuthMethod> {
  static constexpr std::array words = {Words<AuthMethod>{"scram-sha-256", AuthMethod::ScramSha256},
                                       Words<AuthMethod>{"md5", AuthMethod::Md5},
                                       Words<AuthMethod>{"cert", AuthMethod::Cert},
                                       Words<AuthMethod>{"trust", AuthMethod::Trust},
                                       Words<AuthMethod>{"passthrough", AuthMethod::Passthrough},
                                       Words<AuthMethod>{"reject", AuthMethod::Reject}};
};
template <>
struct EnumWords<SslMode> {
  static constexpr std::array words = {
      Words<SslMode>{"disable", SslMode::Disable},    Words<SslMode>{"allow", SslMode::Allow},
      Words<SslMode>{"prefer", SslMode::Prefer},      Words<SslMode>{"require", SslMode::Require},
      Words<SslMode>{"verify-ca", SslMode::VerifyCa}, Words<SslMode>{"verify-full", SslMode::VerifyFull}};
};
template <>
struct EnumWords<TlsUse> {
  static constexpr std::array words = {Words<TlsUse>{"any", TlsUse::Any},
                                       Words<TlsUse>{"required", TlsUse::Required},
                                       Words<TlsUse>{"off", TlsUse::Off}};
};
template <>
struct EnumWords<ReplicaOrder> {
  static constexpr std::array words = {Words<ReplicaOrder>{"least_loaded", ReplicaOrder::LeastLoaded},
                                       Words<ReplicaOrder>{"nearest", ReplicaOrder::Nearest},
                                       Words<ReplicaOrder>{"sita_e", ReplicaOrder::SitaE},
                                       Words<ReplicaOrder>{"sita_v", ReplicaOrder::SitaV}};
};
template <>
struct EnumWords<BudgetMode> {
  static constexpr std::array words = {Words<BudgetMode>{"off", BudgetMode::Off},
                                       Words<BudgetMode>{"warn", BudgetMode::Warn},
                                       Words<BudgetMode>{"enforce", BudgetMode::Enforce}};
};
template <>
struct EnumWords<QueueDiscipline> {
  static constexpr std::array words = {
      Words<QueueDiscipline>{"fcfs", QueueDiscipline::Fcfs},
      Words<QueueDiscipline>{"shortest_first", QueueDiscipline::ShortestFirst}};
};
template <>
struct EnumWords<SizeLearning> {
  static constexpr std::array words = {Words<SizeLearning>{"auto", SizeLearning::Auto},
                                       Words<SizeLearning>{"on", SizeLearning::On}};
};
template <>
struct EnumWords<Target> {
  static constexpr std::array words = {Words<Target>{"replicas", Target::Replicas},
                                       Words<Target>{"primary", Target::Primary}};
};
template <>
struct EnumWords<PoolMode> {
  static constexpr std::array words = {Words<PoolMode>{"session", PoolMode::Session},
                                       Words<PoolMode>{"transaction", PoolMode::Transaction}};
};
template <>
struct EnumWords<Isolation> {
  static constexpr std::array words = {Words<Isolation>{"default", Isolation::Default},
                                       Words<Isolation>{"strict", Isolation::Strict}};
};
template <>
struct EnumWords<OnPin> {
  static constexpr std::array words = {Words<OnPin>{"pin", OnPin::Pin},
                                       Words<OnPin>{"refuse", OnPin::Refuse}};
};
template <>
struct EnumWords<PoolModeOf> {
  static constexpr std::array words = {Words<PoolModeOf>{"inherited", PoolModeOf::Inherited},
                                       Words<PoolModeOf>{"session", PoolModeOf::Session},
                                       Words<PoolModeOf>{"transaction", PoolModeOf::Transaction}};
};
template <>
struct EnumWords<ReadOnly> {
  static constexpr std::array words = {Words<ReadOnly>{"target", ReadOnly::Target},
                                       Words<ReadOnly>{"replicas", ReadOnly::Replicas}};
};
template <>
struct EnumWords<ReadYourWrites> {
  static constexpr std::array words = {Words<ReadYourWrites>{"off", ReadYourWrites::Off},
                                       Words<ReadYourWrites>{"on", ReadYourWrites::On}};
};
template <>
struct EnumWords<NoReplica> {
  static constexpr std::array words = {Words<NoReplica>{"refuse", NoReplica::Refuse},
                                       Words<NoReplica>{"wait", NoReplica::Wait}};
};
template <>
struct EnumWords<Discover> {
  static constexpr std::array words = {Words<Discover>{"off", Discover::Off},
                                       Words<Discover>{"dns", Discover::Dns}};
};
template <>
struct EnumWords<ProxyProtocolOf> {
  static constexpr std::array words = {Words<ProxyProtocolOf>{"inherited", ProxyProtocolOf::Inherited},
                                       Words<ProxyProtocolOf>{"off", ProxyProtocolOf::Off},
                                       Words<ProxyProtocolOf>{"v1", ProxyProtocolOf::V1},
                                       Words<ProxyProtocolOf>{"v2", ProxyProtocolOf::V2}};
};
template <>
struct EnumWords<ProxyProtocol> {
  static constexpr std::array words = {Words<ProxyProtocol>{"off", ProxyProtocol::Off},
                                       Words<ProxyProtocol>{"v1", ProxyProtocol::V1},
                                       Words<ProxyProtocol>{"v2", ProxyProtocol::V2}};
};
template <>
struct EnumWords<LogLevel> {
  static constexpr std::array words = {
      Words<LogLevel>{"debug", LogLevel::Debug}, Words<LogLevel>{"info", LogLevel::Info},
      Words<LogLevel>{"warning", LogLevel::Warning}, Words<LogLevel>{"error", LogLevel::Error}};
};
template <>
struct EnumWords<LogFormat> {
  static constexpr std::array words = {Words<LogFormat>{"key_value", LogFormat::KeyValue},
                                       Words<LogFormat>{"json", LogFormat::Json}};
};
template <>
struct EnumWords<TlsProtocols> {
  static constexpr std::array words = {Words<TlsProtocols>{"secure", TlsProtocols::Secure},
                                       Words<TlsProtocols>{"tlsv1.2", TlsProtocols::Tls12},
                                       Words<TlsProtocols>{"tlsv1.3", TlsProtocols::Tls13}};
};
template <>
struct EnumWords<RecordedNames> {
  static constexpr std::array words = {Words<RecordedNames>{"hashed", RecordedNames::Hashed},
                                       Words<RecordedNames>{"plain", RecordedNames::Plain}};
};
template <>
struct EnumWords<IoEngine> {
  static constexpr std::array words = {Words<IoEngine>{"auto", IoEngine::Auto},
                                       Words<IoEngine>{"epoll", IoEngine::Epoll},
                                       Words<IoEngine>{"io_uring", IoEngine::IoUring}};
};

template <>
struct EnumWords<PlacementPolicy> {
  static constexpr std::array words = {Words<PlacementPolicy>{"user_first", PlacementPolicy::UserFirst},
                                       Words<PlacementPolicy>{"network_only", PlacementPolicy::NetworkOnly},
                                       Words<PlacementPolicy>{"profiled", PlacementPolicy::Profiled},
                                       Words<PlacementPolicy>{"adaptive", PlacementPolicy::Adaptive}};
};

template <class E>
constexpr std::string_view word_of(E value) noexcept {
  for (const auto& [word, each] : EnumWords<E>::words)
    if (each == value) return word;
  return "?";
}

}  // namespace sluice::config
