#include "tools/sandbox_config.h"

#include <algorithm>

#include "tools/model_reader.h"
#include "tools/network_layers.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr SandboxType kTypes[] = {SandboxType::kLocal, SandboxType::kE2b, SandboxType::kModal};

std::string_view model_name(SandboxType type) {
  switch (type) {
    case SandboxType::kLocal: return "LocalSandboxConfig";
    case SandboxType::kE2b: return "E2BSandboxConfig";
    case SandboxType::kModal: return "ModalSandboxConfig";
  }
  return "";
}

// One model tried on an object.
struct Candidate {
  SandboxConfigInput config;
  FieldErrors errors;
  size_t fields_set = 0;
  bool exact = true;
};

// Stores a field in `full` if it has a value, and in `given` if it was set too.
void put(Candidate& candidate, const ModelReader& reader, std::string_view key, std::optional<json::value> value) {
  if (!value) return;
  if (reader.given(key)) candidate.config.given[key] = *value;
  candidate.config.full[key] = std::move(*value);
}

std::optional<json::value> as_json(const std::optional<std::string>& text) {
  return text ? std::optional<json::value>(json::value(*text)) : std::nullopt;
}

std::optional<json::value> as_json(const std::optional<std::vector<std::string>>& texts) {
  return texts ? std::optional<json::value>(json::value(json::array(texts->begin(), texts->end()))) : std::nullopt;
}

// Ours, beside Letta's fields, of local configurations: what calls may reach and with which credentials. Absent,
// nothing is stored of them.
constexpr const char* kOurKeys[] = {"network", "credentials"};

void refuse(Candidate& candidate, const ModelReader& reader, const char* key, const json::value& value,
            const std::string& what) {
  candidate.errors.push_back({"value_error", reader.loc(key), "Value error, " + what, value,
                              "{'error': ValueError(" + python_repr(std::string_view(what)) + ")}"});
}

void read_network(ModelReader& reader, Candidate& candidate) {
  for (const char* const key : kOurKeys) {
    const json::value* const value = reader.take(key);
    if (value == nullptr) continue;
    if (const auto good = check_network_wish({{key, *value}}, "sandbox configuration"); !good) {
      refuse(candidate, reader, key, *value, good.error().what);
      continue;
    }
    const json::value nothing = std::string_view(key) == "network" ? json::value("none") : json::value(json::array());
    put(candidate, reader, key, value->is_null() ? nothing : *value);
  }
}

// What nobody would keep must not look as if it were kept.
void refuse_network(ModelReader& reader, Candidate& candidate) {
  for (const char* const key : kOurKeys) {
    if (const json::value* const value = reader.take(key))
      refuse(candidate, reader, key, *value, std::string("only local configurations can have \"") + key + "\"");
  }
}

void read_local(ModelReader& reader, Candidate& candidate) {
  put(candidate, reader, "sandbox_dir", as_json(reader.optional_string("sandbox_dir")));
  put(candidate, reader, "use_venv", json::value(reader.boolean_or("use_venv", false)));
  put(candidate, reader, "venv_name", json::value(reader.string_or("venv_name", "venv")));
  Requirements pip;
  if (const json::value* list = reader.take("pip_requirements")) {
    pip = read_requirements(*list, reader.loc("pip_requirements"), candidate.errors);
  }
  put(candidate, reader, "pip_requirements", json::value(requirements_json(pip)));
  read_network(reader, candidate);
}

void read_e2b(ModelReader& reader, Candidate& candidate) {
  put(candidate, reader, "timeout", json::value(reader.integer_or("timeout", 300)));
  put(candidate, reader, "template", as_json(reader.optional_string("template")));
  put(candidate, reader, "pip_requirements", as_json(reader.optional_strings("pip_requirements")));
  refuse_network(reader, candidate);
}

void read_modal(ModelReader& reader, Candidate& candidate) {
  put(candidate, reader, "timeout", json::value(reader.integer_or("timeout", 60)));
  put(candidate, reader, "pip_requirements", as_json(reader.optional_strings("pip_requirements")));
  put(candidate, reader, "npm_requirements", as_json(reader.optional_strings("npm_requirements")));
  put(candidate, reader, "language", json::value(reader.choice_or("language", "python", {"python", "typescript"})));
  refuse_network(reader, candidate);
}

// Null counts as absent here, which is what makes the filled-in key count as set.
void fill_in(json::object& object, std::string_view key, json::value value) {
  const json::value* present = object.if_contains(key);
  if (present == nullptr || present->is_null()) object[key] = std::move(value);
}

Candidate try_model(SandboxType type, json::value config, const json::array& loc, const SandboxDefaults& defaults) {
  Candidate candidate;
  candidate.config.type = type;
  if (json::object* object = config.if_object()) {
    if (type == SandboxType::kLocal) fill_in(*object, "sandbox_dir", json::value(defaults.local_directory));
    if (type == SandboxType::kE2b) {
      fill_in(*object, "template", defaults.e2b_template ? json::value(*defaults.e2b_template) : json::value(nullptr));
    }
  }
  ModelReader reader(config, loc, candidate.errors);
  switch (type) {
    case SandboxType::kLocal: read_local(reader, candidate); break;
    case SandboxType::kE2b: read_e2b(reader, candidate); break;
    case SandboxType::kModal: read_modal(reader, candidate); break;
  }
  candidate.fields_set = reader.fields_given();
  candidate.exact = reader.exact();
  return candidate;
}

