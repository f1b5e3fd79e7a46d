import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteRuns, sqliteRuns } from "../../adapters/sqlite/sqlite-runs.ts";
import { WritError } from "../../error/writ-error.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { AnyAgent } from "../load-agent.ts";
import { formatOf, type OutputFlags } from "../options.ts";
import { countText, printable, processOutput, say, shellWord } from "../output.ts";
import type { Format } from "../print-run.ts";
import { questionText } from "../question-text.ts";
import { runDurably } from "../run-durably.ts";
import { cashier, secretary, shop } from "./agents.ts";
import { demoAgent } from "./weather.ts";

/** The options of `writ demo`. */
export interface DemoFlags extends OutputFlags {
  readonly keep?: string;
  /** The store in which it begins the run of the last scene, and is killed in the middle of it. */
  readonly dieIn?: string;
}

/** The things that all scenes use. */
interface Stage {
  readonly store: SqliteRuns;
  readonly path: string;
  readonly ledger: string;
  readonly format: Format;
  readonly verbose: boolean;
}

/**
 * `writ demo`: runs that need no model and no network. The replies of the model are scripted; everything that happens to its calls is real: the same loop, the
 * same checks, the same stores as in any run.
 *
 * @throws WritError `option-invalid` for a file that already exists
 */
export async function demo({ keep, dieIn, ...flags }: DemoFlags): Promise<ExitCode> {
  const stage = { format: formatOf(flags), verbose: flags.verbose ?? false };
  if (dieIn !== undefined) return dying(dieIn, stage);
  if (keep !== undefined && existsSync(keep)) {
    const advice = "The file exists already: name another one for the runs of the demo.";
    throw new WritError("option-invalid", { option: "--keep", value: keep, advice });
  }
  const { style } = processOutput;
  const folder = mkdtempSync(join(tmpdir(), "writ-demo-"));
  const path = keep ?? join(folder, "runs.db");
  tell(`${style("dim", "Scripts play the model: no model is asked, and nothing leaves this machine.")}\n`);
  try {
    using store = sqliteRuns(path);
    await playAll({ ...stage, store, path, ledger: join(folder, "ledger.txt") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const next =
    keep === undefined
      ? "writ demo --keep runs.db keeps these runs"
      : `writ inspect --store ${printable(shellWord(keep))}`;
  tell(`\n${style("dim", `Look closer: ${next}. With a model of your own: writ init, then writ doctor`)}\n`);
  return exitCodes.answered;
}

const tell = (text: string): void => say(text, processOutput);

async function playAll(stage: Stage): Promise<void> {
  heading("1 Calls beside each other, arguments that do not fit, and a tool it was not given");
  await play(
    demoAgent(),
    { id: "weather", prompt: "How warm is it in Oslo and Rome, and what is the average?" },
    stage,
  );
  heading("2 A page gives orders: the model obeys, and the policy does not");
  await play(
    secretary,
    { id: "mail", prompt: "Read https://rivals.example and mail a summary to ada@example.com" },
    stage,
  );
  heading("3 Money leaves when a person says yes, in whatever process");
  await approval(stage);
  heading("4 kill -9 between two calls, and the run goes on");
  await crash(stage);
}

function heading(text: string): void {
  tell(`\n${processOutput.style("bold", text)}\n`);
}

async function play(
  agent: AnyAgent,
  { id, prompt }: { readonly id: string; readonly prompt: string },
  { store, format, verbose }: Pick<Stage, "store" | "format" | "verbose">,
): Promise<void> {
  tell(`${processOutput.style("dim", `> ${prompt}`)}\n`);
  await runDurably(agent, { store, prompt, start: { id }, format, verbose, isBrief: !verbose });
}

async function approval(stage: Stage): Promise<void> {
  const refund = { id: "refund", prompt: "The kettle of order A17 came broken." };
  await play(cashier, refund, stage);
  const { style } = processOutput;
  const [question] = await stage.store.questions(refund.id);
  if (question === undefined) return;
  const { key, request } = question;
  tell(`${questionText(request, processOutput)}\n`);
  await stage.store.answer(refund.id, key, {
    approved: true,
    hash: request.hash,
    policy: request.policy,
    by: "the demo",
  });
  tell(`${style("green", "✓")} the demo answered as \`writ approvals approve\` does: yes\n`);
  await play(cashier, refund, stage);
}

async function crash({ ledger, path, ...stage }: Stage): Promise<void> {
  const program = [process.argv[1] ?? "", "demo", "--die-in", path];
  const env = { ...process.env, WRIT_DEMO_LEDGER: ledger };
  const child = spawn(process.execPath, program, { env, stdio: ["ignore", "inherit", "inherit"] });
  await once(child, "close");
  const { style } = processOutput;
  tell(
    `${style("red", "✗")} the process was killed (${child.signalCode ?? "it ended"}); another one goes on; what is recorded is told again, and not done again\n`,
  );
  await play(shop(ledger, false), order, stage);
  const made = readFileSync(ledger, "utf8").trimEnd().split("\n");
  const charged = made.filter((line) => line.startsWith("charge"));
  tell(
    `${style("green", "✓")} the card was charged ${countText(charged.length, "time")}: ${made.join(", ")}\n`,
  );
}

const order = { id: "order", prompt: "Order B20 is confirmed." };

/** The process that dies in the middle of its run. */
async function dying(path: string, stage: Pick<Stage, "format" | "verbose">): Promise<ExitCode> {
  using store = sqliteRuns(path);
  await play(shop(process.env["WRIT_DEMO_LEDGER"] ?? "", true), order, { ...stage, store });
  return exitCodes.failed;
}
