import { expect, it } from "vitest";
import { pipe } from "../../../src/compose.ts";
import { agent, type Checkpoint } from "../../../src/index.ts";

const one = agent({ name: "one", model: () => "Done." });
const two = pipe(one, one.with({ name: "two" }));
const nothing = null as never;
const checkpoint = async (): Promise<Checkpoint> => {
  for await (const state of one.turns("Hi")) return state;
  throw new Error("there was no turn");
};

it.each<[what: string, begin: () => unknown, told: string]>([
  ["a call", () => one("Hi", nothing), 'The run of "one": its options are an object.'],
  ["run", () => one.run("Hi", nothing), 'The run of "one": its options are an object.'],
  [
    "run of a composition",
    () => two.run("Hi", nothing),
    'The run of "pipe(one, two)": its options are an object.',
  ],
  ["stream", () => one.stream("Hi", nothing).next(), 'The run of "one": its options are an object.'],
  ["turns", () => one.turns("Hi", nothing).next(), 'The run of "one": its options are an object.'],
  [
    "turns with a controller",
    () => one.turns("Hi", { signal: new AbortController() as never }).next(),
    'The run of "one": `signal` must be an AbortSignal, got an object.',
  ],
  [
    "resume",
    async () => one.resume(await checkpoint(), nothing),
    'The run of "one": its options are an object.',
  ],
  [
    "with",
    () => one.with(nothing),
    'with() of agent "one": it must be an object of what is other, got null.',
  ],
  [
    "with a name",
    () => one.with("two" as never),
    'with() of agent "one": it must be an object of what is other, got a string.',
  ],
  [
    "with of a composition",
    () => two.with(nothing),
    'with() of "pipe(one, two)", which is a composition of agents: it must be an object, got null.',
  ],
  [
    "asTool",
    () => one.asTool({ description: 5 as never }),
    'asTool() of agent "one": `description` must be a string, got a number.',
  ],
])("%s says what it was given in place of options", async (_what, begin, told) => {
  await expect(Promise.try(begin)).rejects.toMatchObject({ code: "definition-invalid", message: told });
});
