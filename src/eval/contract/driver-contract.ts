import { checkShape, closed } from "../../error/check-shape.ts";
import { agent } from "../../adapters/node.ts";
import type { RunResult } from "../../agent/runnable.ts";
import type { Driver, TurnInput } from "../../driver/driver.ts";
import { memoryJournal } from "../../journal/memory-journal.ts";
import type { FinishReason, ReplyMessage, ResultMessage } from "../../message/message.ts";
import type { PlainReply } from "../../model/function-model.ts";
import { scripted, type ScriptedModel } from "../../model/scripted.ts";
import { tool, type Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";
import { callable } from "../../util/shape.ts";
import { check, type ContractCheck, type Expect } from "./check.ts";

/** A driver, with the replies of a model that uses it. */
export interface DriverSubject {
  /** Makes the driver, anew for each check: it must hold no state. */
  readonly make: () => Driver;
  /** The replies that call a tool, one after the other. */
  readonly call: (name: string, args: JsonObject) => readonly (string | PlainReply)[];
  /** The reply that answers. */
  readonly answer: (text: string) => string | PlainReply;
}

/**
 * The contract of a {@link Driver} that asks a model, as checks for any test runner: it reads its own calls and answers, shows results, sends back
 * replies that say nothing, holds no state, never throws, and replays. The contract does not cover a driver that never asks a model: the
 * runtime checks its decisions.
 *
 * @example
 * ```ts
 * import { nativeDriver } from "writ/drivers";
 * import { driverContract } from "writ/testing";
 *
 * const checks = driverContract({
 *   make: () => nativeDriver,
 *   call: (name, args) => [{ calls: [{ name, arguments: args }] }],
 *   answer: (text) => text,
 * });
 * for (const { run } of checks) await run(); // in a test: it(name, run)
 * ```
 */
export function driverContract(subject: DriverSubject): readonly ContractCheck[] {
  checkShape("driverContract()", subject, subjectShape);
  const { call, answer } = subject;
  return [
    named("runs a call that its model makes, shows the result, and answers", async (expect) => {
      const { ended, model } = await run(subject, [...call("echo", { word: "swallow" }), answer("Done.")]);
      const [result] = resultsOf(ended);
      expect(result?.status === "ok", `the call ended as ${result?.status ?? "nothing: it was not read"}`);
      expect(said(model).includes("heard swallow"), "the model is not shown the result");
      expect(answerOf(ended).includes("Done."), `the run ended as ${JSON.stringify(ended.outcome)}`);
    }),
    named("tells the model of its tools", async (expect) => {
      const { model } = await run(subject, [answer("Done.")]);
      const [first] = model.requests;
      expect(JSON.stringify(first).includes("echo"), 'the first request does not name the tool "echo"');
    }),
    named("shows a call that failed, and goes on", async (expect) => {
      const { ended, model } = await run(subject, [
        ...call("fail", { word: "x" }),
        ...call("echo", { word: "y" }),
        answer("Done."),
      ]);
      expect(said(model).includes("broken wing"), "the model is not told why the call failed");
      expect(resultsOf(ended).length === 2, "the run did not go on after the failure");
    }),
    named("sends an empty reply back", async (expect) => {
      const { ended, model } = await run(subject, ["", answer("Done.")]);
      expect(model.requests.length > 1, "an empty reply was taken");
      expect(answerOf(ended).includes("Done."), `the run ended as ${JSON.stringify(ended.outcome)}`);
    }),
    named("makes the same request of the same transcript, and begins a longer one's with it", (expect) =>
      requests(subject, expect),
    ),
    named("reads anything without a throw, and no call in text that was cut off", (expect) =>
      reads(subject, expect),
    ),
    named("replays without the model", async (expect) => {
      const steps = [...call("echo", { word: "swallow" }), answer("Done.")];
      const journal = memoryJournal();
      const first = await run(subject, steps, { journal });
      const again = await run(subject, steps, { journal: memoryJournal(journal.records) });
      expect(again.model.requests.length === 0, "the model was asked again");
      const same = JSON.stringify(first.ended.transcript) === JSON.stringify(again.ended.transcript);
      expect(same, "the transcript of the replay is another one");
    }),
  ];
}

const subjectShape = closed({ make: callable, call: callable, answer: callable });

function named(name: string, work: (expect: Expect) => Promise<void>): ContractCheck {
  return check("driver", name, work);
}

const inputSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };

