import { describe, expect, it } from "vitest";
import {
  labelOf,
  labelOfAll,
  type Message,
  type ResultStatus,
  userMessage,
} from "../../src/message/message.ts";
import { joinLabels, type Label, readLabel, type Secrecy, trustedLabel } from "../../src/message/label.ts";
import { readTranscript } from "../../src/message/read-transcript.ts";
import type { ReadyTranscript } from "../../src/message/transcript.ts";
import { agent, inMemorySessions, memoryBank, session, tool } from "../../src/index.ts";
import { summariseSession } from "../../src/session.ts";
import { labelled } from "../../src/tools.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { allowList } from "../../src/policy/allow-list.ts";
import { noIntent } from "../../src/policy/knowledge/intent.ts";
import { labelOfArguments, learn, learnIntent } from "../../src/policy/knowledge/learned.ts";
import { resultLabel } from "../../src/policy/knowledge/result-label.ts";
import { compactor } from "../../src/session/compaction.ts";
import type { Tool } from "../../src/tool/tool.ts";
import type { Json } from "../../src/util/json.ts";
import { randomFrom } from "../random.ts";

/** How many cases: `WRIT_LABEL_CASES=1000000` tries more. What runs agents is tried with fewer. */
const cases = Number(process.env["WRIT_LABEL_CASES"] ?? 100_000);
const seed = Number(process.env["WRIT_LABEL_SEED"] ?? 20_261);
const runs = Math.max(1, Math.round(cases / 250));

const random = randomFrom(seed);
const below = (end: number): number => Math.floor(random() * end);
const one = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;
const some = <Value>(values: readonly Value[], most: number): Value[] =>
  Array.from({ length: below(most + 1) }, () => one(values));

const people = ["ada@x.com", "bob@x.com", "eve@y.com"] as const;
const sources = ["tool/look", "tool/mail", "agent/helper", "memory/a", "input"] as const;

const secrecy = (): Secrecy =>
  one<Secrecy>(["public", "private", { readers: [...new Set(some(people, 3))] }]);
const label = (): Label =>
  below(6) === 0
    ? trustedLabel
    : {
        integrity: one(["trusted", "untrusted"]),
        secrecy: secrecy(),
        sources: [...new Set(some(sources, 3))],
      };

/** Who of the people may learn it, and somebody else: what a label means, without the code that joins. */
const readers = ({ secrecy: of }: Label): ReadonlySet<string> =>
  new Set(of === "public" ? [...people, "anybody"] : of === "private" ? [] : of.readers);

function isNotHigher(first: Label, second: Label): boolean {
  if (first.integrity === "trusted" && second.integrity === "untrusted") return false;
  const may = readers(second);
  return (
    [...readers(first)].every((reader) => may.has(reader)) &&
    second.sources.every((source) => first.sources.includes(source))
  );
}

/** Where something comes from that everybody may learn and the user or the author said need not be kept. */
const isKeptNotHigher = (first: Label, second: Label): boolean =>
  second.integrity === "trusted" && second.secrecy === "public" ? true : isNotHigher(first, second);

const isSame = (first: Label, second: Label): boolean =>
  isNotHigher(first, second) && isNotHigher(second, first);
const told = (...labels: readonly Label[]): string => `seed ${seed}: ${JSON.stringify(labels)}`;

const odd: readonly unknown[] = [
  undefined,
  null,
  "trusted",
  7,
  [],
  {},
  { integrity: "trusted" },
  { integrity: "trusted", secrecy: "public" },
  { integrity: "TRUSTED", secrecy: "public", sources: [] },
  { integrity: "trusted", secrecy: "open", sources: [] },
  { integrity: "trusted", secrecy: { readers: "all" }, sources: [] },
  { integrity: "trusted", secrecy: { readers: [1] }, sources: [] },
  { integrity: "trusted", secrecy: "public", sources: "none" },
  { integrity: "trusted", secrecy: "public", sources: [null] },
  { integrity: ["trusted"], secrecy: "public", sources: [] },
];

