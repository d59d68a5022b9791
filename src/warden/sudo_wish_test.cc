#include "warden/sudo_wish.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bj::ward {
namespace {

Wish wish_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "sudo");
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);  // as the kernel has it
  return read_wish(count, arguments.data());
}

constexpr const char* kAccounts =
    "root:x:0:0:root:/root:/bin/bash\n"
    "# a comment\n\nbroken:x:12\n:x:7:7::/:/bin/sh\n"
    "odd:x:-1:5::/:/bin/sh\nall:x:4294967295:1::/:/bin/sh\nlarge:x:1:4294967296::/:/bin/sh\n"
    "user:x:1000:1001:U,,:/home/user:/bin/bash\n"
    "user:x:0:0::/root:/bin/sh\n"
    "plain:x:33:34::/var/www";

// As "name uid:gid home", or nothing.
std::string found(const char* wanted, std::string text = kAccounts) {
  User user;
  if (!find_user(text.data(), wanted, user)) return {};
  return std::string(user.name) + " " + std::to_string(user.uid) + ":" + std::to_string(user.gid) + " " + user.home;
}

TEST(SudoWishTest, ACommandIsRootsUnlessItSaysOtherwise) {
  const Wish wish = wish_of({"-n", "-E", "id", "-u"});
  EXPECT_EQ(wish.user, nullptr);
  EXPECT_EQ(wish.first, 3);
  EXPECT_EQ(wish.assignments, 3);
  EXPECT_FALSE(wish.shell);
}

TEST(SudoWishTest, AUserIsUnderstoodHoweverItIsWritten) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"-u", "ada", "id"},
                                                    {"-uada", "id"},
                                                    {"-nu", "ada", "id"},
                                                    {"-nuada", "id"},
                                                    {"--user", "ada", "id"},
                                                    {"--user=ada", "id"},
                                                    {"-u", "ada", "--", "id"}}) {
    const Wish wish = wish_of(arguments);
    ASSERT_NE(wish.user, nullptr) << arguments[0];
    EXPECT_STREQ(wish.user, "ada") << arguments[0];
    EXPECT_EQ(wish.first, static_cast<int>(arguments.size())) << arguments[0];
    EXPECT_EQ(wish.impossible, 0) << arguments[0];
  }
}

TEST(SudoWishTest, WhatWouldMakeItAnotherCommandIsRefusedNotPassedOver) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"-g", "staff", "id"},
                                                    {"-D", "/", "id"},
                                                    {"-R/x", "id"},
                                                    {"-e", "file"},
                                                    {"--group=staff", "id"},
                                                    {"--chdir", "/", "id"},
                                                    {"-u"},
                                                    {"--user"}}) {
    EXPECT_NE(wish_of(arguments).impossible, 0) << arguments[0];
  }
}

TEST(SudoWishTest, ValuesOfOptionsThatMeanNothingAreNoCommand) {
  EXPECT_EQ(wish_of({"-p", "password: ", "-C", "3", "id"}).first, 5);
  EXPECT_EQ(wish_of({"--prompt=x", "--preserve-env=A,B", "id"}).first, 3);
  EXPECT_EQ(wish_of({"-p"}).first, 2);
}

TEST(SudoWishTest, AssignmentsStandBetweenOptionsAndCommand) {
  const Wish wish = wish_of({"-u", "ada", "A=1", "B=", "env", "C=3"});
  EXPECT_EQ(wish.assignments, 3);
  EXPECT_EQ(wish.first, 5);
  EXPECT_EQ(wish_of({"/opt/a=b"}).first, 1);
  EXPECT_EQ(wish_of({"=b"}).first, 1);
}

TEST(SudoWishTest, ShellsAndQuestions) {
  EXPECT_TRUE(wish_of({"-iu", "ada"}).login);
  EXPECT_TRUE(wish_of({"-i"}).shell);
  EXPECT_FALSE(wish_of({"--shell"}).login);
  EXPECT_EQ(wish_of({"-nv"}).task, Task::kValidate);
  EXPECT_EQ(wish_of({"-l"}).task, Task::kList);
  EXPECT_EQ(wish_of({"-k"}).task, Task::kValidate);
  EXPECT_EQ(wish_of({"-k", "id"}).task, Task::kRun);
}

TEST(SudoWishTest, VariablesAreTheSameByTheirNames) {
  EXPECT_TRUE(same_name("A=1", "A=2"));
  EXPECT_TRUE(same_name("PATH=", "PATH"));
  EXPECT_FALSE(same_name("A=1", "AB=1"));
  EXPECT_FALSE(same_name("AB=1", "A=1"));
}

TEST(SudoWishTest, AnAccountIsFoundByNameAndByNumberTheFirstOfThem) {
  EXPECT_EQ(found("user"), "user 1000:1001 /home/user");
  EXPECT_EQ(found("#1000"), "user 1000:1001 /home/user");
  EXPECT_EQ(found("plain"), "plain 33:34 /var/www");
  EXPECT_EQ(found("#0"), "root 0:0 /root");
}

TEST(SudoWishTest, WhatIsNoAccountIsNotFound) {
  for (const char* wanted : {"", "#", "#1", "us", "users", "broken", "# a comment", "nobody", "#4294967296", "#1000x"})
    EXPECT_EQ(found(wanted), "") << wanted;
  EXPECT_EQ(found("user", ""), "");
  EXPECT_EQ(found("user", "user"), "");
}

// To the kernel, all ones mean "as before": such an account would be root.
TEST(SudoWishTest, IdsThatAreNoneMakeNoAccount) {
  for (const char* wanted : {"odd", "all", "large", "#-1", "#4294967295"}) EXPECT_EQ(found(wanted), "") << wanted;
}

}  // namespace
}  // namespace bj::ward