function tools(): readonly Tool[] {
  const echo = tool({
    name: "echo",
    description: "Says a word again",
    inputSchema,
    effect: "none",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of the tool has held the arguments to it
    execute: (args: unknown) => `heard ${(args as { word: string }).word}`,
  });
  const fail = tool({
    name: "fail",
    description: "Fails",
    inputSchema,
    effect: "none",
    execute: () => {
      throw new Error("broken wing");
    },
  });
  return [echo, fail];
}

interface Ran {
  readonly ended: RunResult<unknown>;
  readonly model: ScriptedModel;
}

async function run(
  { make }: Pick<DriverSubject, "make">,
  steps: readonly (string | PlainReply)[],
  options: { readonly journal?: ReturnType<typeof memoryJournal> } = {},
): Promise<Ran> {
  const model = scripted(steps);
  const ended = await agent({ name: "contract", model, driver: make(), tools: tools() }).run("go", options);
  return { ended, model };
}

function resultsOf({ transcript }: RunResult<unknown>): readonly ResultMessage[] {
  return transcript.messages.flatMap((message) => (message.role === "tool" ? [message] : []));
}

function answerOf({ outcome }: RunResult<unknown>): string {
  return outcome.type === "answered" ? JSON.stringify(outcome.content) : "";
}

/** The whole last request to the model, as text. */
function said({ requests: sent }: ScriptedModel): string {
  return JSON.stringify(sent.at(-1));
}

/** The turns of a run with this driver, as the driver gets them. */
async function turnsOf(subject: DriverSubject): Promise<readonly TurnInput[]> {
  const turns: TurnInput[] = [];
  const driver = subject.make();
  const watching: Driver = {
    ...driver,
    request(turn) {
      turns.push(turn);
      return driver.request(turn);
    },
  };
  const { call, answer } = subject;
  const steps = [...call("echo", { word: "a" }), ...call("echo", { word: "b" }), answer("Done.")];
  await run({ make: () => watching }, steps);
  return turns;
}

async function requests(subject: DriverSubject, expect: Expect): Promise<void> {
  const written = (await turnsOf(subject)).map((turn) => {
    const [first, second] = [subject.make().request(turn), subject.make().request(turn)];
    expect(JSON.stringify(first) === JSON.stringify(second), "the same transcript gives two requests");
    return first.prompt ?? JSON.stringify(first.messages).slice(0, -1);
  });
  written.forEach((longer, index) => {
    const begins = longer.startsWith(written[index - 1] ?? "");
    expect(begins, "a longer transcript gives a request that does not begin with the shorter one's");
  });
}

const junk = [
  "",
  " ",
  "{",
  "}{",
  '{"tool":',
  "[]",
  "null",
  "\u0000",
  "<tool_call>",
  "@tool",
  "\ud800",
  "```json\n{",
];

async function reads(subject: DriverSubject, expect: Expect): Promise<void> {
  const [turn] = await turnsOf(subject);
  if (turn === undefined) return;
  const { call, answer, make } = subject;
  const own = [...call("echo", { word: "a" }), answer("Done.")].filter((reply) => typeof reply === "string");
  const cut = own.flatMap((text) => Array.from(text, (_, end) => text.slice(0, end)));
  const readOne = (text: string, finishReason: FinishReason): string => {
    const message: ReplyMessage = { role: "assistant", parts: text === "" ? [] : [{ type: "text", text }] };
    try {
      return make().read({ message, finishReason }, turn).type;
    } catch (error) {
      return `a throw (${String(error)})`;
    }
  };
  for (const text of [...junk, ...cut]) {
    const seen = [readOne(text, "stop"), readOne(text, "length")];
    const thrown = seen.find((type) => type.startsWith("a throw"));
    expect(thrown === undefined, `${JSON.stringify(text)} is read with ${thrown ?? ""}`);
    expect(seen[1] !== "calls", `a reply that was cut off calls: ${JSON.stringify(text)}`);
  }
}
