#include "api/e2b/signature.h"

#include <gtest/gtest.h>

namespace bj::e2b {
namespace {

constexpr const char* kToken = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";

HttpRequest link(const std::string& path, const std::string& signature, const std::string& expiration = "") {
  HttpRequest request;
  request.query.add("path", path);
  request.query.add("signature", signature);
  if (!expiration.empty()) request.query.add("signature_expiration", expiration);
  return request;
}

TEST(SignatureTest, IsTheSdksOwn) {
  EXPECT_EQ(signature_of("hello.txt", FileOperation::kRead, "user", kToken, std::nullopt),
            "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
}

TEST(SignatureTest, ALinkIsForItsPathItsOperationItsUserAndItsTime) {
  const std::string good = signature_of("a", FileOperation::kRead, "", kToken, "1000");
  EXPECT_FALSE(signature_problem(link("a", good, "1000"), FileOperation::kRead, kToken, 1000));
  EXPECT_EQ(signature_problem(link("a", good, "1000"), FileOperation::kRead, kToken, 1001),
            "signature is already expired");
  EXPECT_EQ(signature_problem(link("b", good, "1000"), FileOperation::kRead, kToken, 1), "invalid signature");
  EXPECT_EQ(signature_problem(link("a", good, "2000"), FileOperation::kRead, kToken, 1), "invalid signature");
  EXPECT_EQ(signature_problem(link("a", good), FileOperation::kRead, kToken, 1), "invalid signature");
  EXPECT_EQ(signature_problem(link("a", good, "1000"), FileOperation::kWrite, kToken, 1), "invalid signature");
  EXPECT_EQ(signature_problem(link("a", good, "1000"), FileOperation::kRead, "other", 1), "invalid signature");
  EXPECT_EQ(signature_problem(link("a", ""), FileOperation::kRead, kToken, 1), "missing signature query parameter");
  HttpRequest other = link("a", good, "1000");
  other.query.add("username", "root");
  EXPECT_EQ(signature_problem(other, FileOperation::kRead, kToken, 1), "invalid signature");
}

}  // namespace
}  // namespace bj::e2b
