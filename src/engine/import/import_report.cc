#include "engine/import/import_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <ctime>
#include <utility>

#include "engine/import/import_entry.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostVariables = 256, kLongestVariable = 32u << 10, kLongestEnvironment = 128u << 10;
constexpr size_t kLongestUser = 65, kLongestWorkdir = 4096;
constexpr size_t kMostNotes = 64, kLongestNote = 2000;

constexpr std::array kLeftOut = {"GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH",          "BASH_ENV",         "ENV",
                                 "PYTHONSTARTUP",  "PYTHONHOME", "PYTHONINSPECT",    "PYTHONBREAKPOINT", "NODE_OPTIONS",
                                 "PERL5OPT",       "RUBYOPT",    "JAVA_TOOL_OPTIONS"};

bool valid_variable_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c == '_' || (c < 128 && std::isalnum(c) != 0); });
}

bool steers_others(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name.starts_with("LD_") || upper.ends_with("_PROXY") ||
         std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end();
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

bool valid_user(std::string_view user) {
  if (user.size() > kLongestUser || std::count(user.begin(), user.end(), ':') > 1) return false;
  if (user.starts_with('-') || user.starts_with(':') || user.ends_with(':')) return false;
  return std::all_of(user.begin(), user.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':');
  });
}

bool valid_workdir(std::string_view path) {
  if (path.empty()) return true;
  return path[0] == '/' && path.size() <= kLongestWorkdir && !has_control(path) &&
         split_entry_path(path, {}).has_value();
}

void add_variable(ImageSettings& settings, const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto left_out = [&](const std::string& why) {
    if (settings.notes.size() < kMostNotes)
      settings.notes.push_back("the image's variable " + printable(name, 60) + " is left out: " + why);
  };
  if (equals == std::string::npos || !valid_variable_name(name)) return left_out("it is not NAME=VALUE");
  if (text.size() > kLongestVariable || text.find('\0') != std::string::npos)
    return left_out("its value is too long or holds a NUL");
  if (steers_others(name)) return left_out("it steers programs that are not the image's own");
  size_t total = text.size();
  for (const auto& [known, value] : settings.environment) total += known.size() + value.size() + 1;
  if (settings.environment.size() >= kMostVariables || total > kLongestEnvironment)
    return left_out("there is too much of them");
  settings.environment[name] = text.substr(equals + 1);
}

uint64_t number_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return 0;
  boost::system::error_code failed;
  const auto number = value->to_number<uint64_t>(failed);
  return failed ? 0 : number;
}

std::string text_of(const json::object& object, std::string_view key, size_t limit) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string() || value->get_string().size() > limit) return {};
  return std::string(value->get_string());
}

ImageSettings settings_of(const json::object& object) {
  std::vector<std::string> variables;
  const json::value* environment = object.if_contains("environment");
  if (environment != nullptr && environment->is_object()) {
    for (const auto& [name, value] : environment->get_object()) {
      if (value.is_string()) variables.push_back(std::string(name) + "=" + std::string(value.get_string()));
    }
  }
  return checked_settings(variables, text_of(object, "user", kLongestUser),
                          text_of(object, "workdir", kLongestWorkdir));
}

json::object environment_of(const ImageSettings& settings) {
  json::object out;
  for (const auto& [name, value] : settings.environment) out[name] = value;
  return out;
}

json::object to_json(const ImportProgress& progress) {
  return {{"progress",
           {{"entries", progress.entries},
            {"bytes", progress.bytes},
            {"layer", progress.layer},
            {"layers", progress.layers}}}};
}

json::object to_json(const Error& error) {
  return {
      {"error",
       {{"code", static_cast<int>(error.code)}, {"what", printable(error.what, kLongestNote)}, {"sys", error.sys}}}};
}

// Each number of the report under its name: one list for both directions.
template <class Report, class Visit>
void each_number(Report& report, Visit visit) {
  visit("entries", report.entries);
  visit("bytes", report.bytes);
  visit("layers", report.layers);
  visit("special_files", report.special_files);
  visit("set_id_bits", report.set_id_bits);
  visit("attributes", report.attributes);
  visit("owners", report.owners);
  visit("landlock_abi", report.landlock_abi);
}

