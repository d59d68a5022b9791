#include "control/sandbox_image.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<SandboxImage> read_image(const std::string& text) {
  SandboxImage image;
  BJ_TRY(image.content, read_content(text));
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return image;
  const json::value* const single = value.get_object().if_contains("single");
  image.single = single != nullptr && single->is_bool() && single->get_bool();
  image.template_id = text_at(value.get_object(), "template_id");
  image.template_name = text_at(value.get_object(), "template_name");
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
  if (!image.template_id.empty()) object["template_id"] = image.template_id;
  if (!image.template_name.empty()) object["template_name"] = image.template_name;
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
