// A SyntaxError that says where: in its message for people, in its stack like any other frame.
export function toolSyntaxError(problem, filename, line, column) {
  const error = new SyntaxError(`${problem} (${filename}, line ${line})`);
  error.stack = `SyntaxError: ${error.message}\n    at ${filename}:${line}:${column}`;
  return error;
}
