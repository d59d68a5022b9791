#include "control/template_catalog.h"

#include <sys/stat.h>

#include <fstream>

#include "store/store_test_support.h"

namespace bj {
namespace {

// A catalogue over a store of its own, with one imported template, `alpine`, on its machine.
class TemplateCatalogTest : public testing::Test {
 protected:
  TemplateCatalogTest() : machine_(directory_.path() + "/templates") {
    std::filesystem::create_directories(directory_.path() + "/templates/alpine/rootfs/etc");
    StoreOptions options;
    options.data_directory = directory_.path();
    store_ = std::move(*Store::open(std::move(options)));
    const auto stack = [](Template& image, const std::vector<std::string>& layers) -> Result<TemplateHold> {
      for (const std::string& layer : layers) image.layers.insert(image.layers.begin(), {"/layers/" + layer, "/"});
      return std::make_shared<int>(0);
    };
    catalog_ = std::make_unique<TemplateCatalog>(
        *store_,
        TemplateParts{machine_, TemplateStore(directory_.path() + "/images"), stack, {{"other-name", "alpine"}}});
    other_ = new_actor(*store_);
  }

  static TemplateContent content() {
    TemplateContent content;
    content.root = "alpine";
    content.layers = {"one", "two"};
    content.user = "root";
    content.workdir = "/code";
    content.environment = {{"A", "1"}};
    content.start_command = "serve";
    return content;
  }
  std::string snapshot(const Actor& actor, const std::string& name) {
    NewSnapshot snapshot;
    snapshot.name = name;
    snapshot.content = content();
    auto made = catalog_->add_snapshot(actor, snapshot);
    EXPECT_TRUE(made) << made.error().what;
    return made ? made->made.row.id : "";
  }
  Code code_of(const Actor& actor, const std::string& reference) {
    const auto resolved = catalog_->resolve(actor.organization, reference);
    EXPECT_FALSE(resolved) << reference;
    return resolved ? Code::kInternal : resolved.error().code;
  }

