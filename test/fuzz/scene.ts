import fc from "fast-check";
import type { Budget } from "../../src/policy/account/budget.ts";
import { type EndCause, endCauses } from "../../src/run/end.ts";
import type { Json } from "../../src/util/json.ts";
import {
  anyJson,
  foreign,
  hostileIds,
  hostileNames,
  injections,
  oddErrors,
  oddValues,
  rawArguments,
  tokenCounts,
  toolNames,
} from "./hostile.ts";

/** Schemas that tools of scenes have; `schemas.ts` says which arguments each takes. */
export const schemaNames = ["mail", "pay", "any", "flag", "list", "zod", "slow"] as const;
export type SchemaName = (typeof schemaNames)[number];

/** What a tool does when it runs. */
export type Behaviour =
  | { readonly do: "text"; readonly text: string }
  | { readonly do: "value" | "resolve"; readonly what: string }
  | { readonly do: "throw" | "reject" | "wrap"; readonly what: string }
  | { readonly do: "later"; readonly ms: number; readonly fails: boolean }
  | {
      readonly do:
        | "never"
        | "thenable"
        | "stray"
        | "mutate"
        | "block"
        | "echo"
        | "self"
        | "delegate"
        | "escape"
        | "trusted-label"
        | "odd-label"
        | "look-around"
        | "late-use";
    }
  /** Uses its secret, and then something outside says its value. */
  | { readonly do: "leak"; readonly by: (typeof leaks)[number] };

export const leaks = [
  "text",
  "nested",
  "key",
  "error",
  "cause",
  "thrown",
  "base64",
  "progress",
  "label",
] as const;

export interface ToolSpec {
  readonly schema: SchemaName;
  readonly effect: "none" | "read" | "write" | "irreversible" | "undeclared";
  readonly behaviour: Behaviour;
  /** Numbers of capabilities, in `powers` of the scene. */
  readonly needs: readonly number[];
  /** Numbers of resources that it tries to reach. */
  readonly reaches: readonly number[];
  readonly trusted?: boolean | undefined;
  readonly resolves?: boolean | undefined;
  readonly secrecy?: "private" | { readonly readers: readonly string[] } | undefined;
  readonly maxCalls?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly isExclusive?: boolean | undefined;
  readonly isTextOut?: boolean | undefined;
}

/** The arguments of a call. */
export type ArgumentsSpec =
  | { readonly type: "fit"; readonly values: readonly number[] }
  | { readonly type: "json"; readonly json: Json }
  | { readonly type: "raw"; readonly text: string };

export interface CallSpec {
  /** A tool by its number, or a name that is no tool's. */
  readonly tool: number | string;
  readonly args: ArgumentsSpec;
  readonly id: string;
  /** How the call comes: whole, in pieces, never ended, ended twice, before its start. */
  readonly form: "whole" | "value" | "pieces" | "open" | "twice" | "early-end";
}

export interface ReplySpec {
  readonly text: string;
  readonly calls: readonly CallSpec[];
  readonly finish: "stop" | "tool-calls" | "length" | "content-filter" | "error" | "other";
  readonly usage: readonly [number, number];
  /** What else goes wrong. */
  readonly fault:
    | "none"
    | "throw"
    | "throw-odd"
    | "no-end"
    | "hang"
    | "two-ends"
    | "unknown-delta"
    | "slow"
    | "many";
  /** In which of the formats a driver of text is told a call. */
  readonly format: number;
}

export const policyNames = [
  "default",
  "default",
  "default",
  "guarded",
  "guarded",
  "strict",
  "strict",
  "rules",
  "rules",
  "table",
  "table",
  "ask-all",
  "deny-all",
  "throws",
  "odd",
  "promise",
] as const;

export const approveNames = [
  "none",
  "yes",
  "yes",
  "object",
  "run",
  "no",
  "edit",
  "edit-odd",
  "throws",
  "rejects",
  "never",
  "late",
  "odd",
  "truthy",
] as const;

