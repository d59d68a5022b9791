#include "store/sandbox_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/id.h"
#include "store/layer_table.h"
#include "store/organization_lock.h"
#include "store/sql.h"
#include "store/variable_rows.h"
#include "store/volume_table.h"

namespace bj {
namespace {

#define SANDBOX_COLUMNS                                                                                            \
  "id, organization_id, user_id, key_id, template_name, state, reason, node, timeout_s, on_timeout, end_at, "      \
  "inside_user, cpus, memory_bytes, disk_bytes, processes, network, metadata_, created_at, started_at, ended_at, " \
  "credentials, options, access, wakes, details, image, kept, spare_image"
#define SANDBOX_LIVE "state IN ('creating', 'running', 'paused', 'stopping')"

SandboxRow sandbox_of(const Row& row) {
  SandboxRow sandbox;
  sandbox.id = row.text(0);
  sandbox.organization = row.text(1);
  sandbox.user = row.maybe_text(2);
  sandbox.key = row.maybe_text(3);
  sandbox.template_name = row.text(4);
  sandbox.state = row.text(5);
  sandbox.reason = row.text(6);
  sandbox.node = row.maybe_text(7);
  sandbox.timeout_s = row.integer(8);
  sandbox.on_timeout = row.text(9);
  sandbox.end_at = row.integer(10);
  sandbox.inside_user = row.text(11);
  sandbox.cpus = row.real(12);
  sandbox.memory_bytes = row.integer(13);
  sandbox.disk_bytes = row.integer(14);
  sandbox.processes = row.integer(15);
  sandbox.network = row.text(16);
  sandbox.metadata = row.text(17);
  sandbox.created_at = row.integer(18);
  sandbox.started_at = row.maybe_integer(19);
  sandbox.ended_at = row.maybe_integer(20);
  sandbox.credentials = row.text(21);
  sandbox.options = row.text(22);
  sandbox.access = row.text(23);
  sandbox.wakes = row.integer(24) != 0;
  sandbox.details = row.text(25);
  sandbox.image = row.text(26);
  sandbox.kept = row.integer(27) != 0;
  sandbox.spare_image = row.text(28);
  return sandbox;
}

std::vector<SandboxRow> sandboxes_of(const std::vector<Row>& rows) {
  std::vector<SandboxRow> sandboxes;
  sandboxes.reserve(rows.size());
  for (const Row& row : rows) sandboxes.push_back(sandbox_of(row));
  return sandboxes;
}

int64_t kept_of(const SandboxRow& row) { return row.kept ? 1 : 0; }

Result<void> insert(Transaction& transaction, const SandboxRow& s) {
  BJ_CHECK(transaction.run("INSERT INTO sandboxes (" SANDBOX_COLUMNS
                           ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, "
                           "$19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)",
                           {s.id,        s.organization, s.user,     s.key,          s.template_name,
                            s.state,     s.reason,       s.node,     s.timeout_s,    s.on_timeout,
                            s.end_at,    s.inside_user,  s.cpus,     s.memory_bytes, s.disk_bytes,
                            s.processes, s.network,      s.metadata, s.created_at,   s.started_at,
                            s.ended_at,  s.credentials,  s.options,  s.access,       int64_t{s.wakes},
                            s.details,   s.image,        kept_of(s), s.spare_image}));
  return {};
}

// What changes in a sandbox's life.
Result<void> update(Transaction& transaction, const SandboxRow& s) {
  BJ_CHECK(transaction.run(
      "UPDATE sandboxes SET state = $1, reason = $2, node = $3, timeout_s = $4, on_timeout = $5, "
      "end_at = $6, network = $7, started_at = $8, ended_at = $9, access = $10, details = $11, image = $12, "
      "kept = $13, spare_image = $14 WHERE id = $15",
      {s.state, s.reason, s.node, s.timeout_s, s.on_timeout, s.end_at, s.network, s.started_at, s.ended_at, s.access,
       s.details, s.image, kept_of(s), s.spare_image, s.id}));
  return {};
}

SandboxShare share_of(const Row& row) { return {row.integer(0), row.real(1), row.integer(2), row.integer(3), 0}; }

// CAST: PostgreSQL sums whole numbers to NUMERIC, which is none of our types.
constexpr const char* kShare =
    "SELECT COUNT(*), CAST(COALESCE(SUM(cpus), 0) AS DOUBLE PRECISION), CAST(COALESCE(SUM(memory_bytes), 0) AS BIGINT), "
    "CAST(COALESCE(SUM(disk_bytes), 0) AS BIGINT) FROM sandboxes WHERE organization_id = $1 AND " SANDBOX_LIVE;

template <class T>
Result<void> check_amount(T used, T more, T quota, const std::string& limit) {
  if (quota <= 0 || used + more <= quota) return {};
  if (more > quota)  // nothing that could be stopped makes room for it
    return fail(
        Code::kUnprocessable,
        fmt::format("this organization's sandboxes may have {} together, and this one alone asks for more", limit));
  return fail(Code::kExhausted,
              fmt::format("this organization's sandboxes may have {} together, and this one would be beyond it: stop "
                          "one, or ask for less",
                          limit),
              kOverQuota);
}

Result<void> check_share(const SandboxShare& used, const SandboxRow& more, const SandboxShare& quota) {
  BJ_CHECK(check_amount(used.cpus, more.cpus, quota.cpus, fmt::format("{:g} processors", quota.cpus)));
  BJ_CHECK(check_amount(used.memory_bytes, more.memory_bytes, quota.memory_bytes,
                        fmt::format("{} MiB of memory", quota.memory_bytes >> 20)));
  BJ_CHECK(check_amount(used.disk_bytes, more.disk_bytes, quota.disk_bytes,
                        fmt::format("{} MiB of disk", quota.disk_bytes >> 20)));
  if (quota.live == 0 || used.live + 1 <= quota.live) return {};
  return fail(Code::kExhausted,
              fmt::format("this organization may have {} sandboxes at a time, and has them: stop one", quota.live),
              kOverQuota);
}

Result<void> insert_metadata(Transaction& transaction, const std::string& sandbox,
                             const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, value] : metadata) {
    BJ_CHECK(transaction.run("INSERT INTO sandbox_metadata (sandbox_id, key, value) VALUES ($1, $2, $3)",
                             {sandbox, key, value}));
  }
  return {};
}

