/**
 * Runs many turns, and prints how often V8 threw compiled code away because a list or an object had another hidden class than before. Each
 * time, the functions behind it run slowly until they are compiled again. Run: npm run bench:thrown-away
 */
import { execFileSync } from "node:child_process";
import { agent, tool } from "../src/index.ts";

const [, , role] = process.argv;

/** 300 runs of 100 turns with a call each. */
async function play(): Promise<void> {
  const add = tool({
    name: "add",
    description: "Adds one",
    effect: "none",
    inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    execute: (args) => (args as { a: number }).a + 1,
  });
  let asked = 0;
  const model = (): { calls: { name: string; arguments: { a: number } }[] } | string =>
    (asked += 1) % 101 === 0 ? "done" : { calls: [{ name: "add", arguments: { a: asked } }] };
  const adder = agent({ name: "adder", model, tools: [add], budget: { turns: 101, toolCalls: 101 } });
  for (let run = 0; run < 300; run += 1) await adder.run("go");
}

/** The functions of src whose code was thrown away, each with its file's place. */
function thrownAway(): readonly string[] {
  const options = [
    "--no-concurrent-recompilation",
    "--trace-deopt",
    "--trace-deopt-verbose",
    import.meta.filename,
    "play",
  ];
  const text = execFileSync(process.execPath, options, { encoding: "utf8", maxBuffer: 2 ** 28 });
  const found = text.matchAll(
    /reason: wrong map\).*<JSFunction (\S*).*\n\s*;;; deoptimize at <file:\S*\/src\/(\S+?)>/g,
  );
  return Array.from(found, ([, name = "", place = ""]) => `${name} at ${place}`);
}

if (role === "play") await play();
else console.log(JSON.stringify(thrownAway()));
