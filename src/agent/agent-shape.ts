import { type Shape, shapeOf } from "../util/shape.ts";

/** The shape of anything that can be run, as a program without types passes it: a function with a `run`. */
export const agentShape: Shape<unknown> = shapeOf(
  "an agent",
  (value) => typeof value === "function" && "run" in value,
);
