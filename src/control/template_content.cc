#include "control/template_content.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {

namespace json = boost::json;

json::object content_json(const TemplateContent& content) {
  json::object environment;
  for (const auto& [name, value] : content.environment) environment[name] = value;
  return {{"root", content.root},
          {"layers", json::array(content.layers.begin(), content.layers.end())},
          {"user", content.user},
          {"workdir", content.workdir},
          {"environment", std::move(environment)},
          {"start_command", content.start_command},
          {"ready_command", content.ready_command},
          {"networks", json::array(content.networks.begin(), content.networks.end())}};
}

std::string content_text(const TemplateContent& content) { return json::serialize(content_json(content)); }

Result<TemplateContent> read_content(std::string_view text) {
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  const json::object* const object = bad ? nullptr : value.if_object();
  if (object == nullptr) return fail(Code::kInternal, "a template's content is no JSON object");
  bool sound = true;
  const auto text_of = [&](std::string_view key) {
    const json::value* const found = object->if_contains(key);
    if (found != nullptr && found->is_string()) return std::string(found->get_string());
    sound = false;
    return std::string();
  };
  TemplateContent content;
  content.root = text_of("root");
  content.user = text_of("user");
  content.workdir = text_of("workdir");
  content.start_command = text_of("start_command");
  content.ready_command = text_of("ready_command");
  const json::value* const layers = object->if_contains("layers");
  const json::value* const environment = object->if_contains("environment");
  sound = sound && layers != nullptr && layers->is_array() && environment != nullptr && environment->is_object();
  if (sound) {
    for (const json::value& layer : layers->get_array()) {
      sound = sound && layer.is_string();
      if (sound) content.layers.emplace_back(layer.get_string());
    }
    for (const auto& [name, one] : environment->get_object()) {
      sound = sound && one.is_string();
      if (sound) content.environment[name] = std::string(one.get_string());
    }
  }
  if (const json::value* const networks = object->if_contains("networks")) {  // older ones have none
    sound = sound && networks->is_array();
    for (size_t i = 0; sound && i < networks->get_array().size(); ++i) {
      sound = networks->get_array()[i].is_string();
      if (sound) content.networks.emplace_back(networks->get_array()[i].get_string());
    }
  }
  if (!sound) return fail(Code::kInternal, "a template's content is damaged");
  return content;
}

void add_network(TemplateContent& content, const std::string& policy) {
  std::vector<std::string>& all = content.networks;
  if (std::find(all.begin(), all.end(), policy) == all.end()) all.push_back(policy);
}

}  // namespace bj
