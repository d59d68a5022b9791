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

struct TemplateExportStory : EngineStory {
  // The base template with a tar of ours.
  Result<ResolvedTemplate> packed_by(Engine& engine, const std::string& script) {
    ResolvedTemplate from;
    BJ_TRY(from.image, engine.templates().find("base"));
    BJ_CHECK(make_directories(data_ + "/own/bin", 0755));
    BJ_CHECK(write_file_atomically(data_ + "/own/bin/tar", "#!/bin/sh\n" + script + "\n", 0755));
    from.image.layers.insert(from.image.layers.begin() + 1, {data_ + "/own", "/usr"});
    return from;
  }
};

// Once, each held one of the engine's two workers as long as its tar liked: nobody else's files could be read.
TEST_F(TemplateExportStory, AnExportWhoseTarTakesItsTimeHoldsNobodyUp) {
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const ResolvedTemplate slow, packed_by(engine, "echo a; sleep 3; echo b"));
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
          return true;
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
    BJ_CO_TRY(const ResolvedTemplate from, packed_by(engine, "echo a"));
    TemplateExporter exporter(engine, data_ + "/exports", Limits());
    const ExportProgress nobody = [](uint64_t) { return true; };
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

TEST_F(TemplateExportStory, AnExportThatNobodyWantsAnyMoreEnds) {
  tell({}, [this](Engine& engine) -> Task<Result<void>> {
    BJ_CO_TRY(const ResolvedTemplate endless, packed_by(engine, "exec sleep 1000"));
    TemplateExporter exporter(engine, data_ + "/exports", Limits());
    const auto made = co_await exporter.export_archive("org", endless, "endless", [](uint64_t) { return false; });
    EXPECT_FALSE(made);
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
