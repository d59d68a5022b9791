// How a template is named in a request: "[namespace/]name[:tag]", or its id in place of the name. Written in any case;
// a tag that is not there is "default". The namespace is the organization whose template it is. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

inline constexpr char kDefaultTag[] = "default";

struct TemplateReference {
  std::string space;  // empty: the caller's own, then those that everybody has
  std::string name;
  std::string tag = kDefaultTag;
};

// kInvalid, with a sentence.
Result<TemplateReference> parse_template_reference(std::string_view text);
// [a-z0-9._-], at most 128, no UUID: a build's id is none.
Result<void> check_tag(std::string_view tag);

// 20 characters of a-z and 0-9.
std::string new_template_id();
bool is_template_id(std::string_view text);
// The id of one that is no row: the machine's own, by its name. Always the same.
std::string machine_template_id(std::string_view name);

}  // namespace bj
