#include "control/template_catalog.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr std::string_view kImagePrefix = "image:";
constexpr size_t kMostTags = 32;

tl::unexpected<Error> no_such(const std::string& name) {
  return fail(Code::kNotFound, "there is no template \"" + name + "\": `belljar template list` shows those that are");
}

std::string tags_text(const std::vector<std::string>& tags) {
  return boost::json::serialize(boost::json::array(tags.begin(), tags.end()));
}

Result<void> check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > kMostTags) return fail(Code::kInvalid, "a build may get 32 tags at a time");
  for (const std::string& tag : tags) BJ_CHECK(check_tag(tag));
  return {};
}

}  // namespace

TemplateCatalog::TemplateCatalog(Store& store, TemplateParts parts)
    : templates_(store.database()), builds_(store.database()), parts_(std::move(parts)) {}

Result<HeldTemplate> TemplateCatalog::image_of(const std::string& name, const TemplateContent& content) const {
  const bool pulled = content.root.starts_with(kImagePrefix);
  BJ_TRY(Template image,
         pulled ? parts_.images.find(content.root.substr(kImagePrefix.size())) : parts_.machine.find(content.root));
  image.name = name;
  TemplateHold hold;
  if (!content.layers.empty()) {
    BJ_TRY(hold, parts_.stack(image, content.layers));
  }
  if (!content.user.empty()) image.user = content.user;
  if (!content.workdir.empty()) image.workdir = content.workdir;
  for (const auto& [key, value] : content.environment) image.environment[key] = value;
  image.start_command = content.start_command;
  image.ready_command = content.ready_command;
  return HeldTemplate{std::move(image), std::move(hold)};
}

Result<std::optional<TemplateView>> TemplateCatalog::find_row(const std::string& organization,
                                                              const TemplateReference& reference) {
  const bool own_space = reference.space.empty() || reference.space == organization;
  const auto look_in = [&](const std::string& whose) -> Result<std::optional<TemplateView>> {
    BJ_TRY(std::optional<std::string> id, templates_.id_of_name(whose, reference.name));
    if (!id && is_template_id(reference.name)) id = reference.name;
    if (!id) return std::nullopt;
    Result<TemplateView> view = templates_.get(whose, *id);
    if (view) return std::move(*view);
    if (view.error().code != Code::kNotFound) return tl::unexpected(view.error());
    return std::nullopt;
  };
  if (own_space) {
    BJ_TRY(std::optional<TemplateView> own, look_in(organization));
    if (own || !reference.space.empty()) return own;
  }
  const std::string whose = reference.space.empty() ? kDefaultOrganization : reference.space;
  BJ_TRY(std::optional<TemplateView> theirs, look_in(whose));
  if (theirs && theirs->row.is_public) return theirs;
  if (reference.space.empty() && is_template_id(reference.name)) return templates_.find_public(reference.name);
  return std::nullopt;
}

Result<ResolvedTemplate> TemplateCatalog::of_row(const TemplateView& view, const TemplateReference& reference) {
  BJ_TRY(const std::optional<TemplateBuildRow> build, builds_.of_tag(view.row.id, reference.tag));
  if (!build || !build->content) {
    const bool others = view.newest && view.newest->status == "ready";
    if (reference.tag != kDefaultTag || others)
      return fail(Code::kNotFound, "template \"" + reference.name + "\" has no tag \"" + reference.tag + "\"");
    const std::string status = view.newest ? view.newest->status : "waiting";
    return fail(Code::kConflict,
                "template \"" + reference.name + "\" has no build that is ready: its newest is \"" + status + "\"");
  }
  ResolvedTemplate resolved;
  resolved.id = view.row.id;
  resolved.build = build->id;
  resolved.names = view.names;
  resolved.is_public = view.row.is_public;
  resolved.cpus = view.row.cpus;
  resolved.memory_bytes = view.row.memory_bytes;
  BJ_TRY(resolved.content, read_content(*build->content));
  if (view.row.network) add_network(resolved.content, *view.row.network);
  BJ_TRY(HeldTemplate held, image_of(view.names.empty() ? view.row.id : view.names.front(), resolved.content));
  resolved.image = std::move(held.image);
  resolved.hold = std::move(held.hold);
  return resolved;
}

// Names of the machine's own are file names; of ids, one is looked for among them.
Result<ResolvedTemplate> TemplateCatalog::of_machine(const TemplateReference& reference) const {
  std::string name = reference.name;
  if (is_template_id(name)) {
    BJ_TRY(const std::vector<std::string> names, parts_.machine.names());
    for (const std::string& one : names) {
      if (machine_template_id(one) == reference.name) name = one;
    }
  }
  if (!reference.space.empty() || reference.tag != kDefaultTag) return no_such(reference.name);
  ResolvedTemplate resolved;
  BJ_TRY(resolved.image, parts_.machine.find(name));
  resolved.id = machine_template_id(name);
  resolved.names = {name};
  resolved.is_public = true;
  resolved.content.root = name;
  return resolved;
}

