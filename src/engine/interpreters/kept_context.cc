// The part of a context that outlives its server. Between executions the keeper has the ends of the context's process,
// and the next server goes on with it. During one it has the note alone, for half a message may have been read: the
// next server ends such a process, which may run for ever, and the context starts anew. A checkpoint is kept by itself.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>

#include "engine/interpreters/interpreter_context.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kContexts = "/context/";
constexpr const char* kCheckpoints = "/checkpoint/";
constexpr size_t kEnds = 3;  // and, of bash, its input

int64_t ns_of(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

Clock::time_point time_of(const json::value& ns) {
  return Clock::time_point(std::chrono::nanoseconds(ns.to_number<int64_t>()));
}

Result<json::object> read_note(const KeptThing& thing) {
  json::error_code bad;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // a directory's name is bytes
  json::value value = json::parse(thing.note, bad, {}, options);
  if (bad || !value.is_object()) return fail(Code::kInternal, "what was kept of a context can't be read");
  return std::move(value.get_object());
}

}  // namespace

std::optional<KeptContextKey> kept_context_key(const std::string& sandbox, const std::string& key) {
  const std::string all = sandbox + kContexts;
  if (sandbox.empty() || !key.starts_with(all)) return {};
  const std::string rest = key.substr(all.size());
  const size_t end = rest.find(kCheckpoints);
  if (end == std::string::npos) return KeptContextKey{rest, ""};
  return KeptContextKey{rest.substr(0, end), rest.substr(end + std::string_view(kCheckpoints).size())};
}

std::string InterpreterContext::key() const {
  return sandbox_->kept_as().empty() || sandbox_ended_ ? "" : sandbox_->kept_as() + kContexts + id_;
}

void InterpreterContext::keep() {
  const std::string own = key();
  if (own.empty()) return;
  KeepRequest request;
  request.note = json::serialize(json::object{{"language", name_of(language_)},
                                              {"directory", directory_},
                                              {"usual", role_ == ContextRole::kUsual},
                                              {"made_ns", ns_of(made_)},
                                              {"count", count_},
                                              {"had_process", had_process_},
                                              {"pid", process_ ? process_->pid() : 0}});
  if (process_ && !running_) request.descriptors = process_->descriptors();
  sandbox_->host().launcher->keep(own, request);
}

void InterpreterContext::keep_checkpoint(const Kept& kept) {
  const std::string own = key();
  if (own.empty()) return;
  KeepRequest request;
  request.note = json::serialize(
      json::object{{"count", kept.about.count}, {"made_ns", ns_of(kept.about.made)}, {"order", kept.order}});
  request.descriptors = {kept.process->descriptors().front()};
  sandbox_->host().launcher->keep(own + kCheckpoints + kept.about.id, request);
}

void InterpreterContext::forget_checkpoint(const std::string& id) {
  if (const std::string own = key(); !own.empty()) sandbox_->host().launcher->forget(own + kCheckpoints + id);
}

void InterpreterContext::forget_all() {
  for (const auto& [id, kept] : checkpoints_) forget_checkpoint(id);
  if (const std::string own = key(); !own.empty()) sandbox_->host().launcher->forget(own);
}

Result<std::shared_ptr<InterpreterContext>> InterpreterContext::take_up(const asio::any_io_executor& executor,
                                                                        std::shared_ptr<Sandbox> sandbox,
                                                                        std::shared_ptr<InterpreterZygote> zygote,
                                                                        std::string id, KeptThing thing) {
  BJ_TRY(const json::object note, read_note(thing));
  BJ_TRY(const ContextLanguage language, context_language_of(note.at("language").as_string()));
  auto context = std::make_shared<InterpreterContext>(
      executor, std::move(sandbox), std::move(zygote), language, std::string(note.at("directory").as_string()),
      note.at("usual").as_bool() ? ContextRole::kUsual : ContextRole::kFurther);
  context->id_ = std::move(id);
  context->made_ = time_of(note.at("made_ns"));
  context->count_ = note.at("count").to_number<int64_t>();
  context->had_process_ = note.at("had_process").as_bool();
  const int pid = note.at("pid").to_number<int>();
  if (thing.descriptors.size() >= kEnds) {
    ContextEnds ends;
    ends.channel = std::move(thing.descriptors[0]);
    ends.output = std::move(thing.descriptors[1]);
    ends.error = std::move(thing.descriptors[2]);
    if (thing.descriptors.size() > kEnds) ends.input = std::move(thing.descriptors[kEnds]);
    ends.pid = pid;
    context->process_ = ContextProcess::adopt(executor, std::move(ends));
    context->process_->set_reading(ContextProcess::Reading::kOff);
  } else if (pid > 1) {
    spawn(executor,
          [kept = context->sandbox_, pid]() -> Task<void> { (void)co_await kept->signal_group(pid, SIGKILL); });
  }
  return context;
}

Result<void> InterpreterContext::take_up_checkpoint(const std::string& id, KeptThing thing) {
  BJ_TRY(const json::object note, read_note(thing));
  if (thing.descriptors.empty()) return fail(Code::kInternal, "a checkpoint was kept without its channel");
  BJ_TRY(auto process, waiting_process(std::move(thing.descriptors.front())));
  const auto order = note.at("order").to_number<size_t>();
  checkpoints_[id] = {{id, note.at("count").to_number<int64_t>(), time_of(note.at("made_ns"))}, process, order};
  checkpoints_made_ = std::max(checkpoints_made_, order);
  return {};
}

}  // namespace bj
