// Templates: whose they are, what they are called, how their builds stand, which build a tag means. What a template is
// made of is JSON that src/control writes and reads; the store keeps the words.
//
// A name belongs to one template of its organization, a tag to one build of its template. Rows of another organization
// are never found, except by the two functions that say so.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

struct TemplateRow {
  Text id;
  Text organization;
  Text kind = "template";  // template | snapshot
  MaybeText sandbox;       // of a snapshot: whose it is
  bool is_public = false;  // others may make sandboxes of it
  double cpus = 0;         // 0: as many as a sandbox that asks for none
  int64_t memory_bytes = 0;
  MaybeText network;  // JSON: a policy within which its sandboxes stay
  int64_t spawn_count = 0;
  std::optional<int64_t> last_spawned_at;
  int64_t created_at = 0;
  int64_t updated_at = 0;
  MaybeText created_by;
};

struct TemplateBuildRow {
  Text id;
  Text organization;
  Text template_id;
  Text status = "waiting";  // waiting | building | ready | error
  Text reason_step;         // of an error: "base", the number of a step, "finalize"
  Text reason_message;
  MaybeText node;       // the server instance that builds
  Text tags = "[]";     // JSON array: what it will be called when it is ready
  Text request = "{}";  // JSON
  MaybeText content;    // JSON, of one that is ready
  int64_t created_at = 0;
  int64_t updated_at = 0;
  std::optional<int64_t> finished_at;
};

struct TemplateTagRow {
  Text tag;
  Text build;
  int64_t created_at = 0;
};

// A template with its names and its newest build.
struct TemplateView {
  TemplateRow row;
  std::vector<std::string> names;
  std::optional<TemplateBuildRow> newest;
  int64_t builds = 0;
};

struct TemplateFilter {
  MaybeText kind;
  MaybeText sandbox;
  MaybeText name;
};

class TemplateTable {
 public:
  explicit TemplateTable(Database& database) : database_(database) {}

  // A build of the template called `name`, which is made if there is none of that name. An empty name: a template
  // without one. kConflict: the name is another kind's.
  struct Made {
    TemplateRow row;
    TemplateBuildRow build;
    std::vector<std::string> names;
  };
  Result<Made> add_build(const Actor& actor, const std::string& name, TemplateRow row, TemplateBuildRow build);
  // The same for one that is ready at once: `tags` mean it. What `also` writes is written with it, or nothing is.
  using Also = std::function<Result<void>(Transaction&, const Made&)>;
  Result<Made> add_ready(const Actor& actor, const std::string& name, TemplateRow row, TemplateBuildRow build,
                         const std::vector<std::string>& tags, const Also& also = {});

  Result<TemplateView> get(const std::string& organization, const std::string& id);
  Result<std::optional<std::string>> id_of_name(const std::string& organization, const std::string& name);
  // Of any organization, if it is public.
  Result<std::optional<TemplateView>> find_public(const std::string& id);
  Result<std::vector<TemplateView>> list(const std::string& organization, const TemplateFilter& filter,
                                         const Page& page);
  Result<std::vector<TemplateView>> list_public(const std::string& organization);
  Result<void> set_public(const std::string& organization, const std::string& id, bool is_public);
  // Nothing: it has none from now on.
  Result<void> set_network(const std::string& organization, const std::string& id, const MaybeText& policy,
                           int64_t now);
  Result<void> count_spawn(const std::string& id, int64_t now);
  // With its names, builds, tags and logs; what they used of layers they use no more. Yields what it was.
  Result<TemplateView> remove(const std::string& organization, const std::string& id);

  Result<std::vector<TemplateTagRow>> tags(const std::string& template_id);
  // Lets the tags mean that build, whatever they meant before.
  Result<void> set_tags(const std::string& template_id, const std::string& build, const std::vector<std::string>& tags,
                        int64_t now);
  Result<int64_t> remove_tags(const std::string& template_id, const std::vector<std::string>& tags);

 private:
  Database& database_;
};

}  // namespace bj
