import { setTimeout as sleep } from "node:timers/promises";
import { parallel } from "../../src/compose.ts";
import type { Step } from "../../src/doors.ts";
import { agent, type Agent, type Hook, type Journal, type Policy, tool } from "../../src/index.ts";
import type { Delta, ModelRequest } from "../../src/models.ts";
import { fixed } from "../../src/tools.ts";

type PlannedCall = readonly [name: string, to: string];

/** Told of each part of the agent that is used. */
type Touch = (part: string) => void;

/** Payments wait for an answer, or are approved at once. */
const policy: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "pay", reason: "it is money" }
    : { verdict: "allow", rule: "free", reason: "" };

/**
 * A model that writes the planned calls, turn by turn and piece by piece, then answers. Only the calls of the conversation decide, so that a process can go
 * on anywhere, and after what was said was made shorter.
 */
function planned(turns: readonly (readonly PlannedCall[])[], touch: Touch) {
  return async function* ({ messages }: Pick<ModelRequest, "messages">): AsyncGenerator<Delta> {
    touch("the model");
    const said = messages.flatMap((message) =>
      message.role === "assistant"
        ? message.parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
        : [],
    );
    const last = Math.max(-1, ...said.map(({ id }) => Number(id.split("-")[0])));
    const calls = turns[last + 1];
    if (calls === undefined) yield { type: "text-delta", text: "done" };
    for (const [place, [name, to]] of (calls ?? []).entries()) {
      const id = `${last + 1}-${place}`;
      const field = /^(?:helper|group)/.test(name) ? "input" : "to";
      yield { type: "call-start", id, name };
      yield { type: "call-delta", id, text: name === "note" ? `{"${field}": 7` : `{"${field}": ` };
      await sleep(1);
      yield { type: "call-delta", id, text: name === "note" ? "}" : `"${to}"}` };
      yield { type: "call-end", id };
    }
    yield { type: "end", finishReason: calls === undefined ? "stop" : "tool-calls" };
  };
}

const seenBy = (touch: Touch): Hook => ({
  name: "seen",
  afterToolCall: async ({ tool: name, result }) => {
    touch("a hook");
    await sleep(1);
    return name === "look" ? { result: { ...result, text: `${result.text}!` } } : undefined;
  },
});

const bossTurns: readonly (readonly PlannedCall[])[] = [
  [
    ["look", "a"],
    ["look", "b"],
    ["pay", "kim"],
  ],
  [
    ["helper1", "x"],
    ["helper2", "y"],
  ],
  [
    ["note", "lee"],
    ["pay", "lee"],
    ["look", "c"],
  ],
  [["group", "z"]],
  [["look", "d"]],
];

/**
 * An agent with all that a run can be in the middle of: a model that streams, calls that begin early, payments that may not happen twice, two children beside
 * each other, a group, hooks, arguments that are mended, a summary. Each effect writes its beginning and its end to a ledger.
 */
export function bossOf(write: (line: string) => void, touch: Touch = () => undefined): Agent<string, string> {
  function acting(name: string, effect: "read" | "write" | "irreversible", more: object = {}) {
    return tool({
      name,
      description: "",
      effect,
      inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
      async execute({ to = "" }: { readonly to?: string }, { idempotencyKey }) {
        touch(name);
        const line = `${name} ${to} ${idempotencyKey}`;
        write(`begin ${line}`);
        await sleep(3);
        write(`end ${line}`);
        return `${name} ${to}`;
      },
      ...more,
    });
  }
  const pay = acting("pay", "irreversible");
  const look = acting("look", "read");
  const note = acting("note", "write", {
    retry: "keyed",
    recover: {
      invalidArguments() {
        touch("a recovery");
        return fixed({ to: "lee" });
      },
    },
  });
  const helper = (name: string) =>
    agent({ name, model: planned([[["look", name]], [["pay", name]]], touch), tools: [look, pay], policy });
  const group = parallel([helper("left"), helper("right")]);
  return agent({
    name: "boss",
    model: planned(bossTurns, touch),
    tools: [
      look,
      pay,
      note,
      helper("helper1").asTool(),
      helper("helper2").asTool(),
      group.asTool({ name: "group" }),
    ],
    hooks: [seenBy(touch)],
    compaction: {
      atTokens: 20,
      keepTurns: 2,
      async summarise() {
        touch("the summary");
        return "Much was done.";
      },
    },
    policy,
  });
}

/** The death of a process at a point of a run. */
export interface Death {
  /** Like `in:7`: the 7th work since the death before is about to begin; `out:7`: it has ended and has no record; `kept:7`: it has its record. */
  readonly point: string;
  readonly write: (line: string) => void;
  /** The ledger so far: processes that ended while the run waited count too. */
  readonly lines?: readonly string[];
  /** Returns where the process stops and goes on later; what it gives is waited for. */
  readonly die: () => unknown;
}

/** The word of the ledger for a process that was killed. */
export const died = "died";

/**
 * A journal whose process dies at a point. The ledger has each work that begins, that ends, and that has its record; `known` is a record that was found there,
 * which is no point to die at.
 */
export function dying<Kept extends Journal>(journal: Kept, { point, write, lines = [], die }: Death): Kept {
  const [where = "", wanted = ""] = point.split(":");
  const since = lines.slice(lines.lastIndexOf(died) + 1);
  let left = Number(wanted) - since.filter((line) => line.startsWith(`${where} `)).length;
  let dead: unknown; // what else is at work stands still as well
  async function reach(place: string, key: string): Promise<void> {
    await dead;
    write(`${place} ${key}`);
    if (place === where && (left -= 1) === 0) await (dead = die());
  }
  const around =
    <Result>(key: string, work: () => Promise<Result>) =>
    async (): Promise<Result> => {
      await reach("in", key);
      const result = await work();
      await reach("out", key);
      return result;
    };
  const step = async <Result>(given: Step<Result>): Promise<Result> => {
    let hasRun = false;
    const marked = (work: () => Promise<Result>) => {
      const within = around(given.key, work);
      return () => ((hasRun = true), within());
    };
    const { lost, run } = given;
    const result = await journal.step({
      ...given,
      run: marked(run),
      ...(lost === undefined ? {} : { lost: marked(lost) }),
    });
    await reach(hasRun ? "kept" : "known", given.key);
    return result;
  };
  return {
    ...journal,
    step,
    async all(steps: readonly Step<unknown>[]) {
      const ended = await Promise.allSettled(steps.map(step));
      return ended.map((each) => {
        if (each.status === "rejected") throw each.reason;
        return each.value;
      });
    },
  };
}

/** The end of a run as a process tells it. */
export interface ToldEnd {
  readonly outcome: string;
  readonly output?: unknown;
  readonly results: readonly { readonly name: string; readonly status: string; readonly text: string }[];
  /** The facts of the run, in the order of their numbers. */
  readonly facts: readonly string[];
  /** The faults of a replay of its records. */
  readonly replay: readonly string[];
  /** What the session has of its runs. */
  readonly session: number;
}
