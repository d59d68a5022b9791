// What the caller can put right: reported as "invalid", not as a failure of the tool.
export class CallerMistake extends Error {
  name = "InvalidCall";
}
