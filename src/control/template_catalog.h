// The catalogue of templates: which there are, what a reference means for an organization, and what the engine makes a
// sandbox of.
//
// A reference (template_reference.h) is looked for among the organization's own templates and snapshots, by name or id;
// then among those that everybody has: the machine's own (`base`, and what was imported on this machine) and what the
// default organization made public. With a namespace it means a public template of that organization. Whatever else
// another organization has does not exist.
//
// Every function blocks: it is called on a worker. Any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/actor.h"
#include "control/template_content.h"
#include "control/template_reference.h"
#include "engine/templates/template.h"
#include "store/store.h"
#include "store/template_build_table.h"
#include "store/template_table.h"

namespace bj {

// Keeps the layers of a template from being removed.
using TemplateHold = std::shared_ptr<const void>;
struct HeldTemplate {
  Template image;
  TemplateHold hold;
};

// Where the parts of templates lie on this machine.
struct TemplateParts {
  const TemplateStore& machine;  // must outlive the catalogue
  TemplateStore images;          // pulled from registries, by digest
  // Puts layers over a template, the lowest first. They are not removed as long as what it yields is held.
  std::function<Result<TemplateHold>(Template& image, const std::vector<std::string>& layers)> stack;
  std::map<std::string, std::string> aliases{};  // what a name means when nobody has a template of that name
};

// What a reference means now.
struct ResolvedTemplate {
  std::string id;
  std::string build;               // empty: the machine's own
  std::vector<std::string> names;  // without a namespace
  bool is_public = false;
  double cpus = 0;  // 0: what a sandbox gets that asks for none
  int64_t memory_bytes = 0;
  TemplateContent content;
  Template image;
  TemplateHold hold;
};

// What becomes a template at once, without a build: the layers of a sandbox, say.
struct NewSnapshot {
  std::string name;  // "[name][:tag]"; empty: it has its id only
  std::string kind = "snapshot";
  std::string sandbox;      // whose it is
  TemplateContent content;  // the sandbox's own template's, with its layers over it
  double cpus = 0;
  int64_t memory_bytes = 0;
};

class TemplateCatalog {
 public:
  // The store must outlive it.
  TemplateCatalog(Store& store, TemplateParts parts);

  // kNotFound, with what to do; kConflict: its build is not ready; kInvalid: it is no reference.
  Result<ResolvedTemplate> resolve(const std::string& organization, const std::string& reference);
  // The same for a sandbox that is about to be made of it: counted.
  Result<ResolvedTemplate> resolve_to_spawn(const std::string& organization, const std::string& reference);
  // What a content is for the engine.
  Result<HeldTemplate> image_of(const std::string& name, const TemplateContent& content) const;

  // One of the organization's own, by id or name; the tag is not looked at.
  Result<TemplateView> own(const std::string& organization, const std::string& reference);
  Result<std::vector<TemplateView>> list(const std::string& organization, const TemplateFilter& filter,
                                         const Page& page);
  // What everybody has: the machine's own and the default organization's public ones, as views without builds or with.
  Result<std::vector<TemplateView>> for_everybody();
  Result<void> set_public(const std::string& organization, const std::string& id, bool is_public);
  // A policy (JSON) within which sandboxes made of it from now on stay; nothing: none. Yields what it is then.
  Result<TemplateView> set_network(const std::string& organization, const std::string& reference,
                                   const MaybeText& policy);
  // Sandboxes that were made of it live on: its layers go when nobody needs them.
  Result<TemplateView> remove(const std::string& organization, const std::string& reference);

  // The next build of the template of that name, `waiting`; it is made if there is none. `name` may have a tag, which
  // the build gets beside `tags`; without any it is "default".
  struct NewBuild {
    std::string name;
    std::vector<std::string> tags;
    double cpus = 0;
    int64_t memory_bytes = 0;
    MaybeText network;  // JSON; nothing: as it was
  };
  struct Begun {
    TemplateTable::Made made;
    std::vector<std::string> tags;
  };
  Result<Begun> add_build(const Actor& actor, const NewBuild& wanted);
  // A snapshot is a template that is ready at once. Yields its id, names and tags.
  Result<Begun> add_snapshot(const Actor& actor, const NewSnapshot& snapshot, const TemplateTable::Also& also = {});

  Result<std::vector<TemplateTagRow>> tags(const std::string& organization, const std::string& reference);
  // Lets more tags mean what the target ("name:tag") means. Yields the build.
  Result<std::string> add_tags(const std::string& organization, const std::string& target,
                               const std::vector<std::string>& tags);
  Result<void> remove_tags(const std::string& organization, const std::string& reference,
                           const std::vector<std::string>& tags);
  // Takes the tag that the reference names away if the template has others, whose content must stay. Yields whether it
  // did: if not, nothing was done, and the reference means the template as a whole. kNotFound: it has no such tag.
  Result<bool> remove_one_of_its_tags(const std::string& organization, const std::string& reference);

  // "organization/name:tag" of one's own as "name:tag".
  static Result<std::string> without_own_space(const std::string& organization, const std::string& name);

  // A build is ready, made of this.
  Result<void> succeed(const TemplateBuildRow& build, const TemplateContent& content,
                       const std::vector<std::string>& tags, int64_t now);
  // What these steps led to before, if all of it is still there.
  Result<std::optional<TemplateContent>> cached(const std::string& organization, const std::string& chain);
  Result<void> remember(const std::string& organization, const std::string& chain, const TemplateContent& content);

  TemplateTable& table() { return templates_; }
  TemplateBuildTable& builds() { return builds_; }
  const TemplateParts& parts() const { return parts_; }

 private:
  Result<std::optional<TemplateView>> find_row(const std::string& organization, const TemplateReference& reference);
  Result<ResolvedTemplate> of_row(const TemplateView& view, const TemplateReference& reference);
  Result<ResolvedTemplate> of_machine(const TemplateReference& reference) const;
  Result<std::string> check_new_name(const std::string& name, std::vector<std::string>& tags) const;

  TemplateTable templates_;
  TemplateBuildTable builds_;
  TemplateParts parts_;
};

}  // namespace bj