  ScratchDirectory directory_;
  TemplateStore machine_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<TemplateCatalog> catalog_;
  Actor mine_, other_;
};

TEST_F(TemplateCatalogTest, WhatTheMachineHasIsEverybodysByNameAndId) {
  const auto resolved = catalog_->resolve(other_.organization, "alpine");
  ASSERT_TRUE(resolved) << resolved.error().what;
  EXPECT_EQ(resolved->image.layers.size(), 1u);
  EXPECT_EQ(catalog_->resolve(other_.organization, resolved->id)->names.front(), "alpine");
  EXPECT_EQ(code_of(mine_, "alpine:v1"), Code::kNotFound);
  EXPECT_EQ(code_of(mine_, "nothing"), Code::kNotFound);
  EXPECT_EQ(code_of(mine_, "../alpine"), Code::kInvalid);
}

TEST_F(TemplateCatalogTest, AnAliasMeansAnotherUntilSomebodyHasATemplateOfThatName) {
  EXPECT_EQ(catalog_->resolve(mine_.organization, "other-name")->names.front(), "alpine");
  EXPECT_EQ(code_of(mine_, other_.organization + "/other-name"), Code::kNotFound);
  const std::string id = snapshot(mine_, "other-name");
  EXPECT_EQ(catalog_->resolve(mine_.organization, "other-name")->id, id);
}

TEST_F(TemplateCatalogTest, ASnapshotIsResolvedWithItsLayersOverItsRootAndItsDefaults) {
  snapshot(mine_, "work");
  const auto resolved = catalog_->resolve(mine_.organization, "work");
  ASSERT_TRUE(resolved) << resolved.error().what;
  ASSERT_EQ(resolved->image.layers.size(), 3u);
  EXPECT_EQ(resolved->image.layers[0].path, "/layers/two");
  EXPECT_EQ(resolved->image.user, "root");
  EXPECT_EQ(resolved->image.workdir, "/code");
  EXPECT_EQ(resolved->image.environment.at("A"), "1");
  EXPECT_EQ(resolved->image.start_command, "serve");
}

TEST_F(TemplateCatalogTest, AnothersTemplateDoesNotExistUnlessItIsPublic) {
  const std::string id = snapshot(mine_, "work");
  const std::string full = mine_.organization + "/work";
  EXPECT_EQ(code_of(other_, id), Code::kNotFound);
  EXPECT_EQ(code_of(other_, full), Code::kNotFound);
  EXPECT_EQ(code_of(other_, "work"), Code::kNotFound);
  EXPECT_FALSE(catalog_->set_public(other_.organization, id, true));
  EXPECT_FALSE(catalog_->remove(other_.organization, id));
  EXPECT_FALSE(catalog_->add_tags(other_.organization, id, {"x"}));
  EXPECT_FALSE(catalog_->remove_tags(other_.organization, id, {"default"}));
  EXPECT_FALSE(catalog_->tags(other_.organization, id));
  ASSERT_TRUE(catalog_->set_public(mine_.organization, "work", true));
  EXPECT_TRUE(catalog_->resolve(other_.organization, id));
  EXPECT_TRUE(catalog_->resolve(other_.organization, full));
  EXPECT_TRUE(catalog_->resolve(other_.organization, "work"));  // the default organization's public ones are all's
  EXPECT_FALSE(catalog_->remove(other_.organization, id));
}

TEST_F(TemplateCatalogTest, AnOrganizationsPublicTemplateNeedsItsNamespace) {
  snapshot(other_, "work");
  ASSERT_TRUE(catalog_->set_public(other_.organization, "work", true));
  EXPECT_EQ(code_of(mine_, "work"), Code::kNotFound);
  EXPECT_TRUE(catalog_->resolve(mine_.organization, other_.organization + "/work"));
}

TEST_F(TemplateCatalogTest, TagsMeanBuildsAndCanBeAddedAndTaken) {
  snapshot(mine_, "work:v1");
  EXPECT_EQ(code_of(mine_, "work"), Code::kNotFound);
  ASSERT_TRUE(catalog_->resolve(mine_.organization, "work:v1"));
  const auto build = catalog_->add_tags(mine_.organization, "work:v1", {"stable", "default"});
  ASSERT_TRUE(build) << build.error().what;
  EXPECT_EQ(catalog_->resolve(mine_.organization, "work")->build, *build);
  ASSERT_TRUE(catalog_->remove_tags(mine_.organization, "work", {"stable"}));
  EXPECT_EQ(code_of(mine_, "work:stable"), Code::kNotFound);
  EXPECT_EQ(catalog_->add_tags(mine_.organization, "work:v1", {"no tag"}).error().code, Code::kInvalid);
  EXPECT_EQ(catalog_->add_tags(mine_.organization, "work:v1", {}).error().code, Code::kInvalid);
}

TEST_F(TemplateCatalogTest, ATagIsTakenAloneAsLongAsThereAreOthers) {
  snapshot(mine_, "work:v1");
  snapshot(mine_, "work:v2");
  const std::string full = mine_.organization + "/work";
  EXPECT_EQ(catalog_->remove_one_of_its_tags(mine_.organization, "work").value(), false) << "it names none";
  EXPECT_EQ(catalog_->remove_one_of_its_tags(mine_.organization, "work:v3").error().code, Code::kNotFound);
  EXPECT_FALSE(catalog_->remove_one_of_its_tags(other_.organization, full + ":v1"));
  EXPECT_EQ(catalog_->remove_one_of_its_tags(mine_.organization, full + ":v1").value(), true);
  EXPECT_EQ(code_of(mine_, "work:v1"), Code::kNotFound);
  EXPECT_TRUE(catalog_->resolve(mine_.organization, "work:v2"));
  EXPECT_EQ(catalog_->remove_one_of_its_tags(mine_.organization, "work:v2").value(), false) << "the last one";
  EXPECT_TRUE(catalog_->resolve(mine_.organization, "work:v2"));
}

TEST_F(TemplateCatalogTest, ANewBuildWaitsAndItsTemplateIsNotReady) {
  const auto begun = catalog_->add_build(mine_, {"fresh:v2", {"latest"}, 2, 1 << 30, {}});
  ASSERT_TRUE(begun) << begun.error().what;
  EXPECT_EQ(begun->tags, (std::vector<std::string>{"latest", "v2"}));
  EXPECT_EQ(begun->made.build.status, "waiting");
  EXPECT_EQ(code_of(mine_, "fresh"), Code::kConflict);
}

TEST_F(TemplateCatalogTest, NamesOfTheMachineAndIdsCantBeTaken) {
  EXPECT_EQ(catalog_->add_build(mine_, {"base", {}, 0, 0, {}}).error().code, Code::kConflict);
  EXPECT_EQ(catalog_->add_build(mine_, {"alpine", {}, 0, 0, {}}).error().code, Code::kConflict);
  EXPECT_EQ(catalog_->add_build(mine_, {new_template_id(), {}, 0, 0, {}}).error().code, Code::kInvalid);
  EXPECT_EQ(catalog_->add_build(mine_, {"a/b", {}, 0, 0, {}}).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace bj
