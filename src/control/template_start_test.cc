#include "control/template_start.h"

#include "engine/engine_test_support.h"

namespace bj {
namespace {

using TemplateStartTest = EngineStory;

TEST_F(TemplateStartTest, AReadyCommandIsRunUntilItSucceeds) {
  tell({}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await sandbox_of(engine));
    ProcessTable processes(engine.host().executor, sandbox);
    Template image;
    image.start_command = "sleep 0.3; touch ready; sleep 100";
    image.ready_command = "test -e ready";
    BJ_CO_CHECK(co_await start_template(processes, image, std::chrono::seconds(60)));
    image.ready_command = "false";
    const Result<void> never = co_await start_template(processes, image, std::chrono::seconds(0));
    EXPECT_FALSE(never);
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

// Once, it was waited for without an end, with one of the few places in which sandboxes are made.
TEST_F(TemplateStartTest, AReadyCommandThatDoesNotEndIsAFailureInTime) {
  tell({}, [](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const std::shared_ptr<Sandbox> sandbox, co_await sandbox_of(engine));
    ProcessTable processes(engine.host().executor, sandbox);
    Template image;
    image.ready_command = "sleep 1000";
    const Result<void> ready = co_await start_template(processes, image, std::chrono::seconds(1));
    EXPECT_FALSE(ready);
    if (!ready) EXPECT_NE(ready.error().what.find("within 1 s"), std::string::npos) << ready.error().what;
    co_await sandbox->destroy();
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
