#include "control/template_manifests.h"

#include "base/pack.h"

// Put in by the build (cmake/embed_templates.S.in).
extern "C" {
extern const char belljar_templates_begin[], belljar_templates_end[];
}

namespace bj {

const std::map<std::string, std::string>& template_manifests() {
  static const std::map<std::string, std::string> kTexts = [] {
    std::map<std::string, std::string> texts;
    Pack pack({belljar_templates_begin, static_cast<size_t>(belljar_templates_end - belljar_templates_begin)});
    while (!pack.done()) {
      const Pack::File file = pack.next();
      texts.emplace(file.name, file.data);
    }
    return texts;
  }();
  return kTexts;
}

}  // namespace bj
