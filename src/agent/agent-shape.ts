import { type Shape, shapeOf } from "../util/shape.ts";

/** Whatever can be run, as a program without types gives it: a function that can `run`. */
export const agentShape: Shape<unknown> = shapeOf(
  "an agent",
  (value) => typeof value === "function" && "run" in value,
);