export const hookNames = [
  "none",
  "none",
  "none",
  "none",
  "deny",
  "arguments",
  "result",
  "throws",
  "mask",
  "odd",
  "never",
  "say",
] as const;

export type PolicyName = (typeof policyNames)[number];
export type ApproveName = (typeof approveNames)[number];
export type HookName = (typeof hookNames)[number];

export interface Scene {
  readonly tools: readonly ToolSpec[];
  readonly names: readonly string[];
  /** The tools of each skill, as bits. */
  readonly skills: readonly number[];
  readonly skill: number;
  /** Capabilities that the agent grants, and those that the caller leaves it. */
  readonly grants: readonly number[];
  readonly ceiling?: readonly number[] | undefined;
  readonly policy: PolicyName;
  /** What policies of tables and of rules are made of. */
  readonly table: readonly number[];
  readonly approve: ApproveName;
  readonly hook: HookName;
  readonly budget: Budget;
  readonly replies: readonly ReplySpec[];
  readonly driver:
    | "auto"
    | "native"
    | "json"
    | "inline"
    | "hermes"
    | "react"
    | "command"
    | "pythonic"
    | "select"
    | "lines";
  readonly mode: "run" | "watched" | "stream" | "leave" | "turns";
  readonly abort: {
    readonly at: "never" | "before" | "model" | "tool" | "policy" | "approve" | "time";
    readonly nth: number;
  };
  readonly journal: "none" | "memory" | "replay" | "broken";
  readonly clock: "still" | "jumps";
  readonly early: boolean;
  readonly endOn: readonly EndCause[];
  readonly compaction: boolean;
  readonly only?: readonly number[] | undefined;
  readonly words: boolean;
}

/** Every capability, by its number. */
const allPowers: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

const number = (max: number): fc.Arbitrary<number> => fc.nat(max);
const some = <Value>(value: fc.Arbitrary<Value>, maxLength: number): fc.Arbitrary<Value[]> =>
  fc.array(value, { maxLength });
const one = fc.constantFrom;
const often = <const Usual, Value>(
  usual: Usual,
  arbitrary: fc.Arbitrary<Value>,
  weight = 4,
): fc.Arbitrary<Usual | Value> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });

const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("text" as const),
      text: one(...injections, ...foreign, "fine", ""),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: one("value" as const, "resolve" as const),
      what: one(...Object.keys(oddValues)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: one("throw" as const, "reject" as const, "wrap" as const),
      what: one(...Object.keys(oddErrors)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("later" as const), ms: one(1, 50, 1e6), fails: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: one(
        "never" as const,
        "thenable" as const,
        "stray" as const,
        "mutate" as const,
        "block" as const,
        "echo" as const,
        "self" as const,
        "delegate" as const,
        "escape" as const,
        "trusted-label" as const,
        "odd-label" as const,
        "look-around" as const,
        "late-use" as const,
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leak" as const), by: one(...leaks) }) },
);

const toolSpec: fc.Arbitrary<ToolSpec> = fc.record({
  schema: one(...schemaNames),
  effect: one(
    "none" as const,
    "read" as const,
    "write" as const,
    "irreversible" as const,
    "undeclared" as const,
  ),
  behaviour,
  needs: often(allPowers, some(number(7), 3), 1),
  reaches: often<readonly number[], readonly number[]>([], some(number(11), 2), 1),
  trusted: often(undefined, fc.boolean(), 1),
  resolves: often(undefined, fc.boolean(), 2),
  secrecy: often(undefined, one("private" as const, { readers: ["ada@example.com"] }), 6),
  maxCalls: often(undefined, number(2), 8),
  timeoutMs: often(undefined, one(1, 40, 2 ** 31, Infinity), 4),
  isExclusive: often(undefined, fc.boolean(), 4),
  isTextOut: often(undefined, fc.boolean(), 6),
});

export const argumentsSpec: fc.Arbitrary<ArgumentsSpec> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("fit" as const),
      values: fc.array(number(7), { minLength: 2, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("json" as const), json: anyJson }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("raw" as const), text: one(...rawArguments) }) },
);

