// The templates that come with Belljar, as texts in the words of a Dockerfile: templates/*.template, part of the
// binary.
#pragma once

#include <map>
#include <string>

namespace bj {

// By name: "python".
const std::map<std::string, std::string>& template_manifests();

}  // namespace bj
