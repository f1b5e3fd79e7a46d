/**
 * The conformance suite for agent runtimes: node main.ts --runtime all|writ,ai,… [--case id-or-area,…] [--list] [--page file].
 * All cases of a runtime are written to results.json, and the page is made of that; a choice of cases is only printed. `--runtime none --page file` makes the page alone.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { casesOf } from "./cases/index.ts";
import { pageOf } from "./page.ts";
import { isInstalled, resultsFile, type Results, runtimes, type Told, versionsOf } from "./results.ts";
import type { Case } from "./suite/case.ts";

const { values } = parseArgs({
  options: {
    runtime: { type: "string", default: "all" },
    case: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    page: { type: "string" },
  },
});

/** Plays cases in a process of their own. A case that ends the process is noted as failed, and another process plays the cases after it. */
async function play(runtime: string, cases: readonly Case[]): Promise<Map<string, Told>> {
  const told = new Map<string, Told>();
  let todo = cases.map(({ id }) => id);
  while (todo.length > 0) {
    const file = fileURLToPath(new URL("worker.ts", import.meta.url));
    const child = spawn(process.execPath, ["--no-warnings", file, runtime, ...todo], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith("{")) continue;
      const one = JSON.parse(line) as Told & { readonly id: string; readonly error?: string };
      if (one.error !== undefined) throw new Error(`${runtime}: ${one.error}`);
      const { id, ...rest } = one;
      told.set(id, rest);
      console.log(`${runtime} ${id}: ${rest.result}${rest.reason === undefined ? "" : `: ${rest.reason}`}`);
    }
    const [ended, ...rest] = todo.filter((id) => !told.has(id));
    if (ended !== undefined) told.set(ended, { result: "fail", reason: "the process ended" });
    todo = rest;
  }
  return told;
}

function list(cases: readonly Case[]): void {
  for (const { id, asks, why, needs = [] } of cases)
    console.log(`${id}${needs.length > 0 ? ` (${needs.join(", ")})` : ""}\n  ${asks}\n  ${why}`);
}

/** The runtimes that are named; those that are not installed are printed and left out. */
function meant(names: string): readonly string[] {
  const wanted = names === "all" ? runtimes : names === "none" ? [] : names.split(",");
  const unknown = wanted.filter((name) => !runtimes.includes(name));
  if (unknown.length > 0)
    throw new Error(`No runtime is called ${unknown.join(", ")}. There are: ${runtimes.join(", ")}.`);
  const missing = wanted.filter((name) => !isInstalled(name));
  if (missing.length > 0)
    console.log(`Not installed, so not run: ${missing.join(", ")} (node install.ts ${missing.join(" ")}).`);
  return wanted.filter(isInstalled);
}

const wanted = values.case === "" ? [] : values.case.split(",");
const cases = casesOf(wanted);
if (cases.length === 0) throw new Error(`No case is called ${values.case}. See --list.`);
if (values.list) list(cases);
else {
  const results = JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
  for (const runtime of meant(values.runtime)) {
    const begun = performance.now();
    const told = await play(runtime, cases);
    const seconds = Math.round((performance.now() - begun) / 1000);
    const count = (result: Told["result"]): number =>
      [...told.values()].filter((one) => one.result === result).length;
    console.log(
      `${runtime}: ${count("pass")} pass, ${count("fail")} fail, ${count("not-offered")} not offered, ${seconds} s`,
    );
    const outcomes = [...told].map(([id, { result, reason }]) => [
      id,
      { result, ...(reason === undefined ? {} : { reason }) },
    ]);
    results[runtime] = {
      versions: versionsOf(runtime),
      cases: Object.fromEntries(outcomes) as Record<string, Told>,
    };
  }
  if (wanted.length === 0) writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  if (wanted.length === 0 && values.page !== undefined) writeFileSync(values.page, pageOf(results));
}
