// The steps themselves. Times are microseconds since the epoch, truth values 0 and 1, JSON is text. Rows that belong to
// another row carry its organization too, and refer to both: the database itself refuses what crosses organizations.
#include "store/migrations.h"

namespace bj {
namespace {

Migration first_step() {
  return {
      1,
      "organizations, users, keys, tools, agents, sandbox configurations, calls",
      {
          R"(CREATE TABLE organizations (
                   id TEXT PRIMARY KEY,
                   name TEXT NOT NULL,
                   created_at BIGINT NOT NULL))",
          R"(CREATE TABLE users (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   created_at BIGINT NOT NULL))",
          R"(CREATE TABLE api_keys (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   user_id TEXT NOT NULL REFERENCES users (id),
                   name TEXT NOT NULL,
                   role TEXT NOT NULL,
                   key_hash TEXT NOT NULL UNIQUE,
                   created_at BIGINT NOT NULL,
                   last_used_at BIGINT,
                   revoked_at BIGINT))",
          // Also unique by (organization, project, name), which this implies.
          R"(CREATE TABLE tools (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   tool_type TEXT NOT NULL,
                   description TEXT,
                   source_type TEXT NOT NULL,
                   source_code TEXT,
                   json_schema TEXT,
                   args_json_schema TEXT,
                   tags TEXT NOT NULL,
                   pip_requirements TEXT,
                   npm_requirements TEXT,
                   return_char_limit BIGINT NOT NULL,
                   default_requires_approval BIGINT,
                   enable_parallel_execution BIGINT NOT NULL,
                   metadata_ TEXT NOT NULL,
                   project_id TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   UNIQUE (name, organization_id),
                   UNIQUE (id, organization_id)))",
          "CREATE INDEX tools_in_order ON tools (organization_id, created_at, id)",
          R"(CREATE TABLE agents (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   description TEXT,
                   system TEXT,
                   agent_type TEXT NOT NULL,
                   tags TEXT NOT NULL,
                   metadata_ TEXT NOT NULL,
                   project_id TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   UNIQUE (id, organization_id)))",
          "CREATE INDEX agents_in_order ON agents (organization_id, created_at, id)",
          R"(CREATE TABLE agent_tools (
                   agent_id TEXT NOT NULL,
                   tool_id TEXT NOT NULL,
                   organization_id TEXT NOT NULL,
                   PRIMARY KEY (agent_id, tool_id),
                   FOREIGN KEY (agent_id, organization_id) REFERENCES agents (id, organization_id) ON DELETE CASCADE,
                   FOREIGN KEY (tool_id, organization_id) REFERENCES tools (id, organization_id) ON DELETE CASCADE))",
          "CREATE INDEX agent_tools_by_tool ON agent_tools (tool_id, organization_id)",
          R"(CREATE TABLE blocks (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   label TEXT NOT NULL,
                   value TEXT NOT NULL,
                   char_limit BIGINT NOT NULL,
                   description TEXT,
                   read_only BIGINT NOT NULL,
                   metadata_ TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   UNIQUE (id, organization_id)))",
          // The label stands here too, because an agent has one block a label.
          R"(CREATE TABLE agent_blocks (
                   agent_id TEXT NOT NULL,
                   block_id TEXT NOT NULL,
                   organization_id TEXT NOT NULL,
                   label TEXT NOT NULL,
                   PRIMARY KEY (agent_id, block_id),
                   UNIQUE (agent_id, label),
                   FOREIGN KEY (agent_id, organization_id) REFERENCES agents (id, organization_id) ON DELETE CASCADE,
                   FOREIGN KEY (block_id, organization_id) REFERENCES blocks (id, organization_id) ON DELETE CASCADE))",
          "CREATE INDEX agent_blocks_by_block ON agent_blocks (block_id, organization_id)",
          R"(CREATE TABLE agent_environment_variables (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL,
                   agent_id TEXT NOT NULL,
                   key TEXT NOT NULL,
                   value TEXT NOT NULL,
                   value_enc TEXT,
                   description TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   CONSTRAINT uix_key_agent UNIQUE (key, agent_id),
                   FOREIGN KEY (agent_id, organization_id) REFERENCES agents (id, organization_id) ON DELETE CASCADE))",
          "CREATE INDEX agent_variables_by_agent ON agent_environment_variables (agent_id, created_at, id)",
          R"(CREATE TABLE sandbox_configs (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   type TEXT NOT NULL,
                   config TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   CONSTRAINT uix_type_organization UNIQUE (type, organization_id),
                   UNIQUE (id, organization_id)))",
          R"(CREATE TABLE sandbox_environment_variables (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL,
                   sandbox_config_id TEXT NOT NULL,
                   key TEXT NOT NULL,
                   value TEXT NOT NULL,
                   value_enc TEXT,
                   description TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   CONSTRAINT uix_key_sandbox_config UNIQUE (key, sandbox_config_id),
                   FOREIGN KEY (sandbox_config_id, organization_id)
                     REFERENCES sandbox_configs (id, organization_id) ON DELETE CASCADE))",
          "CREATE INDEX sandbox_variables_by_config ON sandbox_environment_variables (sandbox_config_id, created_at, id)",
          // No references: a call stays when its tool or agent goes.
          R"(CREATE TABLE calls (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL,
                   user_id TEXT,
                   tool_id TEXT,
                   tool_name TEXT NOT NULL,
                   agent_id TEXT,
                   status TEXT NOT NULL,
                   provider TEXT NOT NULL,
                   fingerprint TEXT,
                   limits_hit TEXT NOT NULL,
                   started_at BIGINT NOT NULL,
                   duration_us BIGINT NOT NULL))",
          "CREATE INDEX calls_in_order ON calls (organization_id, started_at, id)",
          "CREATE INDEX calls_by_age ON calls (started_at)",
          // One row: which key new secrets get. Locked by whoever writes secrets.
          R"(CREATE TABLE vault_state (
                   id BIGINT PRIMARY KEY,
                   key_id TEXT))",
          "INSERT INTO vault_state (id, key_id) VALUES (1, NULL)",
      }};
}

