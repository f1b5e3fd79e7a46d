/**
 * A process that carries out runs of payers until each has ended, waits, or was asked a question for the first time. The process then says so, stands
 * still and waits to be killed. Arguments: the module of the store, its address, a folder with the ledger and the list of questions, and `work`; or
 * `answer` with answers as JSON: then it gives these answers and prints the code of each.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { durableRuns, type RunJournal, type RunStore } from "../../src/durable.ts";
import type { Asked, JournalQuestion } from "../../src/journal/journal.ts";
import { isWritError } from "../../src/index.ts";
import type { OpenRuns } from "../../test/contract/run-store.ts";
import { payer } from "./payments.ts";

const [, , module = "", address = "", folder = "", what = "", given = "[]"] = process.argv;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module of a store under test
const { openRuns } = (await import(module)) as { readonly openRuns: OpenRuns };
const store = await openRuns(address);
const [ledger, list] = [join(folder, "ledger"), join(folder, "questions")];
if (what === "work") await work();
else await answer();

/** A question as the list has it, a line each. */
export interface Listed {
  readonly run: string;
  readonly key: string;
  readonly hash: string;
  readonly payment: string;
}

async function pay(to: string): Promise<void> {
  appendFileSync(ledger, `${to}\n`);
  await sleep(2);
}

async function work(): Promise<void> {
  let paying = 0;
  const known = new Set(readFileSync(list, "utf8").split("\n").map(placeOf));
  const standing = new Set<string>();
  const stopping = (journal: RunJournal): RunJournal => ({
    ...journal,
    async step(step) {
      paying += step.lost === undefined ? 0 : 1;
      try {
        return await journal.step(step);
      } finally {
        paying -= step.lost === undefined ? 0 : 1;
      }
    },
    async ask<Answer>(question: JournalQuestion): Promise<Asked<Answer>> {
      if (journal.ask === undefined) throw new Error("the store asks nobody");
      const asked = await journal.ask<Answer>(question);
      const { key, request } = question;
      const run = journal.run.id;
      if ("answer" in asked || known.has(`${run} ${key}`)) return asked;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the question about a payment
      const { hash, arguments: args } = request as { hash: string; arguments: { to: string } };
      appendFileSync(list, `${JSON.stringify({ run, key, hash, payment: args.to } satisfies Listed)}\n`);
      standing.add(run);
      return new Promise(() => undefined);
    },
  });
  const claim: RunStore["claim"] = async (agents, id) => {
    const journal = await store.claim(agents, id);
    return journal && stopping(journal);
  };
  const runs = durableRuns({ store: { ...store, claim }, agents: [payer(pay)] });
  runs.work({ concurrency: 1000 });
  for (let quiet = 0; quiet < 2;) {
    await sleep(50);
    const all = await runs.list({ limit: 1000 });
    const isQuiet = all.every(
      ({ id, end, status }) => end !== undefined || status === "waiting" || standing.has(id),
    );
    quiet = isQuiet && paying === 0 ? quiet + 1 : 0;
  }
  console.log("quiet");
}

function placeOf(line: string): string {
  if (line === "") return "";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote it
  const { run, key } = JSON.parse(line) as Listed;
  return `${run} ${key}`;
}

async function answer(): Promise<void> {
  const runs = durableRuns({ store });
  const codes: string[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the process that began this one wrote them
  const answers = JSON.parse(given) as readonly (Listed & { readonly approved: boolean })[];
  for (const { run, key, hash, approved } of answers)
    codes.push(
      await runs.answer(run, key, { approved, hash }).then(
        () => "taken",
        (error: unknown) => (isWritError(error) ? error.code : String(error)),
      ),
    );
  console.log(JSON.stringify(codes));
  await store.close();
}
