#include "placer/forward_head.h"

#include <gtest/gtest.h>

namespace sluice::placer {
namespace {

std::string forwarded(std::string_view bytes, const ForwardPolicy& policy, const ClientFacts& client,
                      std::string_view upgrade = "") {
  http::RequestHead head;
  EXPECT_FALSE(http::parse_request(bytes, {}, head));
  std::string out;
  Rng rng(1);
  RequestIds ids;
  append_request_head(out, head, policy, client, upgrade, rng, ids);
  return out;
}

bool has(const std::string& head, const std::string& line) {
  return head.find("\r\n" + line + "\r\n") != std::string::npos;
}

TEST(ForwardedRequest, IsWholeAndParsesAgain) {
  ForwardPolicy policy;
  policy.via = "sluice";
  policy.forwarded = true;
  const std::string head = forwarded(
      "POST /a?b HTTP/1.1\r\nHost: x\r\nAccept: y\r\nContent-Length: 3\r\nConnection: close\r\n\r\n", policy,
      {"2001:db8::1", false, true});
  EXPECT_TRUE(head.starts_with("POST /a?b HTTP/1.1\r\nHost: x\r\nAccept: y\r\n")) << head;
  EXPECT_TRUE(has(head, "Content-Length: 3"));
  EXPECT_TRUE(has(head, "X-Forwarded-For: 2001:db8::1"));
  EXPECT_TRUE(has(head, "X-Forwarded-Proto: https"));
  EXPECT_TRUE(has(head, "Forwarded: for=\"[2001:db8::1]\";host=\"x\";proto=https"));
  EXPECT_TRUE(has(head, "Via: 1.1 sluice"));
  http::RequestHead again;
  EXPECT_FALSE(http::parse_request(head, {}, again));
  EXPECT_EQ(again.content_length, 3U);
}

TEST(ForwardedRequest, LosesNamesThatApplicationsTakeForOurs) {
  for (const std::string name :
       {"X_Forwarded_For", "x-forwarded_for", "X_FORWARDED_PROTO", "X_Forwarded-Host", "X_Request_Id",
        "X_Sluice_Host", "Transfer_Encoding", "content_length", "Keep_Alive", "Proxy_Connection"})
    for (const bool trusted : {false, true}) {
      const std::string head =
          forwarded("GET / HTTP/1.1\r\nHost: x\r\n" + name + ": evil\r\nKeep: it\r\n\r\n", {},
                    {"192.0.2.1", trusted, false});
      EXPECT_EQ(head.find("evil"), std::string::npos) << name << "\n" << head;
      EXPECT_TRUE(has(head, "Keep: it"));
      EXPECT_TRUE(has(head, "X-Forwarded-For: 192.0.2.1"));
    }
  for (const std::string name : {"X_Custom", "_", "X_Forwarded_For_Whom", "X__Forwarded_For"})
    EXPECT_TRUE(
        has(forwarded("GET / HTTP/1.1\r\nHost: x\r\n" + name + ": mine\r\n\r\n", {}, {}), name + ": mine"));
}

TEST(ForwardedRequest, AsksForAnUpgradeOnlyWhereItMay) {
  ForwardPolicy policy;
  policy.upgrades = {"websocket"};
  const std::string bytes =
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c, WebSocket\r\n\r\n";
  http::RequestHead head;
  ASSERT_FALSE(http::parse_request(bytes, {}, head));
  EXPECT_EQ(allowed_upgrade(head, policy), "WebSocket");
  EXPECT_TRUE(has(forwarded(bytes, policy, {}, "WebSocket"), "Upgrade: WebSocket"));
  EXPECT_EQ(forwarded(bytes, policy, {}).find("Upgrade"), std::string::npos);
  policy.upgrades.clear();
  EXPECT_EQ(allowed_upgrade(head, policy), "");
}

TEST(TraceParent, IsJudgedByItsShape) {
  EXPECT_TRUE(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
  EXPECT_FALSE(is_traceparent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  EXPECT_FALSE(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x"));
  EXPECT_FALSE(is_traceparent(""));
}

TEST(ForwardedResponse, SaysHowItsBodyEnds) {
  http::ResponseHead head;
  const auto response = [&](std::string_view fields, ResponseFacts facts) {
    const std::string bytes = "HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n";
    EXPECT_FALSE(http::parse_response(bytes, {}, head));
    std::string out;
    facts.host_name = "a";
    append_response_head(out, head, {}, facts);
    return out;
  };
  EXPECT_TRUE(has(response("Content-Length: 5\r\n", {BodyOut::Length, true, 1, ""}), "Content-Length: 5"));
  EXPECT_TRUE(has(response("", {BodyOut::Chunked, true, 1, ""}), "Transfer-Encoding: chunked"));
  const std::string raw = response("Transfer-Encoding: chunked\r\n", {BodyOut::Raw, false, 0, ""});
  EXPECT_EQ(raw.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(has(raw, "Connection: close"));
  EXPECT_TRUE(has(raw, "X-Sluice-Host: a"));
}

}  // namespace
}  // namespace sluice::placer
