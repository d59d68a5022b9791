// What the tables hold, as plain structures: one a table. Times are microseconds since the epoch. A member that says
// "JSON" holds JSON text, which the caller made and will parse: the store doesn't look inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/actor.h"
#include "base/secret.h"

namespace bj {

using Text = std::string;
using MaybeText = std::optional<std::string>;

// Which part of a list. `after` and `before` are ids of rows that are not part of the page; they follow the list's
// order. With `before` alone the page is the one that ends just before that row. An unknown cursor is kNotFound.
enum class Order { kAscending, kDescending };
struct Page {
  MaybeText after;
  MaybeText before;
  std::optional<int64_t> limit;  // none: everything
  Order order = Order::kAscending;
};

// Who made a row and when; the store fills this in.
struct Stamp {
  int64_t created_at = 0;
  int64_t updated_at = 0;
  MaybeText created_by;
  MaybeText updated_by;
};

struct OrganizationRow {
  Text id;
  Text name;
  int64_t created_at = 0;
};

struct UserRow {
  Text id;
  Text organization;
  Text name;
  int64_t created_at = 0;
};

struct ApiKeyRow {
  Text id;
  Text organization;
  Text user;
  Text name;
  Role role = Role::kMember;
  int64_t created_at = 0;
  std::optional<int64_t> last_used_at;
  std::optional<int64_t> revoked_at;
  KeyLimits limits;
};

struct ToolRow {
  Text id;  // empty at upsert: one is made
  Text organization;
  Text name;
  Text tool_type = "custom";
  MaybeText description;
  Text source_type = "python";
  MaybeText source_code;
  MaybeText json_schema;       // JSON object
  MaybeText args_json_schema;  // JSON object
  Text tags = "[]";            // JSON array of strings
  MaybeText pip_requirements;  // JSON array
  MaybeText npm_requirements;  // JSON array
  int64_t return_char_limit = 50'000;
  std::optional<bool> default_requires_approval;
  bool enable_parallel_execution = false;
  Text metadata = "{}";  // JSON object
  MaybeText project_id;
  Stamp stamp;
};

struct AgentRow {
  Text id;  // empty at creation: one is made
  Text organization;
  Text name;
  MaybeText description;
  MaybeText system;
  Text agent_type = "letta_v1_agent";
  Text tags = "[]";      // JSON array of strings
  Text metadata = "{}";  // JSON object
  MaybeText project_id;
  Stamp stamp;
};

struct BlockRow {
  Text id;  // empty at creation: one is made
  Text organization;
  Text label;
  Text value;
  int64_t limit = 100'000;  // characters
  MaybeText description;
  bool read_only = false;
  Text metadata = "{}";  // JSON object
  Stamp stamp;
};

// An environment variable of a sandbox configuration or of an agent.
struct VariableRow {
  Text id;
  Text organization;
  Text owner;  // the configuration's or the agent's id
  Text key;
  Secret value;
  MaybeText value_enc;  // as it lies in the database
  MaybeText description;
  Stamp stamp;
};

struct NewVariable {
  Text key;
  Secret value;
  MaybeText description;
};

// What is set, changes.
struct VariableChange {
  MaybeText key;
  std::optional<Secret> value;
  MaybeText description;
};

struct SandboxConfigRow {
  Text id;
  Text organization;
  Text type;    // e2b | modal | local; given once, at creation
  Text config;  // JSON object
  Stamp stamp;
};

// What an organization's calls may reach at most.
struct NetworkPolicyRow {
  Text organization;
  Text policy;  // JSON
  int64_t updated_at = 0;
  MaybeText updated_by;
};

// A secret that the gate gives to requests, without its value.
struct CredentialRow {
  Text id;
  Text organization;
  Text name;     // unique in the organization
  Text binding;  // JSON object: where it is used
  Stamp stamp;
};

struct CallRow {
  Text id;  // empty at insertion: one is made
  Text organization;
  MaybeText user;
  MaybeText tool_id;  // none: run from source
  Text tool_name;
  MaybeText agent_id;
  Text status;    // success | error | …
  Text provider;  // local | …
  MaybeText fingerprint;
  Text limits_hit = "[]";  // JSON array of strings
  int64_t started_at = 0;
  int64_t duration_us = 0;
};

}  // namespace bj
