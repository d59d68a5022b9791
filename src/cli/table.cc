#include "cli/table.h"

#include <unistd.h>

#include <algorithm>

#include "cli/terminal.h"

namespace bj {
namespace {

constexpr size_t kWidest = 60;

// Characters, not bytes; wide ones count as one, which is near enough for names.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string shown(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (width_of(line) <= kWidest) return line;
  size_t end = kWidest - 1;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "…";
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    if (i + 1 < cells.size()) line.append(widths[i] - width_of(cells[i]) + 2, ' ');
  }
  return line + "\n";
}

}  // namespace

void print_table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows,
                 const std::string& if_empty) {
  if (rows.empty()) return print_untrusted(STDOUT_FILENO, if_empty + "\n");
  std::vector<std::vector<std::string>> cells{heading};
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string> short_row;
    for (const std::string& cell : row) short_row.push_back(shown(cell));
    cells.push_back(std::move(short_row));
  }
  std::vector<size_t> widths(heading.size(), 0);
  for (const auto& row : cells) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : cells) text += line_of(row, widths);
  print_untrusted(STDOUT_FILENO, text);
}

}  // namespace bj
