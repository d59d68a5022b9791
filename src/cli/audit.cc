// belljar audit: the receipts, and whether they are what was written.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>
#include <cstdio>

#include "api/native/audit_json.h"
#include "api/time_text.h"
#include "audit/notary.h"
#include "audit/ocsf.h"
#include "audit/verify.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/open_store.h"
#include "cli/say.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(Every call, and everything that was changed, is an event; each holds the hash of the one before it, and the end of the
chain is signed now and then. `verify` finds events that were changed, removed, moved or cut off, and a database that was
put back to an older state. Keep what `head` prints somewhere else: it shows later whether anything before it was touched,
even by somebody who owns this machine. docs/audit.md tells what can't be found.

Examples:
  belljar audit tail --limit 50
  belljar audit show 17
  belljar audit verify --head yesterday.json
  belljar audit head --json > head.json
  belljar audit export --format ocsf > events.jsonl)";

constexpr int64_t kExportPage = 1000;

struct AuditFlags {
  std::string kind, action, subject, call, organization, format = "jsonl";
  int64_t limit = 20, sequence = 0, after = 0;
  std::vector<std::string> heads, keys;
  bool public_key = false;
};

MaybeText given(const std::string& text) { return text.empty() ? MaybeText() : MaybeText(text); }

AuditFilter filter_of(const AuditFlags& flags) {
  AuditFilter filter;
  filter.organization = given(flags.organization);
  filter.kind = given(flags.kind);
  filter.action = given(flags.action);
  filter.subject = given(flags.subject);
  filter.call_id = given(flags.call);
  filter.limit = flags.limit;
  return filter;
}

int tail(const AuditFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const std::vector<AuditRow> events, store.audit().list(filter_of(flags)));
    std::vector<std::vector<std::string>> rows;
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (settings.json) {
        print_json(native::audit_json(*event));
        continue;
      }
      rows.push_back({std::to_string(event->sequence), time_text(event->time).substr(0, 19), event->action,
                      event->subject.value_or("-"), event->outcome,
                      event->key ? *event->key : event->user.value_or("-")});
    }
    if (!settings.json)
      print_table({"SEQUENCE", "TIME (UTC)", "ACTION", "SUBJECT", "OUTCOME", "BY"}, rows, "there are no such events");
    return {};
  });
}

int show(const AuditFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const AuditRow event, store.audit().get(flags.sequence));
    const json::object object = native::audit_json(event);
    if (settings.json) {
      print_json(object);
      return {};
    }
    for (const auto& [name, value] : object) {
      const std::string text = value.is_string() ? std::string(value.get_string()) : json_text(value);
      print_untrusted(STDOUT_FILENO, fmt::format("{:<16} {}\n", std::string_view(name), value.is_null() ? "-" : text));
    }
    return {};
  });
}

int export_all(const AuditFlags& flags, const Settings& settings) {
  if (flags.format != "jsonl" && flags.format != "ocsf") return refuse("--format is jsonl or ocsf");
  return with_store(settings, [&](Store& store) -> Result<void> {
    AuditFilter filter = filter_of(flags);
    filter.order = Order::kAscending;
    filter.limit = kExportPage;
    filter.after = flags.after;
    while (true) {
      BJ_TRY(const std::vector<AuditRow> events, store.audit().list(filter));
      std::string lines;
      for (const AuditRow& event : events)
        lines += json_text(flags.format == "ocsf" ? ocsf_of(event) : native::audit_json(event)) + "\n";
      print_untrusted(STDOUT_FILENO, lines);
      if (events.size() < static_cast<size_t>(kExportPage)) return {};
      filter.after = events.back().sequence;
    }
  });
}

int head(const AuditFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Notary notary, Notary::open(settings.data_directory));
    if (flags.public_key) {
      print_untrusted(STDOUT_FILENO, notary.public_key().pem());
      return {};
    }
    BJ_TRY(const AuditCheckpointRow signed_head, notary.checkpoint(store.audit()));
    if (settings.json) {
      json::object object = head_json(signed_head);
      object["public_key"] = notary.public_key().pem();
      print_json(object);
    } else {
      print_untrusted(STDOUT_FILENO,
                      fmt::format("sequence   {}\nhash       {}\ntime       {}\nkey        {}\nsignature  {}\n",
                                  signed_head.sequence, signed_head.hash, time_text(signed_head.time),
                                  signed_head.key_id, signed_head.signature));
    }
    return {};
  });
}

