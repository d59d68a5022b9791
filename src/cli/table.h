// Rows under a heading, columns as wide as they must be: what people get where programs get --json.
#pragma once

#include <string>
#include <vector>

namespace bj {

// On stdout, made harmless for terminals. Nothing but a sentence if there are no rows.
void print_table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows,
                 const std::string& if_empty);

}  // namespace bj