Result<ResolvedTemplate> TemplateCatalog::resolve(const std::string& organization, const std::string& text) {
  BJ_TRY(const TemplateReference reference, parse_template_reference(text));
  if (reference.name == "base") return of_machine(reference);  // nobody else's can be called so
  BJ_TRY(const std::optional<TemplateView> view, find_row(organization, reference));
  if (view) return of_row(*view, reference);
  Result<ResolvedTemplate> found = of_machine(reference);
  const auto alias = parts_.aliases.find(reference.name);
  const bool other = !found && alias != parts_.aliases.end() && reference.space.empty();
  return other ? resolve(organization, alias->second) : std::move(found);
}

Result<ResolvedTemplate> TemplateCatalog::resolve_to_spawn(const std::string& organization, const std::string& text) {
  BJ_TRY(ResolvedTemplate resolved, resolve(organization, text));
  if (!resolved.build.empty()) BJ_CHECK(templates_.count_spawn(resolved.id, now_us()));
  return resolved;
}

Result<TemplateView> TemplateCatalog::own(const std::string& organization, const std::string& text) {
  BJ_TRY(const TemplateReference reference, parse_template_reference(text));
  if (!reference.space.empty() && reference.space != organization) return no_such(text);
  BJ_TRY(const std::optional<std::string> id, templates_.id_of_name(organization, reference.name));
  if (!id && !is_template_id(reference.name)) return no_such(text);
  Result<TemplateView> view = templates_.get(organization, id.value_or(reference.name));
  if (!view && view.error().code == Code::kNotFound) return no_such(text);
  return view;
}

Result<std::vector<TemplateView>> TemplateCatalog::list(const std::string& organization, const TemplateFilter& filter,
                                                        const Page& page) {
  return templates_.list(organization, filter, page);
}

Result<std::vector<TemplateView>> TemplateCatalog::for_everybody() {
  BJ_TRY(const std::vector<std::string> names, parts_.machine.names());
  std::vector<TemplateView> views;
  for (const std::string& name : names) {
    TemplateView view;
    view.row.id = machine_template_id(name);
    view.row.is_public = true;
    view.names = {name};
    views.push_back(std::move(view));
  }
  BJ_TRY(std::vector<TemplateView> shared, templates_.list_public(kDefaultOrganization));
  std::move(shared.begin(), shared.end(), std::back_inserter(views));
  return views;
}

Result<void> TemplateCatalog::set_public(const std::string& organization, const std::string& text, bool is_public) {
  BJ_TRY(const TemplateView view, own(organization, text));
  return templates_.set_public(organization, view.row.id, is_public);
}

Result<TemplateView> TemplateCatalog::set_network(const std::string& organization, const std::string& text,
                                                  const MaybeText& policy) {
  BJ_TRY(const TemplateView view, own(organization, text));
  BJ_CHECK(templates_.set_network(organization, view.row.id, policy, now_us()));
  return own(organization, view.row.id);
}

Result<TemplateView> TemplateCatalog::remove(const std::string& organization, const std::string& text) {
  BJ_TRY(const TemplateView view, own(organization, text));
  return templates_.remove(organization, view.row.id);
}

// The name without its tag, which goes to the tags. What the machine calls its own can't be taken.
Result<std::string> TemplateCatalog::check_new_name(const std::string& name, std::vector<std::string>& tags) const {
  BJ_TRY(const TemplateReference reference, parse_template_reference(name));
  if (!reference.space.empty()) return fail(Code::kInvalid, "a new template's name has no namespace");
  if (is_template_id(reference.name))
    return fail(Code::kInvalid, "\"" + reference.name + "\" could be an id: choose another name");
  BJ_TRY(const std::vector<std::string> taken, parts_.machine.names());
  if (std::find(taken.begin(), taken.end(), reference.name) != taken.end())
    return fail(Code::kConflict, "\"" + reference.name + "\" is this machine's own template: choose another name");
  const bool said = name.find(':') != std::string::npos;
  if (said && std::find(tags.begin(), tags.end(), reference.tag) == tags.end()) tags.push_back(reference.tag);
  return reference.name;
}

Result<TemplateCatalog::Begun> TemplateCatalog::add_build(const Actor& actor, const NewBuild& wanted) {
  Begun begun;
  begun.tags = wanted.tags;
  BJ_TRY(const std::string name, check_new_name(wanted.name, begun.tags));
  if (begun.tags.empty()) begun.tags = {kDefaultTag};
  BJ_CHECK(check_tags(begun.tags));
  TemplateRow row;
  row.id = new_template_id();
  row.cpus = wanted.cpus;
  row.memory_bytes = wanted.memory_bytes;
  row.network = wanted.network;
  row.created_at = row.updated_at = now_us();
  TemplateBuildRow build;
  build.id = new_uuid4();
  build.tags = tags_text(begun.tags);
  build.created_at = build.updated_at = row.created_at;
  BJ_TRY(begun.made, templates_.add_build(actor, name, row, build));
  return begun;
}