const statuses: readonly string[] = [
  "ok",
  "error",
  "unknown",
  "bogus",
  "",
  "constructor",
  "toString",
  "__proto__",
  "hasOwnProperty",
  "valueOf",
];
const values: readonly Json[] = [
  "ada@x.com",
  "eve@y.com",
  5,
  true,
  null,
  "",
  ["ada@x.com"],
  { to: "eve@y.com" },
];

describe(`labels, ${cases} random cases`, () => {
  it("labels never rise when they are joined, in whatever order and however often", () => {
    for (let index = 0; index < cases; index += 1) {
      const [a, b, c] = [label(), label(), label()] as const;
      const joined = joinLabels(a, b);
      if (!isNotHigher(joined, a) || !isNotHigher(joined, b)) expect.fail(`higher: ${told(a, b, joined)}`);
      if (!isSame(joined, joinLabels(b, a))) expect.fail(`order: ${told(a, b)}`);
      if (!isSame(joinLabels(joined, c), joinLabels(a, joinLabels(b, c))))
        expect.fail(`brackets: ${told(a, b, c)}`);
      if (!isSame(joinLabels(a, a), a) || !isSame(joinLabels(joined, a), joined))
        expect.fail(`twice: ${told(a, b)}`);
      if (!isSame(joinLabels(a, trustedLabel), a) || !isSame(joinLabels(trustedLabel, a), a))
        expect.fail(`plain: ${told(a)}`);
      if (new Set(joined.sources).size !== joined.sources.length)
        expect.fail(`sources: ${told(a, b, joined)}`);
    }
  });

  it("labels never rise when they are read: what cannot be read is a stranger's secret", () => {
    for (let index = 0; index < cases; index += 1) {
      const given = label();
      const back = readLabel(JSON.parse(JSON.stringify(given)));
      if (!isSame(back, given)) expect.fail(told(given, back));
      const broken = one(odd);
      const read = readLabel(broken);
      if (read.integrity !== "untrusted" || read.secrecy !== "private")
        expect.fail(`${JSON.stringify(broken)} is ${JSON.stringify(read)}`);
      const status = one(statuses);
      const result = {
        role: "tool",
        callId: "c",
        name: "look",
        text: "",
        status: status as ResultStatus,
      } as const;
      if (labelOf(result).integrity !== "untrusted") expect.fail(`a result that is "${status}" is trusted`);
      if (broken === undefined) continue;
      const message = one<Message>([result, userMessage("x"), { role: "assistant", parts: [] }]);
      if (labelOf({ ...message, label: broken } as Message).integrity !== "untrusted")
        expect.fail(`a message of ${message.role} with the label ${JSON.stringify(broken)} is trusted`);
    }
  });

  it("labels never rise from arguments to results, unless every argument is the user's own choice", () => {
    let bound = 0;
    for (let index = 0; index < cases; index += 1) {
      const seen = label();
      const intent = { ...noIntent("a"), text: "Write to ada@x.com, 5 times." };
      const learned = learnIntent(intent, allowList("s", []), seen);
      const args = { a: one(values), b: one(values) };
      const of = labelOfArguments(learned, args);
      const foreign = JSON.stringify(args).includes("eve@y.com") || Object.values(args).includes(true);
      if (foreign && !isSame(of, seen))
        expect.fail(`${JSON.stringify(args)} after ${told(seen)} has ${JSON.stringify(of)}`);
      if (!isSame(of, seen)) bound += 1;
      const about = {
        name: "look",
        effect: one<Tool["effect"]>(["none", "read", "write", "irreversible", "undeclared"]),
        trusted: one([undefined, true, false]),
        secrecy: one<Secrecy | undefined>([undefined, secrecy()]),
        kind: one<Tool["kind"]>([undefined, undefined, "knowledge"]),
      };
      const result = resultLabel(about as Tool, of);
      if (!isNotHigher(result, of)) expect.fail(`${JSON.stringify(about)} made ${told(of, result)}`);
      const isOwn = about.trusted ?? (about.effect === "none" || about.kind === "knowledge");
      if (!isOwn && result.integrity === "trusted") expect.fail(`${JSON.stringify(about)} is trusted`);
      if (
        about.secrecy !== undefined &&
        !isNotHigher({ ...result, sources: [] }, { ...trustedLabel, secrecy: about.secrecy })
      )
        expect.fail(`${JSON.stringify(about)} is told to more: ${told(result)}`);
    }
    expect(bound).toBeGreaterThan(cases / 50);
  });

  it("labels never rise while a run learns, and a run that learned from messages is as good as those are", () => {
    const allowed = allowList("s", []);
    for (let index = 0; index < cases / 10; index += 1) {
      const messages = conversation(1 + below(3)).messages;
      let learned = learnIntent(noIntent("a"), allowed);
      for (const message of messages) {
        const next = learn(learned, [message], allowed);
        if (!isNotHigher(next.label, learned.label) || !isNotHigher(next.label, labelOf(message)))
          expect.fail(told(learned.label, next.label));
        learned = next;
      }
      if (!isSame(learned.label, labelOfAll(messages)))
        expect.fail(told(learned.label, labelOfAll(messages)));
    }
  });
});

