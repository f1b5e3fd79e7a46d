/** The page of the results: a table of all cases, why a case failed, and what is not offered. */
import { readdirSync, readFileSync } from "node:fs";
import { allCases } from "./cases/index.ts";
import { type Results, runtimes } from "./results.ts";
import type { Case } from "./suite/case.ts";
import { type Cause, type Feature, features } from "./suite/contract.ts";
import { aboutOf } from "./suite/play.ts";

const folder = new URL("cases/", import.meta.url);

/** Where each case begins: `approvals.ts#L61`. */
function placesOf(): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(new URL(name, folder), "utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      const [, id] = /^ {4}id: "([^"]+)"/.exec(line) ?? [];
      if (id !== undefined) places.set(id, `../conformance/cases/${name}#L${index + 1}`);
    }
  }
  return places;
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** A reason on one line, for a list. */
const shortened = (reason: string): string => {
  const line = reason
    .replaceAll(/https?:\S+/g, "ADDRESS")
    .replaceAll(/\s+/g, " ")
    .replaceAll("`", "'");
  return line.length <= 150 ? line : `${line.slice(0, 150)}…`;
};

const areaOf = ({ id }: Case): string => id.split("/")[0] ?? "";

function table(results: Results, columns: readonly string[], places: ReadonlyMap<string, string>): string {
  const cell = (runtime: string, { id }: Case): string => {
    const result = results[runtime]?.cases[id]?.result;
    if (result === "pass") return "✓";
    return result === "fail" ? `[**✗**](${places.get(id)})` : result === undefined ? "not run" : "–";
  };
  const rows = allCases.map((one, index) => {
    const area = areaOf(one) === areaOf(allCases[index - 1] ?? one) && index > 0 ? "" : `**${areaOf(one)}**`;
    return row([
      area,
      `[${one.asks}](${places.get(one.id)})`,
      ...columns.map((runtime) => cell(runtime, one)),
    ]);
  });
  const head = ["", "case", ...columns.map((runtime) => aboutOf(runtime).name)];
  return [row(head), row(head.map(() => "---")), ...rows].join("\n");
}

function totals(results: Results, columns: readonly string[]): string {
  const count = (runtime: string, result: string): string =>
    String(Object.values(results[runtime]?.cases ?? {}).filter((one) => one.result === result).length);
  const rows = [["pass"], ["fail"], ["not-offered"]].map(([result = ""]) =>
    row([result.replace("-", " "), ...columns.map((runtime) => count(runtime, result))]),
  );
  const head = ["", ...columns.map((runtime) => aboutOf(runtime).name)];
  return [row(head), row(head.map(() => "---")), ...rows].join("\n");
}

/** The places where a cause was found, in brackets after it. */
function foundIn({ where = [] }: Cause): string {
  const places = where.map((place) =>
    place.startsWith("https:") ? `[documentation](${place})` : `\`${place}\``,
  );
  return places.length === 0 ? "" : ` (${places.join(", ")})`;
}

function failures(results: Results, runtime: string, places: ReadonlyMap<string, string>): string {
  const { causes = [] } = aboutOf(runtime);
  const failed = allCases.flatMap(({ id }) => {
    const { result, reason = "" } = results[runtime]?.cases[id] ?? { result: "pass" };
    const known = causes.find(({ cases }) => cases.includes(id));
    const why = known === undefined ? "" : `. _${known.cause}_${foundIn(known)}`;
    return result === "fail" ? [`- [${id}](${places.get(id)}): ${shortened(reason)}${why}`] : [];
  });
  return `### ${aboutOf(runtime).name}\n\n${failed.length === 0 ? "None." : failed.join("\n")}`;
}

function lacking(columns: readonly string[]): string {
  const rows = Object.entries(features).map(([feature, says]) => {
    const cells = columns.map((runtime) => aboutOf(runtime).lacks[feature as Feature] ?? "offered");
    return row([says, ...cells]);
  });
  const head = ["", ...columns.map((runtime) => aboutOf(runtime).name)];
  return [row(head), row(head.map(() => "---")), ...rows].join("\n");
}

export function pageOf(results: Results): string {
  const columns = runtimes.filter((runtime) => results[runtime] !== undefined);
  const places = placesOf();
  const ways = columns.map((runtime) => {
    const { name, way } = aboutOf(runtime);
    return `- ${name} (${results[runtime]?.versions.join(", ")}): ${way}.`;
  });
  return `# Runtimes compared

See what ${columns.length} agent runtimes do in ${allCases.length} cases: what they promise, and what happens when something goes wrong. Written by
\`node conformance/install.ts\` and \`npm run conformance -- --runtime all\`; it is not edited by hand.

Every runtime is asked by the way that its documentation shows, through its own client for OpenAI-compatible servers. The model is a server on the loopback interface that
says what the case wrote for it, and refuses what a provider refuses: a call without a result, a result without a call. Nothing is set that a case does not ask for.
A case that needs what a runtime does not have is **not offered** (–), and no failure. Each ✗ leads to the case, which says why it matters. The suite is writ's own, so its
cases are about what writ cares for; the last ones, and whatever is offered elsewhere and not by writ, are there to say so. Below, a sentence in _italics_ is what was found in
the source or the documentation of the runtime when the failure was looked into, with the line or the page behind it.

\`npm run conformance -- --runtime ai --case approval/double-click\` plays one. [conformance/README.md](../conformance/README.md) says how a case and an adapter are written.

${ways.join("\n")}

${totals(results, columns)}

## Cases

${table(results, columns, places)}

## What failed

${columns.map((runtime) => failures(results, runtime, places)).join("\n\n")}

## What is offered

${lacking(columns)}
`;
}
