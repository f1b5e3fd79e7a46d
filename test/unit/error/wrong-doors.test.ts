import { afterAll, describe, expect, it } from "vitest";
import * as compose from "../../../src/compose.ts";
import * as doors from "../../../src/doors.ts";
import * as drivers from "../../../src/drivers.ts";
import * as durable from "../../../src/durable.ts";
import * as evaluation from "../../../src/eval.ts";
import * as files from "../../../src/files.ts";
import * as root from "../../../src/index.ts";
import * as models from "../../../src/models.ts";
import * as policies from "../../../src/policy.ts";
import * as server from "../../../src/server.ts";
import * as sessions from "../../../src/session.ts";
import * as testing from "../../../src/testing.ts";
import * as tools from "../../../src/tools.ts";
import * as workspace from "../../../src/workspace.ts";
import { isWritError } from "../../../src/error/writ-error.ts";

const entries: readonly object[] = [
  compose,
  doors,
  drivers,
  durable,
  evaluation,
  files,
  root,
  models,
  policies,
  server,
  sessions,
  testing,
  tools,
  workspace,
];

/** What JavaScript gives to a function by mistake, by its name. */
const mistakes: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  number: 5,
  object: {},
  list: [],
  promise: Promise.resolve("later"),
  text: "zz",
  signal: new AbortController().signal,
};
const all = Object.keys(mistakes).join(" ");

/** Functions that take one of these, by the reason for it. */
const taken: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "they take nothing": {
    "inMemoryAccounts inMemoryNotes inMemorySessions inMemorySlots keepAll memoryRuns": all,
    "outsidePlan planned powerGuard reachesOutside secrecyExceedsTargets untrusted": all,
  },
  "policy() says what is wrong with a rule": {
    "allow ask deny all any not effect hostIn oneOf boundToIntent unknownLinks arg roles": all,
    calls: "object",
    within: "object",
    requested: "nothing object",
  },
  "a question about any value": { "isFact isRunError isWritError": all },
  "any value is one to wrap": { "fixed labelled": all },
  "they say what they cannot read, and never throw": { "lenientJson partialJson compileGrammar": all },
  "their options may be left out": {
    "commandDriver guidedDriver jsonDriver pythonicDriver reactDriver selectDriver": "nothing object",
    "absent guarded strict memoryBank planTool majorityVote llmStatus": "nothing object",
    memoryJournal: "nothing list",
    unrecoverable: "nothing text",
  },
  "there may be none yet": {
    "byWords fromLangChain recogniser recordedScript scripted skillLibrary": "list",
    "fakeAnthropic fakeGemini fakeOllama fakeOpenai": "list",
    "fromAiSdk manifestText weighted": "object signal",
  },
  "it is what they take": {
    "env exec net secret fakeTool escalated foundIn listedBy userMessage callerSignal hashToken listPrice":
      "text",
    "retry slidingLines tokenBudget": "number",
  },
};

const exceptions = new Map(
  Object.values(taken).flatMap((rows) =>
    Object.entries(rows).flatMap(([names, given]) => names.split(" ").map((name) => [name, given] as const)),
  ),
);

const open: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(open.map((close) => close())));

/** Calls a function; what gives events only when it is asked is asked. */
async function outcomeOf(give: (given: unknown) => unknown, given: unknown): Promise<string> {
  try {
    const made: unknown = await give(given);
    if (typeof made === "object" && made !== null && "close" in made && typeof made.close === "function")
      open.push(made.close.bind(made));
    if (typeof made === "object" && made !== null && "next" in made && typeof made.next === "function")
      await made.next();
    return "taken";
  } catch (error) {
    return isWritError(error) ? "refused" : String(error);
  }
}

const functions = entries.flatMap((entry) =>
  Object.entries(entry).filter(
    (pair): pair is [string, (given: unknown) => unknown] =>
      typeof pair[1] === "function" && !/^class\b/.test(Function.prototype.toString.call(pair[1])),
  ),
);

describe("a public function that is given what it does not take", () => {
  it.each(functions)("%s() says so with an error of the catalogue", async (name, give) => {
    const seen: string[] = [];
    for (const [kind, given] of Object.entries(mistakes)) {
      const outcome = await outcomeOf(give, given);
      if (outcome === "taken") seen.push(kind);
      else expect.soft(outcome, `${name}(${kind})`).toBe("refused");
    }
    expect(seen.join(" ")).toBe(exceptions.get(name) ?? "");
  });

  it("is excepted nowhere by a name that is none of theirs", () => {
    const names = new Set(functions.map(([name]) => name));
    expect([...exceptions.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

const { agent } = root;
const clerk = agent({ name: "clerk", model: () => "Done." });
const runs = durable.durableRuns({ store: durable.memoryRuns(), agents: [clerk] });
const question = { runId: "r", key: "k", request: { hash: "h", tool: "t" } };
const wrong = (value: unknown): never => value as never;
const signal = wrong(new AbortController().signal);

it.each<[what: string, give: () => unknown, told: RegExp]>([
  [
    "run(input, signal)",
    () => clerk.run("Hi", signal),
    /^The run of "clerk": .*got an instance of AbortSignal/,
  ],
  ["run(input, new Map())", () => clerk.run("Hi", wrong(new Map())), /signal, .*got an instance of Map/],
  ["result(id, signal)", () => runs.result("r", signal), /must be an object with signal, got an instance/],
  [
    "start(agent, input, signal)",
    () => runs.start(clerk, "Hi", signal),
    /start\(\).*got an instance of AbortSignal/,
  ],
  ["events(id, signal)", () => runs.events("r", signal).next(), /inside, signal, got an instance/],
  ["work(signal)", () => runs.work(signal), /^work\(\).*got an instance of AbortSignal/],
  [
    "explain(decision, somebody)",
    () => policies.explain({ verdict: "deny", rule: "r", reason: "no" }, wrong("user")),
    /^explain\(\): `audience` must be "model" or "people", got "user"/,
  ],
  [
    "uiMessage(event, much)",
    () => doors.uiMessage(wrong({ type: "run-start", runId: "r" }), wrong("much")),
    /`detail`/,
  ],
  [
    "addUser(transcript, text)",
    () => doors.addUser(wrong({ state: "ready", messages: [] }), doors.userMessage("Hi")),
    /^addUser\(\): `transcript` must be a transcript of this runtime/,
  ],
  [
    "answerRecord(question)",
    () => durable.answerRecord(wrong(question), wrong(undefined), 1),
    /^answer\(\).*got nothing/,
  ],
  [
    "answerRecord(question, answer, date)",
    () => durable.answerRecord(wrong(question), { approved: true, hash: "h" }, wrong(new Date())),
    /^answerRecord\(\): `now` must be a number/,
  ],
  [
    "decideBy(driver)",
    () => drivers.decideBy(drivers.nativeDriver, wrong(undefined), wrong(5)),
    /`turn` must be an object/,
  ],
  [
    "recordedJournal(records)",
    () => doors.recordedJournal([], wrong(undefined)),
    /`keep` must be a function/,
  ],
])("%s says so too", async (_what, give, told) => {
  await expect(Promise.try(give)).rejects.toMatchObject({
    code: "definition-invalid",
    message: expect.stringMatching(told),
  });
});
