#include "server/router.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "server/target.h"

namespace bj {

// One segment of the paths. Different patterns may name the parameter at the same place differently.
struct Router::Node {
  struct End {
    const Route* route;
    std::vector<std::string> names;  // of the parameters on the way here
  };
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> parameter;
  std::map<Method, End> ends;

  // HEAD is served by GET's handler.
  const End* end_for(Method method) const {
    auto end = ends.find(method);
    if (end == ends.end() && method == Method::kHead) end = ends.find(Method::kGet);
    return end == ends.end() ? nullptr : &end->second;
  }
};

namespace {

constexpr size_t kMostSegments = 32;

// Of "/a/b" and "/a/b/": "a", "b". Of "/": none.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return segments;
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }

void check_pattern(const std::string& pattern, const std::vector<std::string_view>& segments) {
  std::set<std::string_view> names;
  bool good = pattern.starts_with('/') && segments.size() <= kMostSegments;
  for (const std::string_view segment : segments) {
    if (is_parameter(segment))
      good = good && segment.size() > 2 && segment.ends_with('}') && names.insert(segment).second;
    else
      good = good && !segment.empty() && segment.find_first_of("{}%?#") == std::string_view::npos;
  }
  if (!good) throw std::logic_error("\"" + pattern + "\" is no pattern of a route");
}

bool can_be_parameter(std::string_view segment) { return !segment.empty() && segment != "." && segment != ".."; }

// Walks from `node` to where the path ends and `good` holds, literals first, keeping what parameters stood for. Each
// node is visited once at most, whatever the path.
template <class Node, class Good>
const Node* descend(const Node& node, const std::vector<std::string>& segments, size_t at,
                    std::vector<std::string>& values, const Good& good) {
  if (at == segments.size()) return good(node) ? &node : nullptr;
  const auto literal = node.literals.find(segments[at]);
  if (literal != node.literals.end()) {
    if (const Node* found = descend(*literal->second, segments, at + 1, values, good)) return found;
  }
  if (!node.parameter || !can_be_parameter(segments[at])) return nullptr;
  values.push_back(segments[at]);
  if (const Node* found = descend(*node.parameter, segments, at + 1, values, good)) return found;
  values.pop_back();
  return nullptr;
}

}  // namespace

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;

void Router::add(Method method, std::string pattern, Handler handler, RouteOptions options) {
  auto route = std::make_unique<Route>(Route{method, std::move(pattern), std::move(handler), std::move(options)});
  const auto segments = segments_of(route->pattern);
  check_pattern(route->pattern, segments);
  Node* node = root_.get();
  std::vector<std::string> names;
  for (const std::string_view segment : segments) {
    if (is_parameter(segment)) names.emplace_back(segment.substr(1, segment.size() - 2));
    std::unique_ptr<Node>& next = is_parameter(segment) ? node->parameter : node->literals[std::string(segment)];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  if (!node->ends.emplace(method, Node::End{route.get(), std::move(names)}).second)
    throw std::logic_error(std::string(name_of(method)) + " " + route->pattern + " is there twice");
  routes_.push_back(std::move(route));
}

Result<RouteMatch> Router::match(Method method, std::string_view path) const {
  if (!path.starts_with('/')) return fail(Code::kInvalid, "the request's path must begin with a slash");
  RouteMatch match;
  std::vector<std::string> segments, values;
  for (const std::string_view encoded : segments_of(path)) {
    if (segments.size() == kMostSegments) return match;
    BJ_TRY(std::string segment, percent_decoded(encoded));
    segments.push_back(std::move(segment));
  }
  const auto has_method = [&](const Node& node) { return node.end_for(method) != nullptr; };
  if (const Node* const node = descend(*root_, segments, 0, values, has_method)) {
    const Node::End& end = *node->end_for(method);
    match.route = end.route;
    for (size_t i = 0; i < values.size(); ++i) match.parameters.add(end.names[i], std::move(values[i]));
    return match;
  }
  const auto has_any = [](const Node& node) { return !node.ends.empty(); };
  if (const Node* const node = descend(*root_, segments, 0, values, has_any)) {
    for (const auto& [known, end] : node->ends) {
      match.allowed.push_back(known);
      if (known == Method::kGet && !node->ends.contains(Method::kHead)) match.allowed.push_back(Method::kHead);
    }
    match.allowed.push_back(Method::kOptions);
  }
  return match;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the object copies its keys
void Router::add_schema(std::string name, boost::json::value schema) { schemas_[name] = std::move(schema); }

}  // namespace bj