Migration audit_step() {
  return {2,
          "the audit",
          {
              // Refers to nothing: an event stays when what it is about goes.
              R"(CREATE TABLE audit_events (
                   sequence BIGINT PRIMARY KEY,
                   id TEXT NOT NULL UNIQUE,
                   time_us BIGINT NOT NULL,
                   organization_id TEXT NOT NULL,
                   user_id TEXT,
                   key_id TEXT,
                   kind TEXT NOT NULL,
                   action TEXT NOT NULL,
                   subject TEXT,
                   outcome TEXT NOT NULL,
                   call_id TEXT,
                   detail TEXT NOT NULL,
                   previous_hash TEXT NOT NULL,
                   hash TEXT NOT NULL))",
              "CREATE INDEX audit_events_in_order ON audit_events (organization_id, sequence)",
              R"(CREATE TABLE audit_checkpoints (
                   sequence BIGINT NOT NULL,
                   key_id TEXT NOT NULL,
                   hash TEXT NOT NULL,
                   time_us BIGINT NOT NULL,
                   signature TEXT NOT NULL,
                   PRIMARY KEY (sequence, key_id)))",
              // One row: the end of the chain. Locked by whoever appends.
              R"(CREATE TABLE audit_head (
                   id BIGINT PRIMARY KEY,
                   sequence BIGINT NOT NULL,
                   hash TEXT NOT NULL))",
              R"(INSERT INTO audit_head (id, sequence, hash) VALUES
                   (1, 0, '0000000000000000000000000000000000000000000000000000000000000000'))",
          }};
}

Migration gate_step() {
  return {3,
          "network policies, credentials, limits of keys",
          {
              // Of an organization, written by its administrators.
              R"(CREATE TABLE network_policies (
                   organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
                   policy TEXT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   last_updated_by_id TEXT))",
              // What the gate gives to requests: where (binding, JSON) and what (encrypted).
              R"(CREATE TABLE credentials (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   binding TEXT NOT NULL,
                   value_enc TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   CONSTRAINT uix_credential_name UNIQUE (name, organization_id),
                   UNIQUE (id, organization_id)))",
              // Null: what the server gives to every key.
              "ALTER TABLE api_keys ADD COLUMN requests_per_second DOUBLE PRECISION",
              "ALTER TABLE api_keys ADD COLUMN runs_at_once BIGINT",
          }};
}