bool better(const Candidate& candidate, const Candidate& best) {
  if (candidate.fields_set != best.fields_set) return candidate.fields_set > best.fields_set;
  return candidate.exact && !best.exact;
}

FieldError unknown_type(const json::array& loc, const json::value& value) {
  return {"enum", deeper(loc, "type"), "Input should be 'e2b', 'modal' or 'local'", value,
          "{'expected': \"'e2b', 'modal' or 'local'\"}"};
}

std::string first_problem(SandboxType type, const FieldErrors& errors) {
  return "the stored " + std::string(sandbox_type_name(type)) +
         " configuration is broken: " + field_errors_repr(errors);
}

Result<json::object> checked(SandboxType type, const json::object& stored, const SandboxDefaults& defaults) {
  ConfigResult config = read_sandbox_config_as(type, json::value(stored), {}, defaults);
  if (!config) return fail(Code::kInternal, first_problem(type, config.error()));
  return std::move(config->full);
}

std::vector<std::string> texts_of(const json::object& config, std::string_view key) {
  std::vector<std::string> texts;
  if (const json::value* list = config.if_contains(key)) {
    for (const json::value& item : list->get_array()) texts.emplace_back(item.get_string());
  }
  return texts;
}

}  // namespace

std::string_view sandbox_type_name(SandboxType type) {
  switch (type) {
    case SandboxType::kLocal: return "local";
    case SandboxType::kE2b: return "e2b";
    case SandboxType::kModal: return "modal";
  }
  return "";
}

std::optional<SandboxType> sandbox_type_named(std::string_view name) {
  for (const SandboxType type : kTypes) {
    if (name == sandbox_type_name(type)) return type;
  }
  return std::nullopt;
}

ConfigResult read_sandbox_config(const json::value& config, const json::array& loc, const SandboxDefaults& defaults) {
  const json::object* object = config.if_object();
  if (const json::value* type = object == nullptr ? nullptr : object->if_contains("type")) {
    const auto named = type->is_string() ? sandbox_type_named(type->get_string()) : std::nullopt;
    if (!named) return tl::unexpected(FieldErrors{unknown_type(loc, *type)});
    return read_sandbox_config_as(*named, config, loc, defaults);
  }
  for (const char* const key : kOurKeys) {
    if (object != nullptr && object->contains(key))
      return read_sandbox_config_as(SandboxType::kLocal, config, loc, defaults);
  }
  std::optional<Candidate> best;
  FieldErrors errors;
  for (const SandboxType type : kTypes) {
    Candidate candidate = try_model(type, config, deeper(loc, json::value(model_name(type))), defaults);
    if (!candidate.errors.empty()) {
      std::move(candidate.errors.begin(), candidate.errors.end(), std::back_inserter(errors));
    } else if (!best || better(candidate, *best)) {
      best = std::move(candidate);
    }
  }
  if (!best) return tl::unexpected(std::move(errors));
  return std::move(best->config);
}

ConfigResult read_sandbox_config_as(SandboxType type, const json::value& config, const json::array& loc,
                                    const SandboxDefaults& defaults) {
  Candidate candidate = try_model(type, config, loc, defaults);
  if (!candidate.errors.empty()) return tl::unexpected(std::move(candidate.errors));
  return std::move(candidate.config);
}

json::object default_sandbox_config(SandboxType type, const SandboxDefaults& defaults) {
  return read_sandbox_config_as(type, json::object(), {}, defaults)->full;
}

Result<void> check_same_type(SandboxType stored, SandboxType update) {
  if (stored == update) return {};
  const auto member = [](SandboxType type) {
    std::string name(sandbox_type_name(type));
    std::transform(name.begin(), name.end(), name.begin(), ::toupper);
    return "SandboxType." + name;
  };
  return fail(Code::kInvalid, "Mismatched type for sandbox config update: tried to update sandbox_config of type " +
                                  member(stored) + " with config of type " + member(update));
}

Result<LocalConfig> local_config(const json::object& stored, const SandboxDefaults& defaults) {
  BJ_TRY(const json::object config, checked(SandboxType::kLocal, stored, defaults));
  LocalConfig local;
  local.directory = config.at("sandbox_dir").get_string();
  local.use_venv = config.at("use_venv").get_bool();
  local.venv_name = config.at("venv_name").get_string();
  FieldErrors none;
  local.pip = read_requirements(config.at("pip_requirements"), {}, none);
  return local;
}

Result<E2bConfig> e2b_config(const json::object& stored, const SandboxDefaults& defaults) {
  BJ_TRY(const json::object config, checked(SandboxType::kE2b, stored, defaults));
  E2bConfig e2b;
  e2b.timeout_s = config.at("timeout").get_int64();
  e2b.pip = texts_of(config, "pip_requirements");
  const json::value* own = config.if_contains("template");
  e2b.template_id = defaults.e2b_template;
  if (!e2b.template_id && own != nullptr) e2b.template_id = std::string(own->get_string());
  return e2b;
}

Result<ModalConfig> modal_config(const json::object& stored) {
  BJ_TRY(const json::object config, checked(SandboxType::kModal, stored, {}));
  ModalConfig modal;
  modal.timeout_s = config.at("timeout").get_int64();
  modal.pip = texts_of(config, "pip_requirements");
  modal.npm = texts_of(config, "npm_requirements");
  modal.language = config.at("language").get_string();
  return modal;
}

}  // namespace bj
