/**
 * The cost of isolation: how much longer a call of an isolated tool takes than the same function in this process, how long its first process takes,
 * and the same for code in QuickJS. Run: npx node bench/isolate.ts (npm run build first). Exits with 1 when a warm isolated call adds
 * more than 1 ms, by the median of the quietest of five rounds: other work of the machine only ever adds.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fs, tool } from "writ";
import { callTool } from "writ/doors";
import { codeTool, enforcement, isolatedTool } from "writ/isolate";
import { measure, median } from "./measure.ts";

const rounds = 5;
const limitMs = 1;
const folder = mkdtempSync(join(tmpdir(), "writ-bench-"));
const words = Array.from({ length: 200 }, (_, index) => `word${index}`);

/** The work of both: counts words, and reads a file when it is told to. */
const code = `export async function execute({ words, path }, { fs }) {
  const counts = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return path === undefined ? Object.keys(counts).length : (await fs.readText(path)).length;
}`;

/** The median of the quietest round, in milliseconds. */
async function quietest(work: () => Promise<unknown>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { ms } = await measure(async () => void (await work()), {
      warmMs: 100,
      budgetMs: 400,
      sampleMs: 0,
    });
    found.push(ms);
  }
  return Math.min(...found);
}

function line(name: string, ms: number): void {
  console.log(`${name.padEnd(44)} ${ms.toFixed(3).padStart(9)} ms`);
}

const [bubblewrap] = await enforcement();
if (bubblewrap?.level !== "isolated") {
  console.log(`nothing is measured: ${bubblewrap?.reason ?? "no bubblewrap"}`);
  process.exit();
}

writeFileSync(join(folder, "text"), "text");
const modulePath = join(folder, "module/tool.mjs");
mkdirSync(join(folder, "module"));
writeFileSync(modulePath, code);
const needs = [fs.read(folder)] as const;
const grants = [...needs];
const about = { description: "", inputSchema: { type: "object" }, needs } as const;
const { execute } = (await import(modulePath)) as { readonly execute: () => Promise<number> };
const here = tool({ ...about, name: "here", execute });

const starts: number[] = [];
for (let index = 0; index < 5; index += 1) {
  const before = performance.now();
  await isolatedTool({ ...about, name: `start${index}`, module: modulePath, idleMs: 0 });
  starts.push(performance.now() - before);
}
const there = await isolatedTool({ ...about, name: "there", module: modulePath, processes: 1 });
const runCode = await codeTool({ functions: { give: (value) => value } });

const path = join(folder, "text");
const own = await quietest(() => callTool(here, { words }, { grants }));
const isolated = await quietest(() => callTool(there, { words }, { grants }));
const ownRead = await quietest(() => callTool(here, { words, path }, { grants }));
const isolatedRead = await quietest(() => callTool(there, { words, path }, { grants }));
const expression = await quietest(() => callTool(runCode, { code: "1 + 1" }));
const calling = await quietest(() => callTool(runCode, { code: "await give(1)" }));

line("a new isolated process, module loaded", median(starts));
line("200 words counted in this process", own);
line("the same, isolated and warm", isolated);
line("  added", isolated - own);
line("the same and a file, in this process", ownRead);
line("the same and a file, isolated and warm", isolatedRead);
line("  added", isolatedRead - ownRead);
line("`1 + 1` in QuickJS, warm", expression);
line("a function called from QuickJS, warm", calling);
rmSync(folder, { recursive: true });
if (isolated - own > limitMs) {
  console.error(`a warm isolated call adds more than ${limitMs} ms`);
  process.exitCode = 1;
}