Result<VerifyOptions> verify_options(const AuditFlags& flags, const Notary& notary) {
  VerifyOptions options;
  options.keys.push_back(notary.public_key());
  for (const std::string& file : flags.keys) {
    BJ_TRY(const std::string pem, read_file(file, 64 << 10));
    BJ_TRY(PublicKey key, PublicKey::from_pem(pem));
    options.keys.push_back(std::move(key));
  }
  BJ_TRY(std::optional<AuditCheckpointRow> kept, notary.kept());
  BJ_TRY(options.last_end, notary.kept_end());
  if (!kept || !options.last_end) options.lost_heads_of = notary.public_key().id();
  if (kept) options.known_heads.push_back(std::move(*kept));
  for (const std::string& file : flags.heads) {
    BJ_TRY(const std::string text, read_file(file, 64 << 10));
    BJ_TRY(AuditCheckpointRow known, read_head(text));
    options.known_heads.push_back(std::move(known));
  }
  if (::isatty(STDERR_FILENO) != 0) {
    options.progress = [](int64_t done, int64_t all) {
      fmt::print(stderr, "\r{} of {} events{}", done, all, done == all ? "\n" : "");
    };
  }
  return options;
}

json::object report_json(const AuditReport& report) {
  json::object object{{"ok", !report.problem},
                      {"events", report.events},
                      {"checkpoints", report.checkpoints},
                      {"signed_up_to", report.signed_up_to},
                      {"problem", nullptr},
                      {"notes", json::array(report.notes.begin(), report.notes.end())}};
  if (report.problem)
    object["problem"] = {{"fault", fault_name(report.problem->fault)},
                         {"sequence", report.problem->sequence},
                         {"what", report.problem->what}};
  return object;
}

void print_report(const AuditReport& report) {
  std::string text;
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  if (report.problem) {
    text += fmt::format("NOT INTACT at event {} ({}): {}\n", report.problem->sequence,
                        fault_name(report.problem->fault), report.problem->what);
  } else {
    text += fmt::format("intact: {} events, {} checkpoints, signed up to event {}\n", report.events, report.checkpoints,
                        report.signed_up_to);
  }
  print_untrusted(STDOUT_FILENO, text);
}

int verify(const AuditFlags& flags, const Settings& settings) {
  bool intact = false;
  const int status = with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Notary notary, Notary::open(settings.data_directory));
    BJ_TRY(const VerifyOptions options, verify_options(flags, notary));
    BJ_TRY(AuditReport report, verify_chain(store.audit(), options));
    if (options.known_heads.empty() && report.events > 0)
      report.notes.push_back(
          "no signed head is kept outside the database: a database put back to an older state "
          "would not be found");
    intact = !report.problem;
    if (settings.json) {
      print_json(report_json(report));
    } else {
      print_report(report);
    }
    return {};
  });
  return status == kExitOk && !intact ? kExitFailed : status;
}

void add_filters(CLI::App& command, AuditFlags& flags) {
  command
      .add_option("--kind", flags.kind,
                  "only: call, command, file_write, policy_decision, secret_use, administration, server")
      ->type_name("KIND");
  command.add_option("--action", flags.action, "only this action, like key.create")->type_name("ACTION");
  command.add_option("--subject", flags.subject, "only what was done to this id")->type_name("ID");
  command.add_option("--call", flags.call, "only what this call caused")->type_name("ID");
  command.add_option("--organization", flags.organization, "only of this organization")->type_name("ID");
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* const command = add_subcommand(app, "audit", "Show, check and export what was done");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const last = add_subcommand(*command, "tail", "The last events");
  add_filters(*last, *flags);
  last->add_option("--limit", flags->limit, "how many at most [20]")->type_name("N")->check(CLI::Range(1, 10000));
  add_json_flag(*last, context, "print a line of JSON an event");
  last->callback([flags, &context] { context.status = tail(*flags, context.settings); });

  CLI::App* const one = add_subcommand(*command, "show", "One event, whole");
  one->add_option("sequence", flags->sequence, "its number")->required()->type_name("SEQUENCE");
  add_json_flag(*one, context, "print it as JSON");
  one->callback([flags, &context] { context.status = show(*flags, context.settings); });

  CLI::App* const check =
      add_subcommand(*command, "verify", "Find out whether anything was changed; exit status 1 if so");
  check->add_option("--head", flags->heads, "a signed head that was kept: what `belljar audit head --json` printed")
      ->type_name("FILE")
      ->allow_extra_args(false);
  check->add_option("--public-key", flags->keys, "believe this key's signatures too (PEM)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_json_flag(*check, context, "print {ok, events, checkpoints, signed_up_to, problem, notes}");
  check->callback([flags, &context] { context.status = verify(*flags, context.settings); });

  CLI::App* const all = add_subcommand(*command, "export", "All events, a line of JSON each, oldest first");
  add_filters(*all, *flags);
  all->add_option("--format", flags->format, "jsonl or ocsf [jsonl]")->type_name("FORMAT");
  all->add_option("--after", flags->after, "only those after this sequence number")->type_name("SEQUENCE");
  all->callback([flags, &context] { context.status = export_all(*flags, context.settings); });

  CLI::App* const end =
      add_subcommand(*command, "head", "Sign the end of the chain and print it, for keeping elsewhere");
  end->add_flag("--public-key", flags->public_key, "print the public key instead (PEM)");
  add_json_flag(*end, context, "print {sequence, hash, time_us, key_id, signature, public_key}");
  end->callback([flags, &context] { context.status = head(*flags, context.settings); });
}

}  // namespace bj
