#include "control/template_export.h"

#include <gtest/gtest.h>

#include "base/change.h"
#include "engine/engine_test_support.h"

namespace bj {
namespace {

TEST(TemplateExportTest, OneOverTheMachinesSystemSaysThatItHoldsAllOfIt) {
  TemplateContent content;
  EXPECT_NE(what_is_exported(content).find("this machine's own system"), std::string::npos);
  content.root = "alpine";
  EXPECT_EQ(what_is_exported(content), "");
  content.root = "image:0123";
  EXPECT_EQ(what_is_exported(content), "");
}

using TemplateExportStory = EngineStory;

// Once, each held one of the engine's two workers as long as its tar liked: nobody else's files could be read.
TEST_F(TemplateExportStory, AnExportWhoseTarTakesItsTimeHoldsNobodyUp) {
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    ResolvedTemplate slow;
    BJ_CO_TRY(slow.image, engine.templates().find("base"));
    BJ_CO_CHECK(make_directories(data_ + "/slow/bin", 0755));
    BJ_CO_CHECK(write_file_atomically(data_ + "/slow/bin/tar", "#!/bin/sh\necho a; sleep 3; echo b\n", 0755));
    slow.image.layers.insert(slow.image.layers.begin() + 1, {data_ + "/slow", "/usr"});
    TemplateExporter exporter(engine, data_ + "/exports", Limits());
    std::vector<std::shared_ptr<OneShot<Result<ExportedTemplate>>>> exports;
    Change told(engine.host().executor);
    std::set<int> begun;
    for (int i = 0; i < 2; ++i) {
      exports.push_back(std::make_shared<OneShot<Result<ExportedTemplate>>>(engine.host().executor));
      spawn(engine.host().executor, [&, i, slow, done = exports.back()]() -> Task<void> {
        done->set(co_await exporter.export_archive("org", slow, "slow", [&, i](uint64_t) {
          begun.insert(i);
          told.tell();
        }));
      });
    }
    while (begun.size() < 2) co_await told.wait();  // their tars sleep now
    const Clock::time_point before = Clock::now();
    EXPECT_EQ(co_await offload(*engine.host().workers, [] { return 1; }), 1);
    EXPECT_LT(Clock::now() - before, std::chrono::milliseconds(1000));
    for (const auto& one : exports) {
      BJ_CO_TRY(const Result<ExportedTemplate> made, co_await one->get());
      EXPECT_TRUE(made) << made.error().what;
    }
    co_return Result<void>();
  });
}

TEST_F(TemplateExportStory, AnOrganizationHasSoManyArchivesAtATimeAndOthersHaveTheirs) {
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    ResolvedTemplate from;
    BJ_CO_TRY(from.image, engine.templates().find("base"));
    BJ_CO_CHECK(make_directories(data_ + "/quick/bin", 0755));
    BJ_CO_CHECK(write_file_atomically(data_ + "/quick/bin/tar", "#!/bin/sh\necho a\n", 0755));
    from.image.layers.insert(from.image.layers.begin() + 1, {data_ + "/quick", "/usr"});
    TemplateExporter exporter(engine, data_ + "/exports", Limits());
    const ExportProgress nobody = [](uint64_t) {};
    std::vector<ExportedTemplate> held;
    for (int i = 0; i < TemplateExporter::kMostArchives; ++i) {
      BJ_CO_TRY(ExportedTemplate made, co_await exporter.export_archive("org", from, "one", nobody));
      held.push_back(std::move(made));
    }
    const auto more = co_await exporter.export_archive("org", from, "one", nobody);
    EXPECT_FALSE(more);
    if (!more) EXPECT_EQ(more.error().code, Code::kExhausted);
    EXPECT_TRUE(co_await exporter.export_archive("other", from, "one", nobody));
    held.pop_back();
    EXPECT_TRUE(co_await exporter.export_archive("org", from, "one", nobody));
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
