// A live sandbox's files as a layer, on this machine's kernel: needs root (a sandbox is frozen by its control group),
// else it is skipped with the reason.
#include "engine/engine_test_support.h"

namespace bj {
namespace {

class SandboxLayerTest : public EngineStory {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    EngineStory::SetUp();
  }
  void tell(const std::function<Task<Result<void>>(Engine&)>& story) { EngineStory::tell({}, story); }
};

TEST_F(SandboxLayerTest, AnotherSandboxOnItHasTheFilesAndChangesNothingInTheFirst) {
  tell([](Engine& engine) -> Task<Result<void>> {
    SandboxSpec spec;
    BJ_CO_TRY(spec.image, engine.templates().find("base"));
    BJ_CO_TRY(const std::shared_ptr<Sandbox> first, co_await engine.create_sandbox(spec));
    BJ_CO_CHECK(
        co_await output(*first,
                        "echo one > /home/user/note; rm /usr/bin/yes; rm -r /etc/profile.d; mkdir /etc/profile.d; "
                        "echo mine > /etc/profile.d/only; install -o 4242 /dev/null /tmp/owned",
                        "root"));
    BJ_CO_TRY(const Layer layer, co_await first->seal_layer(engine.layers()));
    EXPECT_FALSE(first->paused());
    EXPECT_EQ(layer.trees.size(), 2u) << "of / and of /usr";
    spec.image = stacked(spec.image, layer);
    BJ_CO_TRY(const std::shared_ptr<Sandbox> second, co_await engine.create_sandbox(spec));
    BJ_CO_TRY(const std::string seen,
              co_await output(*second,
                              "cat /home/user/note; ls /usr/bin/yes /etc/profile.d 2>/dev/null; stat -c %u /tmp/owned; "
                              "echo two > /home/user/note"));
    EXPECT_EQ(seen, "one\n/etc/profile.d:\nonly\n4242\n");
    BJ_CO_TRY(const std::string before, co_await output(*first, "cat /home/user/note"));
    EXPECT_EQ(before, "one\n");
    const char* const kBoot = "cat /proc/sys/kernel/random/boot_id";
    BJ_CO_TRY(const std::string one, co_await output(*first, kBoot));
    BJ_CO_TRY(const std::string two, co_await output(*second, kBoot));
    EXPECT_EQ(one.size(), 37u);
    EXPECT_NE(one, two);
    co_await first->destroy();
    co_await second->destroy();
    co_return Result<void>();
  });
}

TEST_F(SandboxLayerTest, AResumeGivesTheCopyOfAPausedOneUp) {
  tell([](Engine& engine) -> Task<Result<void>> {
    SandboxSpec spec;
    BJ_CO_TRY(spec.image, engine.templates().find("base"));
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await engine.create_sandbox(spec));
    BJ_CO_CHECK(co_await output(*sandbox, "head -c 100000000 /dev/zero > big"));
    BJ_CO_CHECK(co_await sandbox->pause());
    auto sealed = std::make_shared<OneShot<Result<Layer>>>(engine.host().executor);
    spawn(engine.host().executor,
          [&engine, sandbox, sealed]() -> Task<void> { sealed->set(co_await sandbox->seal_layer(engine.layers())); });
    co_await asio::post(engine.host().executor, asio::use_awaitable);  // it has begun
    BJ_CO_CHECK(sandbox->resume());
    BJ_CO_TRY(const Result<Layer> layer, co_await sealed->get());
    EXPECT_FALSE(layer);
    if (!layer) EXPECT_EQ(layer.error().code, Code::kConflict);
    EXPECT_TRUE(engine.layers().ids()->empty());
    BJ_CO_TRY(const std::string alive, co_await output(*sandbox, "echo alive"));
    EXPECT_EQ(alive, "alive\n");
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

// Once, the end of the copy woke it, and a sandbox that was said to be paused ran on.
TEST_F(SandboxLayerTest, APauseWhileItsFilesAreCopiedHoldsBeyondThat) {
  tell([](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await sandbox_of(engine));
    BJ_CO_CHECK(co_await output(*sandbox, "head -c 100000000 /dev/zero > big"));
    auto sealed = std::make_shared<OneShot<Result<Layer>>>(engine.host().executor);
    spawn(engine.host().executor,
          [&engine, sandbox, sealed]() -> Task<void> { sealed->set(co_await sandbox->seal_layer(engine.layers())); });
    co_await asio::post(engine.host().executor, asio::use_awaitable);  // it has begun
    BJ_CO_CHECK(co_await sandbox->pause());
    BJ_CO_TRY(const Result<Layer> layer, co_await sealed->get());
    EXPECT_TRUE(layer) << layer.error().what;
    EXPECT_TRUE(sandbox->paused());
    BJ_CO_CHECK(sandbox->resume());
    BJ_CO_TRY(const std::string alive, co_await output(*sandbox, "echo alive"));
    EXPECT_EQ(alive, "alive\n");
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

TEST_F(SandboxLayerTest, ItsMountCanBeTakenAwayAndItsFilesRemovedWhileOthersGoOn) {
  tell([](Engine& engine) -> Task<Result<void>> {
    SandboxSpec spec;
    BJ_CO_TRY(spec.image, engine.templates().find("base"));
    const Template base = spec.image;
    for (int i = 0; i < 3; ++i) {
      spec.image = base;
      BJ_CO_TRY(const std::shared_ptr<Sandbox> first, co_await engine.create_sandbox(spec));
      BJ_CO_CHECK(co_await output(*first, "echo " + std::to_string(i) + " > note"));
      BJ_CO_TRY(Layer layer, co_await first->seal_layer(engine.layers()));
      co_await first->destroy();
      spec.image = stacked(base, layer);
      BJ_CO_TRY(const std::shared_ptr<Sandbox> second, co_await engine.create_sandbox(spec));
      BJ_CO_CHECK(co_await engine.host().launcher->drop_layers(engine.layers().directory() + "/" + layer.id));
      BJ_CO_TRY(const std::string seen, co_await output(*second, "cat note"));
      EXPECT_EQ(seen, std::to_string(i) + "\n");
      co_await second->destroy();
      layer.hold.reset();
      BJ_CO_CHECK(engine.layers().remove(layer.id));
    }
    EXPECT_TRUE(engine.layers().ids()->empty());
    co_return Result<void>();
  });
}

// Once, what the launcher passes to a new sandbox was bounded below what the plan takes.
TEST_F(SandboxLayerTest, ASandboxCanHaveAsManyLayersAndMountsAsAPlanTakes) {
  tell([this](Engine& engine) -> Task<Result<void>> {
    SandboxSpec spec;
    BJ_CO_TRY(spec.image, engine.templates().find("base"));
    for (int i = 0; spec.image.layers.size() < kMaxLayers; ++i) {
      const std::string layer = data_ + "/layer" + std::to_string(i);
      BJ_CO_CHECK(make_directories(layer, 0755));
      BJ_CO_CHECK(write_file_atomically(layer + "/of_a_layer" + std::to_string(i), "", 0644));
      spec.image.layers.insert(spec.image.layers.begin(), {layer, "/"});
    }
    const size_t added = spec.image.layers.size() - engine.templates().find("base")->layers.size();
    const std::string deep = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o";
    for (int i = 0; i < kMaxExtraMounts; ++i) {
      const std::string source = data_ + "/mount" + std::to_string(i);
      BJ_CO_CHECK(make_directories(source + "/of_a_mount", 0755));
      spec.mounts.push_back({.source = source, .target = "/m" + std::to_string(i) + deep});
    }
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await engine.create_sandbox(spec));
    BJ_CO_TRY(const std::string seen,
              co_await output(*sandbox, "ls -d /of_a_layer* | wc -l; ls -d /m*" + deep + "/of_a_mount | wc -l"));
    EXPECT_EQ(seen, std::to_string(added) + "\n" + std::to_string(kMaxExtraMounts) + "\n");
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
