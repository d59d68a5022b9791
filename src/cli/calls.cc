// belljar calls: what ran, where, for how long, with what outcome.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>

#include "api/native/call_json.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/open_store.h"
#include "cli/table.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(The newest first. Arguments, results and output are not recorded. Records are kept for [calls] keep_days, 30 unless set.

Examples:
  belljar calls
  belljar calls --tool roll_dice --status error --limit 5
  belljar calls --json | jq '.[] | .duration_ms')";

struct CallFlags {
  std::string tool, agent, status;
  int64_t limit = 20;
};

MaybeText given(const std::string& text) { return text.empty() ? MaybeText() : MaybeText(text); }

std::vector<std::string> row_of(const CallRow& call) {
  return {call.id,        time_text(call.started_at).substr(0, 19),
          call.tool_name, call.status,
          call.provider,  fmt::format("{:.2f} ms", static_cast<double>(call.duration_us) / 1000)};
}

int calls(const CallFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    CallFilter filter;
    filter.tool = given(flags.tool);
    filter.agent = given(flags.agent);
    filter.status = given(flags.status);
    Page page;
    page.limit = flags.limit;
    page.order = Order::kDescending;
    BJ_TRY(const std::vector<CallRow> found, store.calls().list(local_actor().organization, filter, page));
    json::array all;
    std::vector<std::vector<std::string>> rows;
    for (const CallRow& call : found) {
      all.push_back(native::call_json(call));
      rows.push_back(row_of(call));
    }
    if (settings.json) {
      print_json(all);
    } else {
      print_table({"ID", "STARTED (UTC)", "TOOL", "STATUS", "PROVIDER", "DURATION"}, rows, "no calls were recorded");
    }
    return {};
  });
}

}  // namespace

void add_calls(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CallFlags>();
  CLI::App* const command = add_subcommand(app, "calls", "Show what ran");
  command->footer(kFooter);
  command->add_option("--tool", flags->tool, "only of this tool: its name or id")->type_name("TOOL");
  command->add_option("--agent", flags->agent, "only for this agent")->type_name("ID");
  command->add_option("--status", flags->status, "only with this outcome: ok, error, limit, timeout, invalid")
      ->type_name("STATUS")
      ->check(CLI::IsMember({"ok", "error", "limit", "timeout", "invalid"}));
  command->add_option("--limit", flags->limit, "how many at most [20]")->type_name("N")->check(CLI::Range(1, 10000));
  add_json_flag(*command, context, "print [{id, tool_name, status, provider, duration_ms, ...}]");
  command->callback([flags, &context] { context.status = calls(*flags, context.settings); });
}

}  // namespace bj
