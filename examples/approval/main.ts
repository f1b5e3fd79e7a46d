// node examples/approval/main.ts
//
// One run and several processes: this process starts the run. A worker carries it out and is killed. This process approves the mail. A worker of the
// next release, whose agent has a new tool, ends the run.
// To do the same in three terminals:
//   npx writ run examples/approval/agent.ts --durable --id invoice-17 "Remind Ada of invoice 17"    (then press Ctrl-C, or close the terminal)
//   npx writ approvals list; npx writ approvals approve invoice-17 --by kim
//   npx writ work examples/approval/next-release.ts --accept tools
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isWritError } from "writ";
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import clerk from "./agent.ts";
import nextClerk from "./next-release.ts";

const folder = mkdtempSync(join(tmpdir(), "approval-"));
const [file, mails] = [join(folder, "runs.db"), join(folder, "mails.txt")];
const store = sqliteRuns(file);
const runs = durableRuns({ store });

await runs.start(clerk, "Remind Ada of invoice 17", { id: "invoice-17" });
console.log("The run is kept.");

const first = startWorker();
const question = await firstQuestion();
console.log(`A worker asks: ${question.request.tool} ${JSON.stringify(question.request.arguments)}?`);
first.kill("SIGKILL");
await once(first, "exit");
console.log("The worker was killed.");

const [stranded] = await durableRuns({ store, agents: [nextClerk] }).check();
assert(isWritError(stranded?.error, "journal-mismatch"));
console.log(`Before the deploy: ${stranded.error.data.parts} changed for ${stranded.run.id}.`);

await runs.answer(question.runId, question.key, { approved: true, hash: question.request.hash, by: "kim" });
console.log("Kim approved the mail; nobody works.");

const second = startWorker("next");
const { outcome } = await runs.result("invoice-17");
second.kill("SIGTERM");
await once(second, "exit");
assert(outcome.type === "answered");
console.log(`A worker of the next release: ${JSON.stringify(outcome.content)}`);

const sent = readFileSync(mails, "utf8").trim().split("\n");
assert.equal(sent.length, 1);
store.close();
rmSync(folder, { recursive: true });
console.log("One mail was sent.");

function startWorker(...release: readonly string[]): ChildProcess {
  const env = { ...process.env, WRIT_MAILS: mails };
  return spawn(process.execPath, [join(import.meta.dirname, "worker.ts"), file, ...release], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function firstQuestion() {
  for (;;) {
    const [asked] = await runs.waiting("invoice-17");
    if (asked !== undefined) return asked;
    await sleep(20);
  }
}
