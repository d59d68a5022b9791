#include "bench/bench.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>
#include <cstdio>
#include <memory>

#include "cli/context.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

namespace json = boost::json;

json::object to_json(const BenchRow& row) {
  json::object out{{"work", row.work},
                   {"p50_ms", row.p50_ms},
                   {"p99_ms", row.p99_ms},
                   {"baseline", row.baseline},
                   {"baseline_p50_ms", row.baseline_p50_ms},
                   {"ratio", row.ratio},
                   {"goal", row.goal},
                   {"met", row.met}};
  if (!row.note.empty()) out["note"] = row.note;
  if (!row.skipped.empty()) out["skipped"] = row.skipped;
  return out;
}

std::string number(double value) { return value == 0 ? "-" : fmt::format("{:.3f}", value); }

void print_table(const std::vector<BenchRow>& rows) {
  std::string text =
      "| work | p50 ms | p99 ms | baseline | its p50 ms | ratio | goal | met |\n|---|---|---|---|---|---|---|---|\n";
  for (const BenchRow& row : rows) {
    const std::string met = !row.skipped.empty() ? "skipped: " + row.skipped : row.met ? "yes" : "**no**";
    text += fmt::format("| {}{} | {} | {} | {} | {} | {} | {} | {} |\n", row.work,
                        row.note.empty() ? "" : " (" + row.note + ")", number(row.p50_ms), number(row.p99_ms),
                        row.baseline.empty() ? "-" : row.baseline, number(row.baseline_p50_ms), number(row.ratio),
                        row.goal, met);
  }
  std::fputs(text.c_str(), stdout);
}

Task<int> measure(Engine& engine, BenchOptions options, bool as_json) {
  Result<std::vector<BenchRow>> rows = co_await run_bench(engine, std::move(options), [](const std::string& work) {
    std::fprintf(stderr, "measuring: %s ...\n", work.c_str());
  });
  if (!rows) {
    complain("the benchmark stopped: " + rows.error().what);
    co_return kExitFailed;
  }
  if (!as_json) {
    print_table(*rows);
    co_return kExitOk;
  }
  json::array list;
  for (const BenchRow& row : *rows) list.push_back(to_json(row));
  print_json(json::object{{"rows", std::move(list)}});
  co_return kExitOk;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = add_subcommand(app, "bench", "Measures calls and sandboxes beside their baselines, in one run");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--filter,--only", options->filter,
                      "Only what has this in its name, such as burst, gate or API; a wrong one shows all names");
  command->add_option("--samples", options->samples, "Measurements a row (default 300)")->check(CLI::Range(10, 100000));
  command->add_option("--seconds", options->sustained_s, "Length of the sustained rows (default 10)")
      ->check(CLI::Range(1, 600));
  command->add_option("--sandboxes", options->live_sandboxes, "How many idle sandboxes (default 1000)")
      ->check(CLI::Range(10, 10000));
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print {\"rows\": [...]} instead of a table");
  command->footer("Ratios count, not milliseconds: machines differ and are noisy. Takes about three minutes.");
  command->callback([&context, options, as_json] {
    options->scratch = context.settings.data_directory + "/bench";
    EngineOptions engine = engine_options(context.settings);
    context.status = with_engine(context.settings, std::move(engine), [options, as_json](Engine& e) -> Task<int> {
      co_return co_await measure(e, *options, *as_json);
    });
  });
}

}  // namespace bj
