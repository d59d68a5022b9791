#include "engine/sandbox_pool.h"

#include <gtest/gtest.h>

#include <functional>

namespace bj {
namespace {

using Change = std::function<void(SandboxSpec&)>;

SandboxSpec some_spec() {
  SandboxSpec spec;
  spec.image.name = "base";
  spec.image.layers = {{"/data/rootfs", "/"}, {"/usr", "/usr"}};
  return spec;
}

std::optional<std::string> changed(const Change& change, bool one_user = false) {
  SandboxSpec spec = some_spec();
  change(spec);
  return kind_of(spec, one_user);
}

static_assert(sizeof(Limits) == 10 * sizeof(uint64_t),
              "a new limit: does a blank carry it? Add it to one of the tests");

TEST(SandboxKindTest, WhatIsBuiltIntoABlankMakesAnotherKind) {
  const std::vector<Change> changes = {
      [](SandboxSpec& s) { s.limits.memory_bytes += 1; },
      [](SandboxSpec& s) { s.limits.processes += 1; },
      [](SandboxSpec& s) { s.limits.cpus += 0.001; },
      [](SandboxSpec& s) { s.limits.open_files += 1; },
      [](SandboxSpec& s) { s.limits.disk_bytes += 1; },
      [](SandboxSpec& s) { s.limits.cpu_ms += 1; },
      [](SandboxSpec& s) { s.image.sudo = false; },
      [](SandboxSpec& s) { s.image.layers[0].path = "/data/other"; },
      [](SandboxSpec& s) { s.image.layers[1].target = "/opt"; },
      [](SandboxSpec& s) { s.image.layers.pop_back(); },
      [](SandboxSpec& s) { s.image.layers.insert(s.image.layers.begin() + 1, {"/data/mask", "/usr"}); },
      [](SandboxSpec& s) { std::swap(s.image.layers[0], s.image.layers[1]); },
      [](SandboxSpec& s) { s.image.layers = {{"/data/rootfs:/|/usr", "/usr"}}; },
      [](SandboxSpec& s) { s.gated = true; },
  };
  const auto plain = kind_of(some_spec(), false);
  ASSERT_TRUE(plain);
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_NE(changed(changes[i]), plain) << "change " << i;
    for (size_t j = 0; j < i; ++j) EXPECT_NE(changed(changes[i]), changed(changes[j])) << i << " and " << j;
  }
}

TEST(SandboxKindTest, WhatComesWithTheProcessesMakesNone) {
  const std::vector<Change> changes = {
      [](SandboxSpec& s) { s.limits.wall_ms += 1; },        [](SandboxSpec& s) { s.limits.output_bytes += 1; },
      [](SandboxSpec& s) { s.limits.argument_bytes += 1; }, [](SandboxSpec& s) { s.limits.return_bytes += 1; },
      [](SandboxSpec& s) { s.environment["A"] = "1"; },     [](SandboxSpec& s) { s.user = "root"; },
      [](SandboxSpec& s) { s.require_full_seal = true; },
  };
  for (size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changed(changes[i]), kind_of(some_spec(), false)) << i;
}

TEST(SandboxKindTest, WhatAGateLetsThroughMakesNone) {
  const auto with = [](NetworkPreset preset) {
    return changed([&](SandboxSpec& s) { s.network.layers = {preset_layer(preset, "test", {"pypi.org"})}; });
  };
  EXPECT_EQ(with(NetworkPreset::kNone), kind_of(some_spec(), false));
  EXPECT_NE(with(NetworkPreset::kOpen), kind_of(some_spec(), false));
  EXPECT_EQ(with(NetworkPreset::kOpen), with(NetworkPreset::kPackages));
}

TEST(SandboxKindTest, ASandboxWithOneUserForLifeIsOfThatUsersKind) {
  const auto plain = kind_of(some_spec(), true);
  const auto root = changed([](SandboxSpec& s) { s.user = "root"; }, true);
  EXPECT_NE(root, plain);
  EXPECT_NE(changed([](SandboxSpec& s) { s.image.user = "app"; }, true), plain);
  EXPECT_EQ(changed([](SandboxSpec& s) { s.image.user = "root"; }, true), root);
}

TEST(SandboxKindTest, WhatIsNotPlainHasNoBlank) {
  EXPECT_FALSE(changed([](SandboxSpec& s) { s.mounts.push_back({"/data", "/data", true}); }));
  EXPECT_FALSE(changed([](SandboxSpec& s) { s.root = RootMode::kTemplate; }));
  EXPECT_FALSE(changed([](SandboxSpec& s) { s.syscalls = SyscallProfile::kZygote; }));
  EXPECT_FALSE(changed([](SandboxSpec& s) { s.caps = kZygoteCaps; }));
}

}  // namespace
}  // namespace bj
