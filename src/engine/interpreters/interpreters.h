// The contexts of one sandbox. Each language has a default one, which is there from the beginning for Python and
// JavaScript, and starts when it is first used. They end with the sandbox.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/interpreters/interpreter_context.h"

namespace bj {

// The variable of a template that names the modules its Python contexts begin with, such as "numpy,pandas"; the
// interpreter is then started with the sandbox.
inline constexpr const char* kPreloadVariable = "BELLJAR_PRELOAD";

// Stays on its executor's thread.
class Interpreters {
 public:
  // `directory`: where contexts start unless they ask for another place.
  Interpreters(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox, std::string directory);
  ~Interpreters();

  // Goes on with those of another server: takes what the keeper had of them out of the parts of their sandbox.
  void take_up(std::vector<KeptThing>& parts);

  // Started and ready. kInvalid: the directory is not there; kConflict: there are too many.
  Task<Result<std::shared_ptr<InterpreterContext>>> create(ContextLanguage language, std::string directory);
  Result<std::shared_ptr<InterpreterContext>> find(const std::string& id) const;
  // Made at its first use; not started by this.
  std::shared_ptr<InterpreterContext> usual(ContextLanguage language);
  const std::vector<std::shared_ptr<InterpreterContext>>& all() const {
    return contexts_;
  }  // in the order they were made
  Result<void> remove(const std::string& id);
  // Starts the interpreter that Python's contexts are forked from, in the background.
  void start_ahead();
  // The sandbox ends: it is not touched any more.
  void end();

 private:
  std::shared_ptr<InterpreterContext> make(ContextLanguage language, std::string directory, ContextRole role);

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<InterpreterZygote> zygote_;
  std::string directory_;
  std::vector<std::shared_ptr<InterpreterContext>> contexts_;
  std::map<ContextLanguage, std::string> usual_;
};

}  // namespace bj
