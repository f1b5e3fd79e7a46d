import type { RunForkOptions } from "../durable/fork.ts";
import type { QuestionAnswer } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Asked, json, type Route } from "../server/route.ts";
import { answer as answerSchema } from "../server/schemas.ts";
import type { Sent } from "../server/sse.ts";
import { isJsonObject } from "../util/json.ts";
import { loadRun, type RunsToInspect, tryPolicy } from "./load-run.ts";
import { exportedPage } from "./page-files.ts";
import { playRoutes } from "./play-routes.ts";
import { replayAgain } from "./replay-run.ts";
import type { RunIndex } from "./run-index.ts";
import type { RunsBegunHere } from "./runs-begun-here.ts";
import type { ListedRun, RunChange } from "./view.ts";

/** The parts of an inspector that its routes use. */
export interface Inspecting {
  readonly around: RunsToInspect;
  readonly index: RunIndex;
  readonly begunHere: RunsBegunHere;
  /** The place of the runs, as people know it. */
  readonly place: string;
  /** True if runs are carried out in this process. */
  readonly works: boolean;
}

const text: JsonSchema = { type: "string" };
const ofRun = { id: text };
const forkSchema: JsonSchema = {
  type: "object",
  properties: {
    beforeTurn: { type: "integer", minimum: 1 },
    instructions: text,
    model: text,
    results: { type: "object" },
  },
  required: ["beforeTurn"],
  additionalProperties: false,
};
const inspecting = { status: 200 } as const;

/** The routes of an inspector. Anybody who has its token may use all of them. */
export function inspectRoutes(given: Inspecting): readonly Route[] {
  const { around, index, begunHere, place, works } = given;
  return [
    {
      method: "get",
      path: "/api/runs",
      summary: "All runs, the latest first, and what can be done here",
      answer: inspecting,
      act: () => json({ runs: index.list(), place, works, agents: [...around.known.keys()] }),
    },
    {
      method: "get",
      path: "/api/run",
      summary: "One run with its turns and calls; quick: of its records alone",
      query: { ...ofRun, quick: text },
      answer: inspecting,
      act: async ({ query }) => json(await loadRun(query["id"] ?? "", around, query["quick"] === "yes")),
    },
    {
      method: "get",
      path: "/api/export",
      summary: "One run as a page of its own",
      query: ofRun,
      answer: { ...inspecting, type: "text/html" },
      act: async ({ query }) =>
        new Response(await exportedPage(await loadRun(query["id"] ?? "", around)), {
          headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
        }),
    },
    {
      method: "get",
      path: "/api/search",
      summary: "The runs in which words stand",
      query: { text },
      answer: inspecting,
      act: ({ query }) =>
        json({ ids: index.search((query["text"] ?? "").split(/\s+/).filter((word) => word !== "")) }),
    },
    {
      method: "get",
      path: "/api/questions",
      summary: "The questions that runs wait for, the oldest first",
      answer: inspecting,
      act: async () => json({ questions: await around.store.questions() }),
    },
    {
      method: "get",
      path: "/api/changes",
      summary: "The runs that change, as they do",
      answer: { ...inspecting, type: "text/event-stream" },
      act: (asked) => changes(asked, given),
    },
    ...studyRoutes(given),
    ...acts(around, begunHere),
    ...playRoutes({ around, begunHere }),
  ];
}

/** The routes that replay a run, with its own policy and with another one. They change nothing. */
function studyRoutes({ around }: Inspecting): readonly Route[] {
  return [
    {
      method: "get",
      path: "/api/policy",
      summary: "The policy of an agent as data, where it is not a function",
      query: { agent: text },
      answer: inspecting,
      act({ query }) {
        const { policy, manifest } = around.known.get(query["agent"] ?? "") ?? {};
        return json({ name: manifest?.policy.name ?? "", ...(policy === undefined ? {} : { policy }) });
      },
    },
    {
      method: "get",
      path: "/api/replay",
      summary: "Whether a run from its records tells what is recorded, and where first it does not",
      query: ofRun,
      answer: inspecting,
      act: async ({ query }) => json(await replayAgain(await known(query["id"], around), around)),
    },
    {
      method: "post",
      path: "/api/try-policy",
      summary: "What another policy says of each call of a run",
      query: ofRun,
      body: { type: "object", properties: { policy: { type: "object" } }, required: ["policy"] },
      answer: inspecting,
      async act({ query, body }) {
        const id = await known(query["id"], around);
        const policy = isJsonObject(body) ? (body["policy"] ?? null) : null;
        return json({ calls: await tryPolicy(id, policy, around) });
      },
    },
  ];
}

/** The routes that change something. They need the program of the agent, which checks that the question is still the one that was shown. */
function acts(around: RunsToInspect, begunHere: RunsBegunHere): readonly Route[] {
  return [
    {
      method: "post",
      path: "/api/answer",
      summary: "Answers a question, once",
      query: ofRun,
      body: answerSchema,
      answer: { status: 204 },
      async act({ runs, query, body, caller }) {
        const id = await known(query["id"], around);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
        const { key, ...answer } = body as unknown as QuestionAnswer & { readonly key: string };
        await runs.answer(id, key, { ...answer, by: caller.name });
        void begunHere.goOn(id);
        return new Response(null, { status: 204 });
      },
    },
    {
      method: "post",
      path: "/api/fork",
      summary: "Begins a fork of a run, and carries it out here: its tools answer as they did",
      query: ofRun,
      body: forkSchema,
      answer: { status: 201 },
      async act({ runs, query, body }) {
        const id = await known(query["id"], around);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
        return begunHere.begin(await runs.fork(id, body as unknown as RunForkOptions));
      },
    },
  ];
}

/** @throws WritError `run-missing`, `request-forbidden` */
async function known(id: string | undefined, { store, known: agents }: RunsToInspect): Promise<string> {
  const run = await store.read(id ?? "");
  if (run === undefined) throw new WritError("run-missing", { id: id ?? "" });
  if (agents.has(run.agent)) return run.id;
  const reason = `there is no program of "${run.agent}" here: name it, \`writ inspect agent.ts\``;
  throw new WritError("request-forbidden", { reason });
}

function changes({ openStream }: Asked, { index }: Inspecting): Response {
  const { signal, answer } = openStream();
  return answer(changed(index, signal), { failure: () => undefined }); // the reader reconnects
}

async function* changed(index: RunIndex, signal: AbortSignal): AsyncGenerator<Sent, void> {
  const waiting = new Map<string, ListedRun | undefined>(); // undefined: the run was erased
  let more = Promise.withResolvers<void>();
  const leave = index.watch(({ runs, erased }) => {
    for (const run of runs) waiting.set(run.id, run);
    for (const id of erased) waiting.set(id, undefined);
    more.resolve();
  });
  const onAbort = (): void => more.resolve();
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      await more.promise;
      more = Promise.withResolvers();
      if (waiting.size === 0) continue;
      const runs = [...waiting.values()].filter((run) => run !== undefined);
      const erased = [...waiting].flatMap(([id, run]) => (run === undefined ? [id] : []));
      waiting.clear();
      yield { event: "runs", data: JSON.stringify({ runs, erased } satisfies RunChange) };
    }
  } finally {
    leave();
    signal.removeEventListener("abort", onAbort);
  }
}
