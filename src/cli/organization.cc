#include "cli/organization.h"

#include "cli/open_store.h"

namespace bj {
namespace {

// Its id; empty: there is none.
Result<std::string> find(Store& store, const std::string& organization) {
  BJ_TRY(const std::vector<OrganizationRow> known, store.organizations().list());
  std::string id;
  for (const OrganizationRow& row : known) {
    if (row.name == organization || row.id == organization) id = row.id;
  }
  return id;
}

// Its first user acts for it.
Result<Actor> actor_of(Store& store, const std::string& id, const std::string& name) {
  BJ_TRY(const std::vector<UserRow> users, store.users().list(id));
  if (!users.empty()) return Actor{id, users.front().id, "", Role::kAdmin};
  BJ_TRY(const UserRow user, store.users().create(id, name));
  return Actor{id, user.id, "", Role::kAdmin};
}

}  // namespace

Result<Actor> actor_in(Store& store, const std::string& organization) {
  if (organization.empty()) return local_actor();
  BJ_TRY(const std::string id, find(store, organization));
  if (id.empty()) {
    return fail(Code::kNotFound,
                "there is no organization \"" + organization + "\"; `belljar key create --organization` makes one");
  }
  return actor_of(store, id, organization);
}

Result<Actor> ensure_actor_in(Store& store, const std::string& organization) {
  if (organization.empty()) return local_actor();
  BJ_TRY(std::string id, find(store, organization));
  if (id.empty()) {
    BJ_TRY(const OrganizationRow made, store.organizations().create(organization));
    id = made.id;
  }
  return actor_of(store, id, organization);
}

Result<std::string> ensure_user(Store& store, const std::string& organization, const std::string& name) {
  BJ_TRY(const std::vector<UserRow> known, store.users().list(organization));
  for (const UserRow& user : known) {
    if (user.name == name || user.id == name) return user.id;
  }
  BJ_TRY(const UserRow made, store.users().create(organization, name));
  return made.id;
}

void add_organization_flag(CLI::App& command, std::string& into) {
  command.add_option("--organization", into, "whose, by name or id [default]")->type_name("NAME");
}

}  // namespace bj
