/**
 * Measures writ against its peers and a minimal loop. Every case, size and peer runs in a fresh process; the peers take turns inside each
 * round; figures are medians over the rounds. Read the ratios: absolute figures move with the machine.
 *
 * Run: npm run bench [-- --peers writ,ai --cases turns,text --rounds 3]. Peers are installed by npm run bench:install.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Figure } from "./bench-case.ts";
import { cases } from "./cases.ts";
import { runWorker } from "./run-worker.ts";
import { type Cell, tables } from "./tables.ts";
import { importFigures, installFigures, peerFolder } from "./weight.ts";

const allPeers = ["floor", "writ", "ai", "openai-agents", "langchain", "mastra"];
const weightGroup = "Weight";
const weights = ["install", "import"];

/** A cell that takes longer than this is not repeated in later rounds. */
const slowMs = 15_000;

const { values } = parseArgs({
  options: {
    peers: { type: "string", default: allPeers.join(",") },
    cases: { type: "string", default: [...weights, ...Object.keys(cases)].join(",") },
    rounds: { type: "string", default: "3" },
  },
});

function isInstalled(peer: string): boolean {
  // The floor needs no more than the project has; its own folder only serves to weigh it.
  return ["floor", "writ"].includes(peer) || existsSync(join(peerFolder(peer), "node_modules"));
}

async function figuresOf({ peer, name, size }: Cell): Promise<readonly Figure[]> {
  if (name === "install") return installFigures(peer);
  if (name === "import") return await importFigures(peer);
  const result = await runWorker(peer, name, size);
  if ("error" in result) throw new Error(result.error);
  return result.figures;
}

async function fill(cell: Cell): Promise<void> {
  try {
    cell.rounds.push(await figuresOf(cell));
  } catch (error) {
    cell.error = error instanceof Error ? error.message : String(error);
  }
}

async function fillRow(row: readonly Cell[], rounds: number): Promise<void> {
  const slow = new Set<Cell>();
  for (let round = 0; round < rounds; round += 1) {
    for (const cell of row.filter((each) => each.error === undefined && !slow.has(each))) {
      const begun = performance.now();
      await fill(cell);
      if (performance.now() - begun > slowMs) slow.add(cell);
    }
  }
}

async function main(
  peers: readonly string[],
  names: readonly string[],
  rounds: number,
): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (const name of names) {
    const sizes = cases[name]?.sizes ?? [0];
    for (const size of sizes) {
      process.stderr.write(`${name}${size === 0 ? "" : ` ${size}`}\n`);
      const group = cases[name]?.group ?? weightGroup;
      const able = cases[name]?.alone === true ? peers.filter((peer) => peer === "writ") : peers;
      const row = able.map((peer): Cell => ({ group, name, size, peer, rounds: [] }));
      await fillRow(row, name === "install" ? 1 : rounds);
      cells.push(...row);
    }
  }
  return cells;
}

const wantedPeers = values.peers.split(",");
const wantedCases = values.cases.split(",");
const rounds = Number(values.rounds);
const unknown = [
  ...wantedPeers.filter((peer) => !allPeers.includes(peer)),
  ...wantedCases.filter((name) => !weights.includes(name) && cases[name] === undefined),
];
if (unknown.length > 0 || !(rounds >= 1)) {
  console.error(`Unknown: ${unknown.join(", ") || `--rounds ${values.rounds}`}.`);
  console.error(
    `Peers: ${allPeers.join(", ")}.\nCases: ${[...weights, ...Object.keys(cases)].join(", ")}.\nRounds: 1 or more.`,
  );
  process.exitCode = 2;
} else {
  const peers = wantedPeers.filter(isInstalled);
  for (const peer of wantedPeers.filter((wanted) => !isInstalled(wanted)))
    console.log(`Left out: ${peer} is not installed (npm run bench:install).`);
  const cells = await main(peers, wantedCases, rounds);
  console.log(`\n${tables(cells, peers)}`);
  if (cells.some(({ peer, error }) => peer === "writ" && error !== undefined)) process.exitCode = 1;
}