Result<TemplateCatalog::Begun> TemplateCatalog::add_snapshot(const Actor& actor, const NewSnapshot& snapshot,
                                                             const TemplateTable::Also& also) {
  Begun begun;
  std::string name;
  if (!snapshot.name.empty()) {
    BJ_TRY(name, check_new_name(snapshot.name, begun.tags));
  }
  if (begun.tags.empty()) begun.tags = {kDefaultTag};
  TemplateRow row;
  row.id = new_template_id();
  row.kind = snapshot.kind;
  if (!snapshot.sandbox.empty()) row.sandbox = snapshot.sandbox;
  row.cpus = snapshot.cpus;
  row.memory_bytes = snapshot.memory_bytes;
  row.created_at = row.updated_at = now_us();
  TemplateBuildRow build;
  build.id = new_uuid4();
  build.status = "ready";
  build.tags = tags_text(begun.tags);
  build.content = content_text(snapshot.content);
  build.created_at = build.updated_at = row.created_at;
  build.finished_at = row.created_at;
  BJ_TRY(begun.made, templates_.add_ready(actor, name, row, build, begun.tags, also));
  return begun;
}

Result<std::vector<TemplateTagRow>> TemplateCatalog::tags(const std::string& organization, const std::string& text) {
  BJ_TRY(const TemplateReference reference, parse_template_reference(text));
  BJ_TRY(const std::optional<TemplateView> view, find_row(organization, reference));
  if (!view) return no_such(text);
  return templates_.tags(view->row.id);
}

Result<std::string> TemplateCatalog::add_tags(const std::string& organization, const std::string& target,
                                              const std::vector<std::string>& tags) {
  if (tags.empty()) return fail(Code::kInvalid, "no tag was given");
  BJ_CHECK(check_tags(tags));
  BJ_TRY(const TemplateReference reference, parse_template_reference(target));
  BJ_TRY(const TemplateView view, own(organization, target));
  BJ_TRY(const std::optional<TemplateBuildRow> build, builds_.of_tag(view.row.id, reference.tag));
  if (!build) return fail(Code::kNotFound, "template \"" + reference.name + "\" has no tag \"" + reference.tag + "\"");
  BJ_CHECK(templates_.set_tags(view.row.id, build->id, tags, now_us()));
  return build->id;
}

Result<void> TemplateCatalog::remove_tags(const std::string& organization, const std::string& text,
                                          const std::vector<std::string>& tags) {
  if (tags.empty()) return fail(Code::kInvalid, "no tag was given");
  BJ_CHECK(check_tags(tags));
  BJ_TRY(const TemplateView view, own(organization, text));
  BJ_TRY(const int64_t removed, templates_.remove_tags(view.row.id, tags));
  if (removed == 0) return fail(Code::kNotFound, "the template has no such tag");
  return {};
}

Result<bool> TemplateCatalog::remove_one_of_its_tags(const std::string& organization, const std::string& text) {
  BJ_TRY(const TemplateReference reference, parse_template_reference(text));
  if (text.find(':') == std::string::npos) return false;
  BJ_TRY(const TemplateView view, own(organization, text));
  BJ_TRY(const std::vector<TemplateTagRow> tags, templates_.tags(view.row.id));
  const bool has = std::any_of(tags.begin(), tags.end(), [&](const auto& one) { return one.tag == reference.tag; });
  if (!has) return fail(Code::kNotFound, "template \"" + reference.name + "\" has no tag \"" + reference.tag + "\"");
  if (tags.size() == 1) return false;
  BJ_TRY(const int64_t removed, templates_.remove_tags(view.row.id, {reference.tag}));
  return removed > 0;
}

Result<std::string> TemplateCatalog::without_own_space(const std::string& organization, const std::string& name) {
  const std::string own = organization + "/";
  return name.starts_with(own) ? name.substr(own.size()) : name;
}

Result<void> TemplateCatalog::succeed(const TemplateBuildRow& build, const TemplateContent& content,
                                      const std::vector<std::string>& tags, int64_t now) {
  return builds_.succeed(build.id, content_text(content), tags, content.layers, now);
}

Result<std::optional<TemplateContent>> TemplateCatalog::cached(const std::string& organization,
                                                               const std::string& chain) {
  BJ_TRY(const std::optional<std::string> text, builds_.cached(organization, chain, now_us()));
  if (!text) return std::nullopt;
  Result<TemplateContent> content = read_content(*text);
  if (content && image_of("", *content)) return std::move(*content);
  BJ_CHECK(builds_.forget_cached(organization, chain));
  return std::nullopt;
}

Result<void> TemplateCatalog::remember(const std::string& organization, const std::string& chain,
                                       const TemplateContent& content) {
  return builds_.cache(organization, chain, content_text(content), content.layers, now_us());
}

}  // namespace bj