/** A conversation in which some results come from strangers; replies after them say so, as the loop makes them. */
function conversation(turns: number): ReadyTranscript {
  const messages: Message[] = [{ role: "system", text: "s" }, userMessage("ask")];
  let seen: Label = trustedLabel;
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `call_${turn}`;
    const own = seen === trustedLabel ? {} : { label: seen };
    messages.push({
      role: "assistant",
      parts: [{ type: "tool-call", id, name: "look", arguments: {} }],
      ...own,
    });
    const result = below(4) === 0 ? {} : { label: label() };
    messages.push({
      role: "tool",
      callId: id,
      name: "look",
      status: "ok",
      text: `result ${turn} ${"x".repeat(below(80))}`,
      ...result,
    });
    seen = joinLabels(seen, labelOf(messages.at(-1) as Message));
  }
  messages.push({
    role: "assistant",
    parts: [{ type: "text", text: "end" }],
    ...(seen === trustedLabel ? {} : { label: seen }),
  });
  return readTranscript({ messages }) as ReadyTranscript;
}

describe(`labels that are kept, ${runs} random runs`, () => {
  it("labels never rise when old turns are taken out, with and without a summary", async () => {
    for (let index = 0; index < runs * 5; index += 1) {
      const transcript = conversation(1 + below(5));
      const compact = compactor({
        atTokens: 1 + below(40),
        keepTurns: 1 + below(2),
        ...(below(2) === 0 ? {} : { summarise: () => "short" }),
      });
      const compacted = await compact(transcript, (work) => work());
      if (compacted === undefined) continue;
      const [before, after] = [labelOfAll(transcript.messages), labelOfAll(compacted.transcript.messages)];
      if (!isKeptNotHigher(after, before))
        expect.fail(`${told(before, after)} of ${JSON.stringify(transcript)}`);
    }
  });

  it("labels never rise in a memory bank, over runs of the agent that writes and reads it", async () => {
    for (let index = 0; index < runs; index += 1) {
      const bank = memoryBank();
      const own = label();
      const looks = below(3) > 0;
      const first = keeper({ bank, own, calls: looks ? ["look", "memory_write"] : ["memory_write"] });
      const second = keeper({ bank, own, calls: ["memory_read"] });
      const { label: written } = await first.run("remember");
      const { label: kept } = await bank.recall("keeper");
      if (!isKeptNotHigher(kept, looks ? own : trustedLabel)) expect.fail(told(own, kept));
      const { label: read } = await second.run("what was it?");
      if (!isKeptNotHigher(read, kept)) expect.fail(told(written, kept, read));
    }
  });

  it("labels never rise from one run of a session to the next, however it is told, kept or shortened", async () => {
    for (let index = 0; index < runs; index += 1) {
      const store = inMemorySessions();
      const own = label();
      const history = one(["answers", "all"] as const);
      const calls = below(3) > 0 ? ["look"] : [];
      const compaction =
        below(2) === 0 ? {} : { compaction: { atTokens: 1, keepTurns: 1, summarise: () => "short" } };
      const talker = keeper({ own, calls: [...calls, ...calls], ...compaction });
      const plain = keeper({ own, calls: [] });
      const { label: before } = await talker.run("look", { session: session(store, "s", { history }) });
      if (below(2) === 0) {
        await plain.run("and?", { session: session(store, "s", { history }) });
        await summariseSession(store, "s", { keepRuns: 1, summarise: () => "short" });
      }
      const { label: after } = await plain.run("what was it?", { session: session(store, "s", { history }) });
      if (!isKeptNotHigher(after, before))
        expect.fail(`${history} ${calls.length} ${JSON.stringify(compaction)}: ${told(before, after)}`);
    }
  });

  it("labels never rise from a run to the runs inside it, nor from those to what they give back", async () => {
    for (let index = 0; index < runs; index += 1) {
      const own = label();
      const outerLooks = below(2) === 0;
      const innerLooks = below(2) === 0;
      let told1: Label | undefined;
      const inner = agent({
        name: "inner",
        model: saying(innerLooks ? ["look"] : []),
        tools: [looking(own)],
        policy: ({ knows }) => ((told1 = knows.label), { verdict: "allow", rule: "r", reason: "r" }),
      });
      const outer = agent({
        name: "outer",
        model: saying(outerLooks ? ["look", "inner"] : ["inner"], { input: "eve@y.com" }),
        tools: [looking(own), inner.asTool()],
      });
      const { label: after, transcript } = await outer.run("go");
      const results = transcript.messages.filter((message) => message.role === "tool");
      expect(results.map(({ status }) => status)).toEqual(results.map(() => "ok"));
      const isSeen = outerLooks || innerLooks;
      if (isSeen && !isKeptNotHigher(after, own)) expect.fail(told(own, after));
      if (outerLooks && told1 !== undefined && !isKeptNotHigher(told1, own))
        expect.fail(`inside: ${told(own, told1)}`);
    }
  });

  it("labels never rise when a run goes on from a checkpoint", async () => {
    for (let index = 0; index < runs; index += 1) {
      const own = label();
      const walker = keeper({
        own,
        calls: ["look", "look"],
        ...(below(2) === 0 ? {} : { compaction: { atTokens: 1, keepTurns: 1 } }),
      });
      const turns = walker.turns("go");
      let seen: Label = trustedLabel;
      for (let turn = 0; turn <= below(3); turn += 1) {
        const next = await turns.next();
        if (next.done === true) break;
        const checkpoint = JSON.parse(JSON.stringify(next.value)) as typeof next.value;
        seen = joinLabels(seen, labelOfAll(checkpoint.transcript.messages));
        if (checkpoint.status !== "running") continue;
        const { label: after } = await walker.resume(checkpoint);
        if (!isKeptNotHigher(after, seen)) expect.fail(told(seen, after));
      }
      await turns.return(undefined as never);
    }
  });
});