export const callSpec: fc.Arbitrary<CallSpec> = fc.record({
  tool: fc.oneof({ weight: 14, arbitrary: number(5) }, { weight: 1, arbitrary: one(...hostileNames) }),
  args: argumentsSpec,
  id: often("", one(...hostileIds), 2),
  form: often(
    "whole" as const,
    one("value" as const, "pieces" as const, "open" as const, "twice" as const, "early-end" as const),
  ),
});

const replySpec: fc.Arbitrary<ReplySpec> = fc.record({
  text: often("", one(...injections, "fine", "\ud83d", " ")),
  calls: fc.array(callSpec, { minLength: 1, maxLength: 4 }),
  finish: often(
    "tool-calls" as const,
    one("stop" as const, "length" as const, "content-filter" as const, "error" as const, "other" as const),
    6,
  ),
  usage: fc.tuple(number(tokenCounts.length - 1), number(tokenCounts.length - 1)),
  fault: often(
    "none" as const,
    one(
      "throw" as const,
      "throw-odd" as const,
      "no-end" as const,
      "hang" as const,
      "two-ends" as const,
      "unknown-delta" as const,
      "slow" as const,
      "many" as const,
    ),
    14,
  ),
  format: number(9),
});

/** Bounds that are none at all are refused when an agent is defined: that is tried too, but seldom. */
const bound = fc.oneof(
  { weight: 30, arbitrary: one(1, 2, 3, 8, 40, 1000, 2 ** 31, 1e300, Infinity, 0.5) },
  { weight: 1, arbitrary: one(0, -1, Number.NaN, -Infinity) },
);

const budget = fc.record(
  {
    turns: one(1, 2, 3, 8, 40),
    toolCalls: bound,
    durationMs: bound,
    tokens: bound,
    toolMs: bound,
    sameToolInARow: bound,
    repeats: bound,
    depth: bound,
    argumentBytes: bound,
    resultBytes: bound,
    costUsd: bound,
  },
  { requiredKeys: [] },
);

export const scene: fc.Arbitrary<Scene> = fc.record({
  tools: fc.array(toolSpec, { minLength: 1, maxLength: 6 }),
  names: fc.shuffledSubarray([...toolNames], { minLength: 6, maxLength: 6 }),
  skills: fc.array(often(63, fc.integer({ min: 1, max: 63 }), 1), { minLength: 1, maxLength: 3 }),
  skill: number(2),
  grants: often(allPowers, some(number(7), 5), 1),
  ceiling: often(undefined, some(number(7), 5), 5),
  policy: one(...policyNames),
  table: fc.array(number(60), { minLength: 1, maxLength: 5 }),
  approve: one(...approveNames),
  hook: one(...hookNames),
  budget: often({}, budget, 3),
  replies: fc.array(replySpec, { minLength: 2, maxLength: 4 }),
  driver: often(
    "native" as const,
    one(
      "auto" as const,
      "json" as const,
      "inline" as const,
      "hermes" as const,
      "react" as const,
      "command" as const,
      "pythonic" as const,
      "select" as const,
      "lines" as const,
    ),
    2,
  ),
  mode: one(
    "run" as const,
    "watched" as const,
    "watched" as const,
    "stream" as const,
    "leave" as const,
    "turns" as const,
  ),
  abort: often(
    { at: "never" as const, nth: 1 },
    fc.record({
      at: one(
        "before" as const,
        "model" as const,
        "tool" as const,
        "policy" as const,
        "approve" as const,
        "time" as const,
      ),
      nth: fc.integer({ min: 1, max: 3 }),
    }),
    5,
  ),
  journal: often("none" as const, one("memory" as const, "replay" as const, "broken" as const)),
  clock: often("still" as const, fc.constant("jumps" as const), 6),
  early: fc.boolean(),
  endOn: often<readonly EndCause[], readonly EndCause[]>([], fc.subarray([...endCauses]), 4),
  compaction: often(false, fc.constant(true), 5),
  only: often(undefined, some(number(5), 3), 9),
  words: often(false, fc.constant(true)),
});
