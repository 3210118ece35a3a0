#include "router/refused_logins.h"

#include <thread>
#include <vector>

#include "tests/router/snapshot_fixture.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using test::Configured;
using Kind = ServerFailure::Kind;

const RefusedLogins::Clock::time_point kStart{1h};

ServerFailure failure(const std::string& sqlstate, Kind kind = Kind::Refused) {
  return {kind, {"FATAL", sqlstate, "no", "", ""}, "the server says no"};
}

TEST(RefusedLogins, StandForASecondThenForTwiceAsLongAndTenSecondsAtMost) {
  RefusedLogins logins;
  auto now = kStart;
  for (const auto pause : {1s, 2s, 4s, 8s, 10s, 10s}) {
    EXPECT_FALSE(logins.standing("alice", now));
    const ServerFailure said = failure("28P01");
    logins.ended("alice", &said, now);
    EXPECT_FALSE(logins.standing("bob", now));
    const auto standing = logins.standing("alice", now + pause - 1ms);
    ASSERT_TRUE(standing);
    EXPECT_EQ(standing->error, said.error);
    EXPECT_EQ(standing->reason, "the server says no; it is asked again in 1 s");
    now += pause;
  }
}

TEST(RefusedLogins, OneThatComesLongAfterStandsForASecond) {
  RefusedLogins logins;
  const ServerFailure said = failure("28P01");
  logins.ended("alice", &said, kStart);
  logins.ended("alice", &said, kStart + 1s);
  logins.ended("alice", &said, kStart + 1h);
  EXPECT_FALSE(logins.standing("alice", kStart + 1h + 1s));
}

TEST(RefusedLogins, SeveralUnderWayTogetherAreOneRefusal) {
  RefusedLogins logins;
  const ServerFailure said = failure("28000");
  for (int i = 0; i < 5; ++i)
    logins.ended("alice", &said, kStart);
  EXPECT_TRUE(logins.standing("alice", kStart + 999ms));
  EXPECT_FALSE(logins.standing("alice", kStart + 1s));
}

TEST(RefusedLogins, ALoginThatWorkedAndAReloadForget) {
  RefusedLogins logins;
  const ServerFailure said = failure("28P01");
  logins.ended("alice", &said, kStart);
  logins.ended("alice", nullptr, kStart);
  EXPECT_FALSE(logins.standing("alice", kStart));
  logins.ended("alice", &said, kStart);
  logins.clear();
  EXPECT_FALSE(logins.standing("alice", kStart));
}

TEST(RefusedLogins, WhatSaysNothingOfTheLoginIsNone) {
  RefusedLogins logins;
  for (const ServerFailure& said :
       {failure("3D000"), failure("53300", Kind::NotReady), failure("28P01", Kind::Unreachable)}) {
    logins.ended("alice", &said, kStart);
    EXPECT_FALSE(logins.standing("alice", kStart));
  }
  const ServerFailure refused = failure("28P01"), silence = failure("", Kind::Unreachable);
  logins.ended("alice", &refused, kStart);
  logins.ended("alice", &silence, kStart);
  EXPECT_TRUE(logins.standing("alice", kStart));
}

TEST(RefusedLogins, AreBounded) {
  RefusedLogins logins;
  const ServerFailure said = failure("28P01");
  for (std::size_t i = 0; i < RefusedLogins::kEntriesMax; ++i)
    logins.ended(std::to_string(i), &said, kStart);
  logins.ended("one more", &said, kStart);
  EXPECT_FALSE(logins.standing("one more", kStart));
  EXPECT_TRUE(logins.standing("0", kStart));
  const auto later = kStart + RefusedLogins::kPauseMin + RefusedLogins::kPauseMax;
  logins.ended("one more", &said, later);
  EXPECT_TRUE(logins.standing("one more", later));
}

TEST(RefusedLogins, FromManyThreads) {
  RefusedLogins logins;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&logins, t] {
      const ServerFailure said = failure("28P01");
      for (int i = 0; i < 1'000; ++i) {
        const std::string login = std::to_string((i + t) % 7);
        if (!logins.standing(login, kStart)) logins.ended(login, i % 3 == 0 ? nullptr : &said, kStart);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  logins.clear();
  EXPECT_FALSE(logins.standing("0", kStart));
}

TEST(LoginKey, IsThatOfTheServerTheUserTheDatabaseAndTheProof) {
  const Configured configured;
  ServerRequest request;
  request.server = ServerId(1);
  request.parameters = {{"user", "alice"}, {"database", "app"}};
  request.credentials.password = "secret";
  const std::string key = login_key(*configured.snapshot, request);
  EXPECT_EQ(key.find("secret"), std::string::npos);
  const auto of = [&](auto change) {
    ServerRequest other = request;
    change(other);
    return login_key(*configured.snapshot, other);
  };
  EXPECT_EQ(of([](ServerRequest& r) { r.parameters.emplace_back("TimeZone", "UTC"); }), key);
  EXPECT_NE(of([](ServerRequest& r) { r.parameters[0].second = "bob"; }), key);
  EXPECT_NE(of([](ServerRequest& r) { r.parameters[1].second = "other"; }), key);
  EXPECT_NE(of([](ServerRequest& r) { r.server = ServerId(2); }), key);
  EXPECT_NE(of([](ServerRequest& r) { r.credentials.password = "another"; }), key);
  EXPECT_NE(of([](ServerRequest& r) { r.credentials.client_keys.emplace(); }), key);
}

TEST(LoginKey, KeepsClientsApartWhoseAddressTheServerIsTold) {
  const Configured off, on("server_proxy_protocol: v1\n");
  const auto key = [](const Configured& configured, const char* address) {
    ServerRequest request;
    request.server = ServerId(1);
    request.place = ClientPlace{{address, 4711, false}, {"10.0.0.9", 6432, false}};
    return login_key(*configured.snapshot, request);
  };
  EXPECT_NE(key(on, "10.0.0.1"), key(on, "10.0.0.2"));
  EXPECT_EQ(key(off, "10.0.0.1"), key(off, "10.0.0.2"));
}

}  // namespace
}  // namespace sluice::router
