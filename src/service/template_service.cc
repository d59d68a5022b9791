#include "service/template_service.h"

#include "api/e2b/template_routes.h"
#include "api/native/template_routes.h"
#include "base/id.h"
#include "engine/environments/environment_index.h"
#include "engine/environments/environment_network.h"
#include "store/sql.h"

namespace bj {
namespace {

// E2B's images that stand for what every machine has.
const std::map<std::string, std::string>& images_that_are_templates() {
  static const std::map<std::string, std::string> kImages = {{"e2bdev/base", "base"},
                                                             {"e2bdev/base:latest", "base"},
                                                             {"e2bdev/code-interpreter", "code-interpreter-v1"},
                                                             {"e2bdev/code-interpreter:latest", "code-interpreter-v1"}};
  return kImages;
}

// Layers over a template, the lowest first.
Result<TemplateHold> stack_layers(const LayerStore& store, Template& image, const std::vector<std::string>& layers) {
  auto held = std::make_shared<std::vector<Layer>>();
  for (const std::string& id : layers) {
    Result<Layer> layer = store.find(id);
    if (!layer) return fail(layer.error().code, "a layer of the template can't be had: " + layer.error().what);
    image = stacked(std::move(image), *layer);
    held->push_back(std::move(*layer));
  }
  return held;
}

TemplateParts parts_of(Engine& engine, const std::string& data_directory) {
  const auto stack = [&store = engine.layers()](Template& image, const std::vector<std::string>& layers) {
    return stack_layers(store, image, layers);
  };
  // Until an administrator builds it, E2B's code interpreter is what the machine has: the interpreters are the
  // server's.
  return {engine.templates(),
          TemplateStore(data_directory + "/images"),
          stack,
          {{"code-interpreter-v1", "code-interpreter"}, {"code-interpreter", "base"}}};
}

PullOptions pull_options(const TemplateServiceOptions& options) {
  PullOptions pull;
  pull.directory = options.data_directory + "/images";
  pull.access.listed = options.registries;
  return pull;
}

// Where the package indexes are, without what is secret about them: steps are anybody's.
std::map<std::string, std::string> index_environment(const IndexSettings& index) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : index.variables) {
    if (masked(value, index) == value) variables[name] = value;
  }
  variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
  variables["DEBIAN_FRONTEND"] = "noninteractive";
  return variables;
}

BuilderOptions builder_options(const TemplateServiceOptions& options, ImageCollector& collector) {
  BuilderOptions builder;
  builder.node = options.node;
  builder.limits = build_limits();
  builder.network = options.network;
  const IndexSettings index = index_settings();
  builder.packages = [index] { return builders_network(index, package_hosts(index)); };
  builder.environment = index_environment(index);
  builder.now = now_us;
  builder.node_is_dead = options.node_is_dead;
  builder.remove_layers = options.remove_layers;
  builder.template_gone = [&collector] { collector.look(); };
  builder.images = images_that_are_templates();
  builder.most_layer_bytes = options.most_stored_bytes;
  return builder;
}

}  // namespace

TemplateService::TemplateService(Engine& engine, ToolService& tools, const TemplateServiceOptions& options)
    : tools_(tools),
      limits_(options.limits),
      scheme_(options.scheme),
      secret_(new_uuid4() + new_uuid4()),
      catalog_(tools.store(), parts_of(engine, options.data_directory)),
      files_(options.data_directory + "/uploads"),
      puller_(tools.http(), pull_options(options)),
      collector_(engine.host().executor, tools.store(), puller_,
                 [&engine](std::string directory) -> Task<void> {
                   (void)co_await engine.host().launcher->drop_layers(std::move(directory));
                 }),
      builder_(engine, catalog_, files_, puller_, tools.store(), tools.threads(), tools.audit(),
               builder_options(options, collector_)),
      exporter_(engine, options.data_directory + "/exports", build_limits()) {}

// What a server that was killed left unfinished is settled before what nobody needs goes.
Task<Result<void>> TemplateService::start() {
  BJ_CO_CHECK(co_await builder_.start());
  collector_.start();
  co_return Result<void>();
}

Task<void> TemplateService::stop() {
  exporter_.stop();
  co_await collector_.stop();
  co_await builder_.stop();
}

void TemplateService::add_routes(Router& router) {
  const TemplateServices services{catalog_, builder_, files_, exporter_, tools_.threads(), tools_.audit()};
  native::add_template_routes(router, services);
  e2b::add_template_routes(router, {services, limits_, scheme_, secret_});
}

}  // namespace bj
