#include "engine/interpreters/interpreters.h"

#include <algorithm>

#include "base/log.h"
#include "engine/interpreters/interpreter_zygote.h"

namespace bj {
namespace {

constexpr size_t kMostContexts = 64;

}  // namespace

Interpreters::Interpreters(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox,
                           std::string directory)
    : executor_(executor),
      sandbox_(std::move(sandbox)),
      zygote_(std::make_shared<InterpreterZygote>(executor, sandbox_)),
      directory_(std::move(directory)) {
  (void)usual(ContextLanguage::kPython);
  (void)usual(ContextLanguage::kJavaScript);
}

Interpreters::~Interpreters() { end(); }

std::shared_ptr<InterpreterContext> Interpreters::make(ContextLanguage language, std::string directory,
                                                       ContextRole role) {
  return std::make_shared<InterpreterContext>(executor_, sandbox_, zygote_, language,
                                              directory.empty() ? directory_ : std::move(directory), role);
}

Task<Result<std::shared_ptr<InterpreterContext>>> Interpreters::create(ContextLanguage language,
                                                                       std::string directory) {
  if (contexts_.size() >= kMostContexts) {
    co_return fail(Code::kConflict, "a sandbox has " + std::to_string(kMostContexts) + " contexts at most: remove one");
  }
  auto context = make(language, std::move(directory), ContextRole::kFurther);
  contexts_.push_back(context);
  const Result<void> started = co_await context->start();
  if (started) co_return context;
  (void)remove(context->id());
  co_return tl::unexpected(started.error());
}

Result<std::shared_ptr<InterpreterContext>> Interpreters::find(const std::string& id) const {
  for (const auto& context : contexts_) {
    if (context->id() == id) return context;
  }
  return fail(Code::kNotFound, "the sandbox has no context \"" + id.substr(0, 64) + "\"");
}

std::shared_ptr<InterpreterContext> Interpreters::usual(ContextLanguage language) {
  if (const auto found = usual_.find(language); found != usual_.end()) {
    if (const auto context = find(found->second)) return *context;
  }
  auto context = make(language, "", ContextRole::kUsual);
  contexts_.push_back(context);
  usual_[language] = context->id();
  return context;
}

void Interpreters::take_up(std::vector<KeptThing>& parts) {
  std::vector<std::shared_ptr<InterpreterContext>> found;
  std::vector<std::pair<KeptContextKey, KeptThing>> checkpoints;
  for (KeptThing& thing : parts) {
    const std::optional<KeptContextKey> key = kept_context_key(sandbox_->kept_as(), thing.key);
    if (!key) continue;
    if (!key->checkpoint.empty()) {
      checkpoints.emplace_back(*key, std::move(thing));
      continue;
    }
    auto context = InterpreterContext::take_up(executor_, sandbox_, zygote_, key->context, std::move(thing));
    if (context) {
      found.push_back(std::move(*context));
    } else {
      log_warning("context_not_taken_up", {{"context", key->context}, {"why", context.error().what}});
    }
  }
  const auto earlier = [](const auto& a, const auto& b) { return a->made() < b->made(); };
  std::sort(found.begin(), found.end(), earlier);
  for (const auto& context : found) {
    if (context->role() == ContextRole::kUsual) {
      if (const auto fresh = find(usual_[context->language()])) std::erase(contexts_, *fresh);
      usual_[context->language()] = context->id();
    }
    contexts_.push_back(context);
  }
  for (auto& [key, thing] : checkpoints) {
    const auto context = find(key.context);
    if (context) (void)(*context)->take_up_checkpoint(key.checkpoint, std::move(thing));
  }
}

Result<void> Interpreters::remove(const std::string& id) {
  BJ_TRY(const auto context, find(id));
  context->end(InterpreterContext::Ending::kKill);
  std::erase(contexts_, context);
  return {};
}

void Interpreters::start_ahead() {
  spawn(executor_, [zygote = zygote_]() -> Task<void> { (void)co_await zygote->ensure(); });
}

void Interpreters::end() {
  for (const auto& context : contexts_) context->end(InterpreterContext::Ending::kWithSandbox);
  contexts_.clear();
}

}  // namespace bj
