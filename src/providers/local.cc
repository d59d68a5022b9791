#include "providers/local.h"

namespace bj {
namespace {

tl::unexpected<ProviderFailure> not_started(Error error) {
  return tl::unexpected(ProviderFailure{std::move(error), false});
}

}  // namespace

LocalProvider::LocalProvider(Engine& engine, Environments& environments, LocalOptions options)
    : engine_(engine), environments_(environments), options_(std::move(options)) {}

Task<Result<Environment>> LocalProvider::environment_for(const ProviderCall& call, const Template& image,
                                                         Progress progress, Force force) {
  if (call.tool_requirements.empty() && call.config_requirements.empty()) co_return Environment();
  EnvironmentRequest request;
  request.language = call.language;
  request.image = image;
  request.interpreter = options_.interpreter;
  request.index = options_.index;
  const std::vector<std::string>& of_tool = call.tool_requirements;
  request.requirements = call.config_requirements;
  request.requirements.insert(request.requirements.end(), of_tool.begin(), of_tool.end());
  Result<Environment> built = co_await environments_.ensure(std::move(request), std::move(progress), force);
  if (!built && built.error().code == Code::kUnavailable) {
    co_return fail(Code::kInvalid, install_failure(call.language, call.config_requirements, of_tool, built.error()));
  }
  co_return built;
}

Task<tl::expected<CallResult, ProviderFailure>> LocalProvider::run(ProviderCall call, CallHooks hooks) {
  const Result<Template> image = engine_.templates().find(options_.template_name);
  if (!image) co_return not_started(image.error());
  const Result<Environment> environment = co_await environment_for(call, *image, hooks.on_progress, Force::kNo);
  if (!environment) co_return not_started(environment.error());
  CallSpec spec;
  spec.language = call.language;
  spec.environment.image = *image;
  spec.environment.interpreter = options_.interpreter;
  environment->apply_to(spec.environment);
  spec.variables = environment->variables;
  for (auto& [key, value] : call.variables) {
    std::string& place = spec.variables[key];
    // The packages' programs come first in whatever PATH the tool is given.
    place = key == "PATH" && !place.empty() ? place.substr(0, place.find(':') + 1) + value : std::move(value);
  }
  spec.name = std::move(call.name);
  spec.filename = call.language == Language::kPython ? "tool.py" : "tool.ts";
  spec.source = std::move(call.source);
  spec.arguments = std::move(call.arguments);
  spec.letta = std::move(call.letta);
  spec.limits = options_.limits;
  spec.require_full_seal = options_.require_full_seal;
  spec.on_output = std::move(hooks.on_output);
  spec.network = std::move(call.network);
  spec.credentials = std::move(call.credentials);
  spec.on_network = std::move(hooks.on_network);
  Result<CallResult> result = co_await engine_.call(std::move(spec));
  if (!result) co_return not_started(result.error());
  co_return std::move(*result);
}

Task<Result<void>> LocalProvider::rebuild(ProviderCall call) {
  BJ_CO_TRY(const Template image, engine_.templates().find(options_.template_name));
  BJ_CO_CHECK(co_await environment_for(call, image, {}, Force::kRebuild));
  co_return Result<void>();
}

}  // namespace bj
