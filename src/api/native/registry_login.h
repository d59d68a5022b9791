// The field "registry" of a request: who pulls an image.
#pragma once

#include "images/registry_session.h"
#include "tools/model_reader.h"

namespace bj::native {

void read_registry(ModelReader& reader, RegistryLogin& login);

}  // namespace bj::native
