#include "cli/sandbox_code.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/object.hpp>
#include <memory>

#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/server_client.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kLargestCode = 16 << 20;

struct CodeFlags {
  std::string server, id, code, file, language, context, timeout;
  std::map<std::string, std::string> variables;
  bool given = false;  // -c
};

std::string language_of_file(const std::string& file) {
  const size_t dot = file.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : file.substr(dot + 1);
  if (ending == "js" || ending == "mjs" || ending == "cjs") return "javascript";
  if (ending == "ts" || ending == "mts" || ending == "cts") return "typescript";
  if (ending == "sh" || ending == "bash") return "bash";
  return "python";
}

Result<std::string> read_code(const CodeFlags& flags) {
  if (flags.given) return flags.code;
  if (flags.file.empty() || flags.file == "-") return read_all(STDIN_FILENO, kLargestCode, "stdin");
  BJ_TRY(const Fd file, open_path(flags.file, O_RDONLY));
  return read_all(file.get(), kLargestCode, flags.file);
}

std::string text_at(const json::value& object, std::string_view key) {
  const json::value* const found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

bool truth_at(const json::value& object, std::string_view key) {
  const json::value* const found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_bool() && found->get_bool();
}

// What people can read of a result; of pictures, that there is one.
std::string shown(const json::value& result) {
  std::string text = text_at(result, "text");
  for (const char* const picture : {"png", "jpeg", "svg", "pdf"}) {
    if (!text_at(result, picture).empty()) text += std::string(text.empty() ? "[" : " [") + picture + "]";
  }
  return text + "\n";
}

int status_at_end(const json::value& end) {
  if (truth_at(end, "timed_out")) return kExitTimeout;
  const json::value* const error = end.is_object() ? end.get_object().if_contains("error") : nullptr;
  return error == nullptr || error->is_null() ? kExitOk : kExitFailed;
}

Result<int> follow(ServerClient& server, const std::string& path, const json::object& body) {
  int status = kExitFailed;
  BJ_CHECK(server.listen("POST", path, body, [&status](const ServerEvent& event) {
    if (event.name == "stdout") print_untrusted(STDOUT_FILENO, text_at(event.data, "text"));
    if (event.name == "stderr") print_untrusted(STDERR_FILENO, text_at(event.data, "text"));
    if (event.name == "result") print_untrusted(STDOUT_FILENO, shown(event.data));
    if (event.name == "failed") complain(text_at(event.data, "detail"));
    if (event.name == "error") {
      const std::string traceback = text_at(event.data, "traceback");
      const std::string line = text_at(event.data, "name") + ": " + text_at(event.data, "value");
      print_untrusted(STDERR_FILENO, (traceback.empty() ? line : traceback) + "\n");
    }
    if (event.name == "end") status = status_at_end(event.data);
  }));
  return status;
}

Result<int> execute(const CodeFlags& flags, const Settings& settings) {
  BJ_TRY(const std::string code, read_code(flags));
  json::object body{{"code", code}, {"timeout", 0}};
  json::object variables;
  for (const auto& [name, value] : flags.variables) variables[name] = value;
  body["env"] = std::move(variables);
  if (!flags.timeout.empty()) {
    BJ_TRY(const uint64_t ms, parse_duration_ms(flags.timeout));
    body["timeout"] = (ms + 999) / 1000;
  }
  std::string path = "/v1/sandboxes/" + ServerClient::escaped(flags.id);
  if (flags.context.empty()) {
    body["language"] = flags.language.empty() ? language_of_file(flags.file) : flags.language;
  } else {
    path += "/contexts/" + ServerClient::escaped(flags.context);
  }
  path += "/execute";
  BJ_TRY(ServerClient server, ServerClient::open(settings, flags.server));
  if (!settings.json) return follow(server, path, body);
  BJ_TRY(const json::value answer, server.ask("POST", path, body));
  print_json(answer);
  return status_at_end(answer);
}

}  // namespace

void add_sandbox_code(CLI::App& sandbox, Context& context) {
  auto flags = std::make_shared<CodeFlags>();
  CLI::App* const command = add_subcommand(sandbox, "code", "Execute code in a sandbox's interpreter; its state stays");
  command->add_option("--server", flags->server, "the server's url [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");
  command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  command->add_option("file", flags->file, "the code; - or nothing: stdin")->type_name("FILE");
  CLI::Option* const code = command->add_option("-c", flags->code, "the code itself")->type_name("CODE");
  command
      ->add_option("--language", flags->language,
                   "python, javascript, typescript or bash [by the file's name, else python]")
      ->type_name("NAME");
  command->add_option("--context", flags->context, "a context of the sandbox [the language's default]")
      ->type_name("ID");
  command->add_option("--timeout", flags->timeout, "interrupt it after this time [never]")->type_name("TIME");
  add_env_flag(*command, flags->variables);
  add_json_flag(*command, context, "print {results, stdout, stderr, error, ...} at the end");
  command->callback([flags, code, &context] {
    flags->given = code->count() > 0;
    const Result<int> status = execute(*flags, context.settings);
    if (status) {
      context.status = *status;
      return;
    }
    const Error& error = status.error();
    complain(error.what);
    context.status = error.code == Code::kInvalid || error.code == Code::kNotFound ? kExitUsage : status_of(error);
  });
}

}  // namespace bj