std::string select_variables() {
  return "SELECT " + variable_columns(kLiveVariables) +
         " FROM live_sandbox_variables WHERE organization_id = $1 AND sandbox_id = $2 ORDER BY key";
}

// A first command that does not say what it was asked for is taken at its word.
Result<void> check_same_command(const CommandRow& first, const CommandRow& command) {
  const bool same = first.kind == command.kind && (first.payload == command.payload || first.payload == "{}");
  if (same) return {};
  return fail(Code::kConflict, "this Idempotency-Key was used before, for something else");
}

bool same_variables(const std::vector<VariableRow>& there, const std::vector<NewVariable>& wanted) {
  const auto has = [&there](const NewVariable& one) {
    return std::any_of(there.begin(), there.end(), [&one](const VariableRow& row) {
      return row.key == one.key && row.value.reveal() == one.value.reveal();
    });
  };
  return there.size() == wanted.size() && std::all_of(wanted.begin(), wanted.end(), has);
}

Result<SandboxRow> row_for_change(Transaction& transaction, const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows,
         transaction.run("SELECT " SANDBOX_COLUMNS " FROM sandboxes WHERE id = $1 AND organization_id = $2 AND "
                         "state <> 'deleted'" +
                             std::string(for_update(transaction)),
                         {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Sandbox", id));
  return sandbox_of(row);
}

}  // namespace

Result<SandboxTable::Made> SandboxTable::create(const Actor& actor, SandboxRow row,
                                                const std::map<std::string, std::string>& metadata,
                                                const std::vector<NewVariable>& variables,
                                                const std::vector<std::string>& layers, const SandboxShare& quota,
                                                CommandRow command, const std::vector<std::string>& volumes) {
  // Nobody is told of it before it runs, which is another commit: the disk may have both together.
  const auto work = [&](Transaction& transaction) -> Result<Made> {
    BJ_CHECK(lock_organization(transaction, row.organization));
    if (command.idempotency_key) {
      BJ_TRY(std::optional<CommandRow> first,
             CommandTable::find_by_key(transaction, row.organization, *command.idempotency_key));
      if (first) {
        BJ_CHECK(check_same_command(*first, command));
        BJ_TRY(SandboxRow made, row_for_change(transaction, row.organization, first->subject));
        BJ_TRY(const Rows there, transaction.run(select_variables(), {row.organization, first->subject}));
        BJ_TRY(const std::vector<VariableRow> values, variables_of(there.rows, vault_, kLiveVariables));
        if (!same_variables(values, variables))
          return fail(Code::kConflict, "this Idempotency-Key was used before, with other variables");
        return Made{std::move(made), std::move(first)};
      }
    }
    BJ_TRY(const Rows used, transaction.run(kShare, {row.organization}));
    BJ_CHECK(check_share(share_of(used.rows[0]), row, quota));
    BJ_CHECK(check_volumes_exist(transaction, row.organization, volumes));
    BJ_CHECK(insert(transaction, row));
    BJ_CHECK(insert_metadata(transaction, row.id, metadata));
    if (!variables.empty()) {
      BJ_TRY(const std::string key_id, vault_.write_key(transaction));
      for (const NewVariable& variable : variables)
        BJ_CHECK(insert_variable(transaction, vault_, kLiveVariables, key_id, actor, row.id, variable));
    }
    if (!layers.empty()) BJ_CHECK(LayerTable::set_uses(transaction, row.id, layers));
    BJ_CHECK(CommandTable::insert(transaction, command));
    return Made{row, {}};
  };
  return database_.transact_value<Made>(work, Durability::kWithTheNext);
}

Result<void> SandboxTable::check_room(Transaction& transaction, const SandboxRow& row, const SandboxShare& quota) {
  BJ_CHECK(lock_organization(transaction, row.organization));
  BJ_TRY(const Rows used, transaction.run(kShare, {row.organization}));
  return check_share(share_of(used.rows[0]), row, quota);
}

Result<SandboxRow> SandboxTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " SANDBOX_COLUMNS
                                   " FROM sandboxes WHERE id = $1 AND organization_id = $2 AND state <> 'deleted'",
                                   {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Sandbox", id));
  return sandbox_of(row);
}

Result<SandboxRow> SandboxTable::find(const std::string& id) {
  BJ_TRY(Rows rows,
         database_.read("SELECT " SANDBOX_COLUMNS " FROM sandboxes WHERE id = $1 AND state <> 'deleted'", {id}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Sandbox", id));
  return sandbox_of(row);
}

Result<SandboxRow> SandboxTable::change(const std::string& organization, const std::string& id, const Edit& edit,
                                        Durability durability) {
  const auto work = [&](Transaction& transaction) -> Result<SandboxRow> {
    BJ_TRY(SandboxRow row, row_for_change(transaction, organization, id));
    BJ_CHECK(edit(transaction, row));
    BJ_CHECK(update(transaction, row));
    return row;
  };
  return database_.transact_value<SandboxRow>(work, durability);
}

Result<std::vector<SandboxRow>> SandboxTable::list(const std::string& organization, const SandboxFilter& filter,
                                                   const Page& page) {
  Sql sql("SELECT " SANDBOX_COLUMNS " FROM sandboxes WHERE organization_id = ");
  sql.bind(organization).add(" AND state <> 'deleted'");
  if (!filter.states.empty()) {
    sql.add(" AND (state IN ").bind_list(filter.states);
    if (filter.also_kept) sql.add(" OR (state = 'stopped' AND kept = 1)");
    sql.add(")");
  }
  if (!filter.templates.empty()) {
    sql.add(" AND (template_name IN ").bind_list(filter.templates);
    for (const std::string& name : filter.templates) {
      const std::string size = std::to_string(name.size());
      sql.add(" OR (substr(template_name, 1, " + size + ") = ").bind(name);
      sql.add(" AND substr(template_name, " + size + " + 1, 1) = ':')");
    }
    sql.add(")");
  }
  if (filter.created_since) sql.add(" AND created_at >= ").bind(*filter.created_since);
  for (const auto& [key, value] : filter.metadata) {
    sql.add(" AND EXISTS (SELECT 1 FROM sandbox_metadata m WHERE m.sandbox_id = sandboxes.id AND m.key = ").bind(key);
    sql.add(" AND m.value = ").bind(value).add(")");
  }
  BJ_TRY(const std::vector<Row> rows,
         read_page(database_, std::move(sql), {"Sandbox", "sandboxes"}, organization, page));
  return sandboxes_of(rows);
}

Result<std::vector<VariableRow>> SandboxTable::variables(const std::string& organization, const std::string& id) {
  BJ_TRY(const Rows rows, database_.read(select_variables(), {organization, id}));
  return variables_of(rows.rows, vault_, kLiveVariables);
}

Result<SandboxShare> SandboxTable::used(const std::string& organization) {
  BJ_TRY(const Rows rows, database_.read(kShare, {organization}));
  return share_of(rows.rows[0]);
}

Result<std::vector<SandboxRow>> SandboxTable::held() {
  BJ_TRY(const Rows rows, database_.read("SELECT " SANDBOX_COLUMNS " FROM sandboxes WHERE " SANDBOX_LIVE
                                         " AND node IS NOT NULL ORDER BY created_at, id"));
  return sandboxes_of(rows.rows);
}

namespace {

// What a server had begun, somebody may take up.
Result<void> give_back_in(Transaction& transaction, const std::string& node) {
  BJ_CHECK(transaction.run(
      "UPDATE sandbox_commands SET state = 'waiting', claimed_by = NULL WHERE claimed_by = $1 AND state = 'claimed'",
      {node}));
  BJ_CHECK(transaction.run("UPDATE sandboxes SET node = NULL WHERE node = $1 AND state = 'creating'", {node}));
  return {};
}

}  // namespace

Result<std::vector<SandboxRow>> SandboxTable::abandon(const std::string& node, const std::string& reason, int64_t now) {
  return database_.transact_value<std::vector<SandboxRow>>(
      [&](Transaction& transaction) -> Result<std::vector<SandboxRow>> {
        // Not by RETURNING: SQLite gives whole numbers for decimals there.
        BJ_TRY(const Rows ending,
               transaction.run("SELECT " SANDBOX_COLUMNS " FROM sandboxes WHERE node = $1 AND state IN "
                               "('running', 'paused', 'stopping')" +
                                   std::string(for_update(transaction)),
                               {node}));
        std::vector<SandboxRow> rows = sandboxes_of(ending.rows);
        // Who asked for its deletion got an answer, or will ask again: it is deleted.
        BJ_CHECK(
            transaction.run("UPDATE sandboxes SET state = CASE WHEN id IN (SELECT subject FROM sandbox_commands "
                            "WHERE kind = 'delete' AND state IN ('waiting', 'claimed')) THEN 'deleted' ELSE 'stopped' "
                            "END, reason = CASE WHEN state = 'running' AND on_timeout = 'kill' AND end_at <= $2 THEN "
                            "'its time was over' ELSE $1 END, ended_at = $2, image = CASE WHEN spare_image <> '' THEN "
                            "spare_image ELSE image END, kept = CASE WHEN spare_image <> '' THEN 1 ELSE kept END, "
                            "spare_image = '' WHERE node = $3 AND state IN ('running', 'paused', 'stopping')",
                            {reason, now, node}));
        for (const SandboxRow& row : rows) BJ_CHECK(CommandTable::bury_all_of(transaction, row.id, reason, now));
        BJ_CHECK(
            transaction.run("UPDATE sandbox_commands SET state = 'done', outcome = '{}', finished_at = $1, "
                            "claimed_by = NULL WHERE kind = 'delete' AND state IN ('waiting', 'claimed') AND "
                            "subject IN (SELECT id FROM sandboxes WHERE node = $2 AND state = 'deleted')",
                            {now, node}));
        BJ_CHECK(give_back_in(transaction, node));
        return rows;
      });
}

Result<void> SandboxTable::give_back(const std::string& node) {
  return database_.transact([&](Transaction& transaction) { return give_back_in(transaction, node); });
}

// Looked for by a reader, so that writers wait for what goes only.
Result<int64_t> SandboxTable::remove_ended_before(int64_t time, int64_t most) {
  BJ_TRY(const Rows over, database_.read("SELECT id FROM sandboxes WHERE state IN ('stopped', 'deleted', 'error') AND "
                                         "kept = 0 AND ended_at < $1 LIMIT $2",
                                         {time, most}));
  BJ_CHECK(database_.transact([&](Transaction& transaction) -> Result<void> {
    for (const Row& row : over.rows)
      BJ_CHECK(
          transaction.run("DELETE FROM sandboxes WHERE id = $1 AND kept = 0 AND ended_at < $2", {row.text(0), time}));
    return {};
  }));
  BJ_CHECK(database_.write(
      "DELETE FROM sandbox_commands WHERE state IN ('done', 'dead') AND finished_at < $1 AND subject IN "
      "(SELECT id FROM sandboxes WHERE " SANDBOX_LIVE " OR (state = 'stopped' AND kept = 1))",
      {time}));
  return static_cast<int64_t>(over.rows.size());
}

}  // namespace bj
