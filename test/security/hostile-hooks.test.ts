import { expect, it } from "vitest";
import { agent, type Hook, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { oddErrors } from "../fuzz/hostile.ts";

const places = ["beforeToolCall", "afterToolCall"] as const;

/** What a hook can give that runs code when it is looked at: a part of an answer, or all of it. */
const given = Object.entries(oddErrors);

it.each(places.flatMap((place) => given.map(([what, make]) => [place, what, make] as const)))(
  "an answer of `%s` that throws when it is looked at is a failure of the hook: %s",
  async (place, _what, make) => {
    const used = tool({
      name: "used",
      description: "d",
      inputSchema: { type: "object" },
      execute: () => "done",
    });
    for (const answer of [make, () => ({ result: make() })]) {
      const hook = { [place]: answer } as Hook;
      const model = scripted([{ calls: [{ name: "used", arguments: {} }] }, "ok"]);
      const run = await agent({ name: "a", model, tools: [used], hooks: [hook] }).run("x");
      expect(run.outcome.type).toBe("answered");
    }
  },
);
