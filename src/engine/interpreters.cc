#include "engine/interpreters.h"

#include <algorithm>

#include "engine/interpreter_zygote.h"

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

std::shared_ptr<InterpreterContext> Interpreters::make(ContextLanguage language, std::string directory) {
  return std::make_shared<InterpreterContext>(executor_, sandbox_, zygote_, language,
                                              directory.empty() ? directory_ : std::move(directory));
}

Task<Result<std::shared_ptr<InterpreterContext>>> Interpreters::create(ContextLanguage language,
                                                                       std::string directory) {
  if (contexts_.size() >= kMostContexts) {
    co_return fail(Code::kConflict, "a sandbox has " + std::to_string(kMostContexts) + " contexts at most: remove one");
  }
  auto context = make(language, std::move(directory));
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
  auto context = make(language, "");
  contexts_.push_back(context);
  usual_[language] = context->id();
  return context;
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
