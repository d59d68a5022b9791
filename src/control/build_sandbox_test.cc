#include "control/build_sandbox.h"

#include "engine/engine_test_support.h"

namespace bj {
namespace {

using BuildSandboxTest = EngineStory;

// Once, it was waited for without an end, with one of the few places for builds.
TEST_F(BuildSandboxTest, AReadyCommandThatDoesNotEndIsAFailureInTime) {
  tell({}, [](Engine& engine) -> Task<Result<void>> {
    HeldTemplate base;
    BJ_CO_TRY(base.image, engine.templates().find("base"));
    BJ_CO_TRY(const std::shared_ptr<BuildSandbox> sandbox, co_await BuildSandbox::create(engine, base, {}));
    TemplateContent content;
    content.ready_command = "sleep 1000";
    const auto nobody = [](std::string_view, std::string_view) {};
    const Result<void> ready = co_await sandbox->become_ready(content, std::chrono::seconds(1), nobody);
    EXPECT_FALSE(ready);
    if (!ready) EXPECT_NE(ready.error().what.find("within 1 s"), std::string::npos) << ready.error().what;
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