Migration sandboxes_step() {
  return {4,
          "sandboxes and the queue of commands to them",
          {
              R"(CREATE TABLE sandboxes (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   user_id TEXT,
                   key_id TEXT,
                   template_name TEXT NOT NULL,
                   state TEXT NOT NULL,
                   reason TEXT NOT NULL,
                   node TEXT,
                   timeout_s BIGINT NOT NULL,
                   on_timeout TEXT NOT NULL,
                   end_at BIGINT NOT NULL,
                   inside_user TEXT NOT NULL,
                   cpus DOUBLE PRECISION NOT NULL,
                   memory_bytes BIGINT NOT NULL,
                   disk_bytes BIGINT NOT NULL,
                   processes BIGINT NOT NULL,
                   network TEXT NOT NULL,
                   metadata_ TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   started_at BIGINT,
                   ended_at BIGINT,
                   UNIQUE (id, organization_id)))",
              "CREATE INDEX sandboxes_in_order ON sandboxes (organization_id, created_at, id)",
              "CREATE INDEX sandboxes_by_state ON sandboxes (state, node)",
              // The same metadata as in the row, to be searched.
              R"(CREATE TABLE sandbox_metadata (
                   sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
                   key TEXT NOT NULL,
                   value TEXT NOT NULL,
                   PRIMARY KEY (sandbox_id, key)))",
              R"(CREATE TABLE live_sandbox_variables (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL,
                   sandbox_id TEXT NOT NULL,
                   key TEXT NOT NULL,
                   value TEXT NOT NULL,
                   value_enc TEXT,
                   description TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   UNIQUE (key, sandbox_id),
                   FOREIGN KEY (sandbox_id, organization_id) REFERENCES sandboxes (id, organization_id)
                     ON DELETE CASCADE))",
              "CREATE INDEX live_variables_by_sandbox ON live_sandbox_variables (sandbox_id)",
              R"(CREATE TABLE sandbox_commands (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   kind TEXT NOT NULL,
                   subject TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
                   payload TEXT NOT NULL,
                   idempotency_key TEXT,
                   state TEXT NOT NULL,
                   node TEXT,
                   claimed_by TEXT,
                   lease_until BIGINT NOT NULL,
                   not_before BIGINT NOT NULL,
                   attempts BIGINT NOT NULL,
                   outcome TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   finished_at BIGINT,
                   UNIQUE (organization_id, idempotency_key)))",
              "CREATE INDEX sandbox_commands_to_do ON sandbox_commands (state, not_before)",
              "CREATE INDEX sandbox_commands_by_subject ON sandbox_commands (subject)",
          }};
}

Migration templates_step() {
  return {5,
          "templates, their names, builds and tags",
          {
              // A snapshot is a template too. 0 processors or bytes: what a sandbox gets that asks for none.
              R"(CREATE TABLE templates (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   kind TEXT NOT NULL,
                   sandbox_id TEXT,
                   public BIGINT NOT NULL,
                   cpus DOUBLE PRECISION NOT NULL,
                   memory_bytes BIGINT NOT NULL,
                   spawn_count BIGINT NOT NULL,
                   last_spawned_at BIGINT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   UNIQUE (id, organization_id)))",
              "CREATE INDEX templates_in_order ON templates (organization_id, created_at, id)",
              R"(CREATE TABLE template_names (
                   organization_id TEXT NOT NULL,
                   name TEXT NOT NULL,
                   template_id TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   PRIMARY KEY (organization_id, name),
                   FOREIGN KEY (template_id, organization_id) REFERENCES templates (id, organization_id)
                     ON DELETE CASCADE))",
              "CREATE INDEX template_names_by_template ON template_names (template_id)",
              // `request` is what was asked for, `content` what came of it: JSON both.
              R"(CREATE TABLE template_builds (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL,
                   template_id TEXT NOT NULL,
                   status TEXT NOT NULL,
                   reason_step TEXT NOT NULL,
                   reason_message TEXT NOT NULL,
                   node TEXT,
                   tags TEXT NOT NULL,
                   request TEXT NOT NULL,
                   content TEXT,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   finished_at BIGINT,
                   UNIQUE (id, template_id),
                   FOREIGN KEY (template_id, organization_id) REFERENCES templates (id, organization_id)
                     ON DELETE CASCADE))",
              "CREATE INDEX template_builds_in_order ON template_builds (template_id, created_at, id)",
              "CREATE INDEX template_builds_by_status ON template_builds (status)",
              R"(CREATE TABLE template_tags (
                   template_id TEXT NOT NULL,
                   tag TEXT NOT NULL,
                   build_id TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   PRIMARY KEY (template_id, tag),
                   FOREIGN KEY (build_id, template_id) REFERENCES template_builds (id, template_id)
                     ON DELETE CASCADE))",
              R"(CREATE TABLE template_build_logs (
                   build_id TEXT NOT NULL REFERENCES template_builds (id) ON DELETE CASCADE,
                   position BIGINT NOT NULL,
                   time BIGINT NOT NULL,
                   level TEXT NOT NULL,
                   step TEXT NOT NULL,
                   message TEXT NOT NULL,
                   PRIMARY KEY (build_id, position)))",
              // What a step led to, by the hash of everything that led to it.
              R"(CREATE TABLE template_step_cache (
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   chain TEXT NOT NULL,
                   content TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   used_at BIGINT NOT NULL,
                   PRIMARY KEY (organization_id, chain)))",
          }};
}