/** A model that makes one call a turn, then answers. */
function saying(calls: readonly string[], args: Json = {}) {
  return ({ messages }: ModelRequest): { text?: string; calls?: { name: string; arguments: Json }[] } => {
    const asked = messages.findLastIndex((message) => message.role === "user" && message.by === undefined);
    const name = calls[messages.slice(asked).filter(({ role }) => role === "assistant").length];
    const wanted: Readonly<Record<string, Json>> = { memory_write: { content: "kept" }, inner: args };
    return name === undefined ? { text: "end" } : { calls: [{ name, arguments: wanted[name] ?? {} }] };
  };
}

const looking = (own: Label): Tool =>
  tool({
    name: "look",
    description: "",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => labelled("eve@y.com", own),
  });

interface Keeping {
  readonly own: Label;
  readonly calls: readonly string[];
  readonly bank?: ReturnType<typeof memoryBank>;
  readonly compaction?: Parameters<typeof compactor>[0];
}

function keeper({ bank, own, calls, compaction }: Keeping) {
  return agent({
    name: "keeper",
    model: saying(calls),
    tools: [looking(own)],
    policy: () => ({ verdict: "allow", rule: "r", reason: "r" }),
    ...(bank === undefined ? {} : { memory: bank }),
    ...(compaction === undefined ? {} : { compaction }),
  });
}
