import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { agent, isWritError, tool } from "../../src/index.ts";
import type { RunJournal } from "../../src/durable.ts";
import { type PostgresRuns, postgresRuns } from "../../src/postgres.ts";
import type { PostgresServer } from "../../test/postgres-server.ts";

/** The end of one scene: its faults, and whether another process took the run over. */
export interface FaultyScene {
  readonly complaints: readonly string[];
  readonly wasTaken: boolean;
  readonly unknown: number;
}

/** The effects of a run, as its world saw them. */
interface World {
  readonly begun: string[];
  readonly done: string[];
}

const turns = 6;

/** An agent that pays in each turn, twice in some. Only the conversation decides, so that anybody can go on with its run. */
function payer(world: World, workMs: () => number) {
  const pay = tool({
    name: "pay",
    description: "",
    effect: "irreversible",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    async execute(given: { to?: unknown }) {
      const to = JSON.stringify(given.to);
      world.begun.push(to);
      await sleep(workMs());
      world.done.push(to);
      return `paid ${to}`;
    },
  });
  return agent({
    name: "payer",
    tools: [pay],
    model: ({ messages }) => {
      const turn = messages.filter(({ role }) => role === "assistant").length;
      if (turn >= turns) return "done";
      const payments = Array.from({ length: 1 + (turn % 3) }, (_, nth) => `${turn}.${nth}`);
      return { calls: payments.map((to) => ({ name: "pay", arguments: { to } })) };
    },
  });
}

interface Ended {
  readonly type: string;
  readonly results: readonly { readonly status: string; readonly text: string }[];
}

/** Carries the run of a journal out and closes it. The code of the error where it cannot. */
async function carryOut(journal: RunJournal, subject: ReturnType<typeof payer>): Promise<Ended | string> {
  try {
    const { outcome, transcript } = await subject.run("Go", {
      journal,
      runId: journal.run.id,
      approve: () => true,
    });
    return { type: outcome.type, results: transcript.messages.filter((message) => message.role === "tool") };
  } catch (error) {
    if (isWritError(error)) return error.code;
    throw error;
  } finally {
    await journal.close();
  }
}

/** Opens a run as soon as no process has it. */
async function openSoon(runs: PostgresRuns, id: string, triesLeft = 5_000): Promise<RunJournal> {
  try {
    return await runs.open(id);
  } catch (error) {
    if (!isWritError(error, "run-claimed") || triesLeft === 0) throw error;
    await sleep(1);
    return openSoon(runs, id, triesLeft - 1);
  }
}

/** The faults in the world of a run whose last owner saw this end. */
function wrongIn({ begun, done }: World, ended: Ended | string): readonly string[] {
  if (typeof ended === "string") return [`the run ends with ${ended}`];
  const expected = Array.from({ length: turns }, (_, turn) => 1 + (turn % 3)).reduce(
    (sum, each) => sum + each,
    0,
  );
  const lies = ended.results.filter(
    ({ status, text }) => status === "ok" && !done.includes(text.replace("paid ", "")),
  );
  return [
    ...(ended.type === "answered" ? [] : [`the run is ${ended.type}`]),
    ...(ended.results.length === expected ? [] : [`the run has ${ended.results.length} results`]),
    ...begun.filter((to, place) => begun.indexOf(to) !== place).map((to) => `${to} was paid twice`),
    ...lies.map(({ text }) => `${text} did not happen`),
    ...ended.results.filter(({ status }) => status !== "ok" && status !== "unknown").map(({ text }) => text),
  ];
}

const unknownIn = (ended: Ended | string): number =>
  typeof ended === "string" ? 0 : ended.results.filter(({ status }) => status === "unknown").length;

/** Cuts the connections that hold claims, as a network does: their processes live on. */
export async function cutClaims({ url }: PostgresServer): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    "SELECT pg_terminate_backend(pid) FROM (SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()) AS holders",
  );
  await client.end();
}

/** The lock session of an owner that lives is cut in the middle, while another process waits for its run. */
export async function cutOwner(
  server: PostgresServer,
  schema: string,
  afterMs: number,
): Promise<FaultyScene> {
  await using mine = postgresRuns(server.url, { schema, connections: 4 });
  await using other = postgresRuns(server.url, { schema, connections: 4 });
  const world: World = { begun: [], done: [] };
  const subject = payer(world, () => 5 + (afterMs % 20));
  const owner = carryOut(await mine.open("r"), subject);
  await other.records("r"); // its connections stand
  await sleep(afterMs);
  const [next] = await Promise.all([openSoon(other, "r"), cutClaims(server)]);
  const after = carryOut(next, subject);
  const [before, ended] = await Promise.all([owner, after]);
  const wasTaken = before === "run-taken";
  const isRight = wasTaken || (typeof before !== "string" && before.type === "answered");
  const complaints = [
    ...wrongIn(world, ended),
    ...(isRight ? [] : [`the owner before ends with ${JSON.stringify(before)}`]),
  ];
  return { complaints, wasTaken, unknown: unknownIn(ended) };
}

/** PostgreSQL dies in the middle of a run, and comes back. */
export async function crashServer(
  server: PostgresServer,
  schema: string,
  afterMs: number,
): Promise<FaultyScene> {
  await using runs = postgresRuns(server.url, { schema, connections: 4 });
  const world: World = { begun: [], done: [] };
  const owner = carryOut(
    await runs.open("r"),
    payer(world, () => 5 + (afterMs % 20)),
  );
  await sleep(afterMs);
  server.stop("immediate");
  server.start();
  const before = await owner;
  const journal = await openSoon(runs, "r");
  const ended = await carryOut(
    journal,
    payer(world, () => 0),
  ); // from the records
  const complaints = [...wrongIn(world, before), ...wrongIn(world, ended)];
  if (JSON.stringify(before) !== JSON.stringify(ended)) complaints.push("the records tell something else");
  return { complaints, wasTaken: false, unknown: unknownIn(ended) };
}

/** Two processes begin the same run at once; the second tries again until the first has left it. */
export async function startTwice(
  server: PostgresServer,
  schema: string,
  afterMs: number,
): Promise<FaultyScene> {
  await using mine = postgresRuns(server.url, { schema, connections: 4 });
  await using other = postgresRuns(server.url, { schema, connections: 4 });
  const world: World = { begun: [], done: [] };
  const subject = payer(world, () => afterMs % 7);
  const ends = await Promise.all(
    [mine, other].map(async (runs) => carryOut(await openSoon(runs, "r"), subject)),
  );
  const differ = JSON.stringify(ends[0]) === JSON.stringify(ends[1]) ? [] : ["the two ends differ"];
  const complaints = [...ends.flatMap((ended) => wrongIn(world, ended)), ...differ];
  return { complaints, wasTaken: false, unknown: ends.reduce((sum, ended) => sum + unknownIn(ended), 0) };
}
