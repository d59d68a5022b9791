// belljar sandbox url.
#pragma once

namespace CLI {
class App;
}

namespace bj {

struct Context;
void add_sandbox_url(CLI::App& parent, Context& context);

}  // namespace bj
