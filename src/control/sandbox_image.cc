#include "control/sandbox_image.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;

Result<SandboxImage> read_image(const std::string& text) {
  SandboxImage image;
  BJ_TRY(image.content, read_content(text));
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  const json::value* const single = !bad && value.is_object() ? value.get_object().if_contains("single") : nullptr;
  image.single = single != nullptr && single->is_bool() && single->get_bool();
  return image;
}

}  // namespace

SandboxImage SandboxImage::with(const std::string& layer) const {
  SandboxImage more = *this;
  more.content.layers.push_back(layer);
  return more;
}

std::string image_text(const SandboxImage& image) {
  json::object object = content_json(image.content);
  object["single"] = image.single;
  return json::serialize(object);
}

Result<SandboxImage> image_of(const SandboxRow& row) {
  if (!row.image.empty()) return read_image(row.image);
  SandboxImage image;
  image.content.root = row.template_name;
  return image;
}

std::vector<std::string> layers_of(const SandboxRow& row) {
  std::vector<std::string> layers;
  for (const std::string* const text : {&row.image, &row.spare_image}) {
    if (text->empty()) continue;
    const Result<SandboxImage> image = read_image(*text);
    if (!image) continue;
    for (const std::string& layer : image->content.layers) {
      if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(layer);
    }
  }
  return layers;
}

}  // namespace bj
