#include "control/code_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/character_cutter.h"

namespace bj {
namespace {

constexpr size_t kMostResultBytes = 32 << 20;  // of a collected execution

bool is_variable_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<void> check(const Execution& execution) {
  for (const auto& [name, value] : execution.environment) {
    if (!is_variable_name(name)) return fail(Code::kInvalid, "\"" + short_name(name) + "\" is no variable's name");
    if (value.find('\0') != std::string::npos)
      return fail(Code::kInvalid, "the value of " + name + " holds a NUL byte");
  }
  return {};
}

// What passes by on its way to the listener, as the receipt has it.
struct Passing {
  ExecutionListener listener;
  CharacterCutter output, error;
  uint64_t output_bytes = 0, results = 0;

  Task<bool> pass(ExecutionEvent event) {
    if (event.kind == ExecutionEventKind::kOutput || event.kind == ExecutionEventKind::kErrorOutput) {
      output_bytes += event.text.size();
      CharacterCutter& cutter = event.kind == ExecutionEventKind::kOutput ? output : error;
      event.text = cutter.feed(event.text);
      if (event.text.empty()) co_return true;
    }
    if (event.kind == ExecutionEventKind::kResult) ++results;
    if (!listener) co_return true;
    co_return co_await listener(std::move(event));
  }

  // A character that was never finished.
  Task<void> finish() {
    for (const auto kind : {ExecutionEventKind::kOutput, ExecutionEventKind::kErrorOutput}) {
      ExecutionEvent event;
      event.kind = kind;
      event.text = (kind == ExecutionEventKind::kOutput ? output : error).rest();
      if (!event.text.empty() && listener) (void)co_await listener(std::move(event));
    }
  }
};

const char* outcome_of(const ExecutionEnd& end) {
  if (end.timed_out) return "timeout";
  return end.error ? "error" : "success";
}

}  // namespace

Task<Result<ExecutionEnd>> CodeRunner::run(Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                                           std::shared_ptr<InterpreterContext> context, Execution execution,
                                           ExecutionListener listener) {
  BJ_CO_CHECK(co_await audit_.admit());
  BJ_CO_CHECK(check(execution));
  const size_t code_bytes = execution.code.size();
  const auto passing = std::make_shared<Passing>();
  passing->listener = std::move(listener);
  Result<ExecutionEnd> end = co_await context->execute(
      std::move(execution), [passing](ExecutionEvent event) { return passing->pass(std::move(event)); });
  if (!end) co_return tl::unexpected(end.error());
  co_await passing->finish();
  const char* const language = name_of(context->language());
  const char* const outcome = outcome_of(*end);
  sandbox->log.add(now_(), end->error ? "warning" : "info",
                   fmt::format("{} was executed in {}: {}", language, context->id(), outcome));
  Event event;
  event.kind = EventKind::kCommand;
  event.action = "sandbox.execute";
  event.actor = actor;
  event.subject = sandbox->row.id;
  event.outcome = outcome;
  event.detail = {{"context", context->id()},    {"language", language},
                  {"code_bytes", code_bytes},    {"output_bytes", passing->output_bytes},
                  {"results", passing->results}, {"duration_ms", end->duration_ms}};
  audit_.add(event);
  co_return end;
}

Task<Result<CollectedExecution>> CodeRunner::collect(Actor actor, std::shared_ptr<HeldSandbox> sandbox,
                                                     std::shared_ptr<InterpreterContext> context, Execution execution,
                                                     uint64_t limit_bytes) {
  const auto all = std::make_shared<CollectedExecution>();
  const auto room = std::make_shared<size_t>(kMostResultBytes);
  const auto take = [all, room, limit_bytes](ExecutionEvent event) -> Task<bool> {
    if (event.kind == ExecutionEventKind::kOutput || event.kind == ExecutionEventKind::kErrorOutput) {
      Captured& into = event.kind == ExecutionEventKind::kOutput ? all->output : all->error;
      const uint64_t left = limit_bytes - std::min<uint64_t>(limit_bytes, into.text.size());
      const bool fits = event.text.size() <= left;
      into.text += fits ? event.text : CharacterCutter().feed(std::string_view(event.text).substr(0, left));
      into.dropped += fits ? 0 : event.text.size() - left;
    } else if (event.kind == ExecutionEventKind::kResult) {
      const size_t size = boost::json::serialize(event.data).size();
      if (size <= *room) {
        *room -= size;
        all->results.push_back(std::move(event));
      } else {
        ++all->results_dropped;
      }
    }
    co_return true;
  };
  BJ_CO_TRY(all->end,
            co_await run(std::move(actor), std::move(sandbox), std::move(context), std::move(execution), take));
  co_return std::move(*all);
}

}  // namespace bj
