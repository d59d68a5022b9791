#include "base/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

namespace bj {
namespace {

template <class T, class = void>
struct Printable : std::false_type {};
template <class T>
struct Printable<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> : std::true_type {
};

static_assert(!Printable<Secret>::value, "a secret must not be printable");
static_assert(Printable<std::string>::value);
static_assert(!fmt::is_formattable<Secret>::value, "fmt must refuse a secret");
static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);
static_assert(!std::is_convertible_v<Secret, std::string> && !std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<std::string, Secret>, "making one is said by name");

TEST(SecretTest, MovingLeavesNothingBehind) {
  Secret first("hunter2");
  const Secret second(std::move(first));
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(second.reveal(), "hunter2");
}

TEST(SecretTest, TakingAStringOverWipesIt) {
  std::string text = "a longer text that does not fit into the string object itself";
  const char* where = text.data();
  const size_t size = text.size();
  const Secret secret = Secret::take(std::move(text));
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(std::string(where + 1, size - 1), std::string(size - 1, '\0'));  // still the string's memory
  EXPECT_EQ(secret.reveal().size(), size);
}

TEST(SecretTest, ComparesByText) {
  EXPECT_TRUE(Secret("a").same_as(Secret("a")));
  EXPECT_FALSE(Secret("a").same_as(Secret("b")));
  EXPECT_FALSE(Secret("a").same_as(Secret("ab")));
  EXPECT_TRUE(Secret().same_as(Secret("")));
  EXPECT_TRUE(Secret("abc").copy().same_as(Secret("abc")));
}

}  // namespace
}  // namespace bj
