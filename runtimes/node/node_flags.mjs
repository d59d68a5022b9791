// The flags that the engine starts node with; the README says what each is for.
export const NODE_FLAGS = [
  "--experimental-vm-modules",
  "--experimental-import-meta-resolve",
  "--no-warnings",
  "--expose-gc",
  "--v8-pool-size=1",
  "--no-lazy-feedback-allocation",
];
