// What a template that is ready is made of: a root to begin with, layers over it, and the defaults of sandboxes made
// from it. Stored as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

struct TemplateContent {
  std::string root = "base";        // a template of this machine (engine/templates/template.h), or "image:<digest>"
  std::vector<std::string> layers;  // of the layer store, the lowest first
  std::string user;                 // empty: the root's, and so on
  std::string workdir;
  std::map<std::string, std::string> environment;  // over the root's
  std::string start_command;                       // run in the background in each new sandbox; empty: none
  std::string ready_command;                       // a sandbox is ready when it ends with 0; empty: at once
  // Network policies (JSON) that hold wherever its files are: in sandboxes made of it, what is built on it, snapshots.
  std::vector<std::string> networks;

  bool operator==(const TemplateContent&) const = default;
};

boost::json::object content_json(const TemplateContent& content);
std::string content_text(const TemplateContent& content);
// kInternal: what is stored is damaged.
Result<TemplateContent> read_content(std::string_view text);
// One more policy that holds, unless the same one does already.
void add_network(TemplateContent& content, const std::string& policy);

}  // namespace bj
