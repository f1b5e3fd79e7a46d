/**
 * Seconds that the sheet of an agent with 30 tools takes, by its policy: npm run bench:prove
 */
import { cpus, loadavg } from "node:os";
import { agent, allow, ask, guarded, limit, type Policy, policy } from "../../src/index.ts";
import { arg, boundToIntent } from "../../src/policy.ts";
import { fakeTool, prove } from "../../src/testing.ts";

const text = { type: "string" } as const;
const inputSchema = {
  type: "object",
  properties: { to: text, order: text, amount: { type: "number" }, note: text },
  required: ["to"],
  additionalProperties: false,
} as const;
const effects = ["read", "write", "irreversible"] as const;
const tools = Array.from({ length: 30 }, (_, place) =>
  fakeTool(`tool_${place}`, "", {
    effect: effects[place % effects.length] ?? "read",
    inputSchema,
    ...(place % 7 === 0 ? { secrecy: "private" } : {}),
  }),
);
const names = tools.map(({ name }) => name);
const bound = allow(...names).when(arg("to").is(boundToIntent()));
const rules = [bound, ask(...names.slice(20)), ...names.map((name) => limit(name, { perRun: 3 }))];
const policies: Readonly<Record<string, Policy | undefined>> = {
  "no policy": undefined,
  guarded: guarded(),
  "rules of its own": policy({ name: "own", rules }),
  "a function": () => ({ verdict: "ask", rule: "all", reason: "" }),
};

process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1) ?? "?"}\n`);
for (const [name, own] of Object.entries(policies)) {
  const clerk = agent({
    name: "clerk",
    model: () => "",
    tools,
    ...(own === undefined ? {} : { policy: own }),
  });
  const began = performance.now();
  const before = process.cpuUsage();
  const { sentences } = await prove(clerk);
  const { user, system } = process.cpuUsage(before);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const count = (verdict: string): number => sentences.filter((each) => each.verdict === verdict).length;
  process.stdout.write(
    `${name}: ${sentences.length} sentences in ${seconds} s (${((user + system) / 1e6).toFixed(1)} s of a core), ${count("proved")} proved, ${count("broken")} broken, ${count("undecided")} undecided\n`,
  );
}