json::object to_json(const ImportReport& report) {
  json::object done{{"kind", report.kind}, {"user", report.settings.user}, {"workdir", report.settings.workdir}};
  each_number(report, [&](const char* name, auto number) { done[name] = static_cast<uint64_t>(number); });
  done["environment"] = environment_of(report.settings);
  json::array notes;
  for (const std::string& note : report.notes) notes.emplace_back(note);
  done["notes"] = std::move(notes);
  return {{"done", std::move(done)}};
}

ImportProgress progress_of(const json::object& object) {
  return {number_of(object, "entries"), number_of(object, "bytes"), number_of(object, "layer"),
          number_of(object, "layers")};
}

ImportReport report_of(const json::object& object) {
  ImportReport report;
  report.kind = printable(text_of(object, "kind", 32));
  each_number(report, [&](const char* name, auto& number) {
    number = static_cast<std::decay_t<decltype(number)>>(number_of(object, name));
  });
  report.settings = settings_of(object);
  const json::value* notes = object.if_contains("notes");
  if (notes == nullptr || !notes->is_array()) return report;
  for (const json::value& note : notes->get_array()) {
    if (note.is_string() && report.notes.size() < kMostNotes)
      report.notes.push_back(printable(std::string(note.get_string()), kLongestNote));
  }
  return report;
}

Error error_of(const json::object& object) {
  const uint64_t code = std::min<uint64_t>(number_of(object, "code"), static_cast<uint64_t>(Code::kInternal));
  return {static_cast<Code>(code), printable(text_of(object, "what", kLongestMessage), kLongestNote),
          static_cast<int>(number_of(object, "sys") & 0xFFF)};
}

Result<json::object> parse_object(std::string_view text, const std::string& what) {
  json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code failed;
  json::value value = json::parse({text.data(), text.size()}, failed, {}, options);
  if (failed || !value.is_object()) return fail(Code::kInternal, what + " is not a JSON object");
  return std::move(value.get_object());
}

}  // namespace

ImageSettings checked_settings(const std::vector<std::string>& environment, const std::string& user,
                               const std::string& workdir) {
  ImageSettings settings;
  for (const std::string& variable : environment) add_variable(settings, variable);
  if (valid_user(user)) {
    settings.user = user;
  } else {
    settings.notes.push_back("the image's user is left out, because it is neither a name nor a number: " +
                             printable(user, 60));
  }
  if (valid_workdir(workdir)) {
    settings.workdir = workdir;
  } else {
    settings.notes.push_back("the image's working directory is left out, because it is not a plain absolute path: " +
                             printable(workdir, 60));
  }
  return settings;
}

std::string encode(const ImportMessage& message) {
  return json::serialize(std::visit([](const auto& each) { return to_json(each); }, message)) + "\n";
}

Result<ImportMessage> decode(std::string_view line) {
  BJ_TRY(const json::object object, parse_object(line, "the import's message"));
  const auto part = [&](const char* key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr ? value->if_object() : nullptr;
  };
  if (const json::object* progress = part("progress")) return progress_of(*progress);
  if (const json::object* done = part("done")) return report_of(*done);
  if (const json::object* error = part("error")) return ImportMessage(error_of(*error));
  return fail(Code::kInternal, "the import's message is of no known kind");
}

std::string template_json(const std::string& name, const std::string& source, const ImportReport& report) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char created[32] = {};
  std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return json::serialize(json::object{{"name", name},
                                      {"source", printable(source)},
                                      {"kind", report.kind},
                                      {"environment", environment_of(report.settings)},
                                      {"user", report.settings.user},
                                      {"workdir", report.settings.workdir},
                                      {"created", created}}) +
         "\n";
}

Result<ImageSettings> read_image_settings(const std::string& template_directory) {
  constexpr size_t kLargest = kMostVariables * kLongestVariable * 2;
  const Result<std::string> text = read_file(template_directory + "/template.json", kLargest);
  if (!text && text.error().code == Code::kNotFound) return ImageSettings{};
  if (!text) return tl::unexpected(text.error());
  BJ_TRY(const json::object object, parse_object(*text, template_directory + "/template.json"));
  return settings_of(object);
}

}  // namespace bj
