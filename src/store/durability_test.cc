// What was acknowledged is there, whenever the process is killed; and what is secret is nowhere in the files.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "base/fd.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

using DurabilityTest = StoreTest;

constexpr size_t kIdSize = 5 + 36;  // "tool-…"

// Defines tools until it is killed; the id of each goes down the pipe once the store has said that it is stored.
[[noreturn]] void write_for_ever(const StoreOptions& options_of_child, int pipe, int round) {
  StoreOptions options;
  options.database_url = options_of_child.database_url;
  options.data_directory = options_of_child.data_directory;
  const auto store = Store::open(std::move(options));
  if (!store) ::_exit(1);
  for (int i = 0;; i++) {
    ToolRow tool;
    tool.name = "tool_" + std::to_string(round) + "_" + std::to_string(i);
    tool.source_code = std::string(3000, 'x');
    const auto made = (*store)->tools().upsert({}, tool);
    if (!made || ::write(pipe, made->id.data(), kIdSize) != static_cast<ssize_t>(kIdSize)) ::_exit(1);
  }
}

TEST_P(DurabilityTest, EveryAcknowledgedRowSurvivesTheKill) {
  std::vector<std::string> acknowledged;
  std::mt19937 random(42);
  for (int round = 0; round < 12; round++) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    ChildProcess child([&] { write_for_ever(options(), writer.get(), round); });
    writer.reset();
    char id[kIdSize];
    // After some acknowledgements, and at some moment within the next write.
    for (unsigned left = 1 + random() % 25; left > 0 && ::read(reader.get(), id, kIdSize) > 0; left--)
      acknowledged.emplace_back(id, kIdSize);
    for (unsigned spin = random() % 2'000'000; spin > 0; spin--) asm volatile("");
    child.stop(SIGKILL);
    while (::read(reader.get(), id, kIdSize) == static_cast<ssize_t>(kIdSize)) acknowledged.emplace_back(id, kIdSize);
  }
  const auto store = open();
  EXPECT_GE(acknowledged.size(), 12u);
  for (const std::string& id : acknowledged) EXPECT_TRUE(store->tools().get(kDefaultOrganization, id)) << id;
  if (GetParam() == DatabaseKind::kSqlite)
    EXPECT_EQ(store->database().read("PRAGMA integrity_check")->rows[0].text(0), "ok");
}

bool appears_in(const std::string& directory, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream contents;
    contents << file.rdbuf();
    if (contents.str().find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_P(DurabilityTest, PlantedSecretsAreNowhereInTheFiles) {
  const std::string data = GetParam() == DatabaseKind::kSqlite ? directory_.path() : PostgresServer::get()->directory();
  const std::string planted = "planted-" + new_uuid4();
  std::string key;
  {
    const auto store = open();
    const auto config = store->sandbox_configs().find_or_create({}, "local", "{}");
    const NewVariable variable{"KEY", Secret(planted + "-sandbox"), "described-" + planted.substr(8)};
    ASSERT_TRUE(store->sandbox_variables().upsert({}, config->id, variable));
    NewAgent fresh;
    fresh.row.name = "a";
    fresh.variables.push_back({"KEY", Secret(planted + "-agent"), {}});
    ASSERT_TRUE(store->agents().create({}, std::move(fresh)));
    key = store->api_keys().create({}, "k", Role::kAdmin)->key.reveal();
    ASSERT_TRUE(rotate_secrets(*store));
    if (GetParam() == DatabaseKind::kPostgres) PostgresServer::get()->run("CHECKPOINT");
    // The search itself works: what is not secret is found.
    EXPECT_TRUE(appears_in(data, "described-" + planted.substr(8)));
    EXPECT_FALSE(appears_in(data, planted));
    EXPECT_FALSE(appears_in(data, key));
  }
  EXPECT_FALSE(appears_in(directory_.path(), planted));
  EXPECT_FALSE(appears_in(directory_.path(), key));
}

BJ_ON_BOTH_ENGINES(DurabilityTest);

}  // namespace
}  // namespace bj