Migration sandbox_credentials_step() {
  return {6, "credentials of sandboxes", {"ALTER TABLE sandboxes ADD COLUMN credentials TEXT NOT NULL DEFAULT '[]'"}};
}

Migration volumes_step() {
  return {7,
          "volumes, and what else a sandbox was asked to have",
          {
              R"(CREATE TABLE volumes (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   size_bytes BIGINT NOT NULL,
                   machine TEXT NOT NULL,
                   state TEXT NOT NULL,
                   created_by_id TEXT,
                   created_at BIGINT NOT NULL,
                   UNIQUE (organization_id, name)))",
              "CREATE INDEX volumes_in_order ON volumes (organization_id, created_at, id)",
              "ALTER TABLE sandboxes ADD COLUMN options TEXT NOT NULL DEFAULT '{}'",
          }};
}

Migration ports_step() {
  return {8,
          "ports of sandboxes",
          {
              "ALTER TABLE sandboxes ADD COLUMN access TEXT NOT NULL DEFAULT 'private'",
              "ALTER TABLE sandboxes ADD COLUMN wakes BIGINT NOT NULL DEFAULT 0",
              "ALTER TABLE sandboxes ADD COLUMN details TEXT NOT NULL DEFAULT '{}'",
          }};
}

Migration layers_step() {
  return {9,
          "layers, sandboxes that keep their files",
          {
              // What its root is made from, where that is more than a template.
              "ALTER TABLE sandboxes ADD COLUMN image TEXT NOT NULL DEFAULT ''",
              // 1: the image is a state of its own files that it can be brought back to.
              "ALTER TABLE sandboxes ADD COLUMN kept BIGINT NOT NULL DEFAULT 0",
              // Of a paused one: the image it is brought back to if it ends as it is.
              "ALTER TABLE sandboxes ADD COLUMN spare_image TEXT NOT NULL DEFAULT ''",
              R"(CREATE TABLE layers (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   size_bytes BIGINT NOT NULL,
                   created_at BIGINT NOT NULL))",
              "CREATE INDEX layers_by_organization ON layers (organization_id)",
              // By whom: layer_table.h tells how they are named.
              R"(CREATE TABLE layer_uses (
                   layer_id TEXT NOT NULL REFERENCES layers (id),
                   user_id TEXT NOT NULL,
                   PRIMARY KEY (layer_id, user_id)))",
              "CREATE INDEX layer_uses_by_user ON layer_uses (user_id)",
          }};
}

Migration secrets_step() {
  return {10,
          "secrets",
          {
              R"(CREATE TABLE secrets (
                   id TEXT PRIMARY KEY,
                   organization_id TEXT NOT NULL REFERENCES organizations (id),
                   name TEXT NOT NULL,
                   version BIGINT NOT NULL,
                   metadata TEXT NOT NULL,
                   value_enc TEXT NOT NULL,
                   created_at BIGINT NOT NULL,
                   updated_at BIGINT NOT NULL,
                   created_by_id TEXT,
                   last_updated_by_id TEXT,
                   UNIQUE (organization_id, name)))",
              "CREATE INDEX secrets_in_order ON secrets (organization_id, created_at, id)",
          }};
}

Migration template_network_step() {
  return {11, "network policies of templates", {"ALTER TABLE templates ADD COLUMN network TEXT"}};
}

// Ended sandboxes stay for a while: a create, which counts the live ones, and a list must not read them all.
Migration live_sandboxes_step() {
  return {12,
          "indexes of the sandboxes that are there",
          {
              "DROP INDEX sandboxes_in_order",
              "CREATE INDEX sandboxes_in_order ON sandboxes (organization_id, created_at, id) WHERE state <> 'deleted'",
              "CREATE INDEX sandboxes_live ON sandboxes (organization_id, state, cpus, memory_bytes, disk_bytes) "
              "WHERE state IN ('creating', 'running', 'paused', 'stopping')",
          }};
}

}  // namespace

const std::vector<Migration>& migrations() {
  static const std::vector<Migration> steps = {
      first_step(),
      audit_step(),
      gate_step(),
      sandboxes_step(),
      templates_step(),
      sandbox_credentials_step(),
      volumes_step(),
      ports_step(),
      layers_step(),
      secrets_step(),
      template_network_step(),
      live_sandboxes_step(),
  };
  return steps;
}

}  // namespace bj
