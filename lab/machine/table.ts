/**
 * The machine of a run in one table: what may happen to its calls, by whom, when, and what it changes. Guards and changes are written in the syntax
 * that C, Promela and TypeScript share, so that spin (promela.ts) checks the same text that real runs are checked against (twin.ts).
 */

/** The size of the model: spin goes through all that can happen within these bounds. */
export interface Bounds {
  readonly calls: number;
  readonly owners: number;
  /** Processes that may die, or hand their runs over. */
  readonly crashes: number;
  /** Claims that may be taken from an owner that lives and stands still. */
  readonly thefts: number;
}

/** A variable: one value, or one a call, an owner, or an owner and call. */
export type Extent = "one" | "call" | "owner" | "owner-call";

export interface Variable {
  readonly of: Extent;
  readonly first: number;
  readonly says: string;
}

/** The state of a call in the memory of an owner. */
export const phases = { idle: 0, proposed: 1, asked: 2, ready: 3, begun: 4, done: 5, ended: 6 } as const;

/** The policy's verdict on a call, whoever asks. */
export const verdicts = { allow: 0, ask: 1, deny: 2 } as const;

/** How often a call may happen: again, once, or once where its tool can say later whether it did. */
export const often = { again: 0, once: 1, lookedUp: 2 } as const;

/** The answers of a person; 0 stands for none. */
export const answers = { yes: 1, no: 2 } as const;

export const variables: Readonly<Record<string, Variable>> = {
  verdict: { of: "call", first: 0, says: "what the policy says of the call: chosen once, by the world" },
  once: {
    of: "call",
    first: 0,
    says: "1: the call may not happen twice (`retry: never`); 2: and its tool, or a person, can say whether it did: chosen once, by the world",
  },
  chosen: { of: "call", first: 0, says: "the world has chosen" },
  claim: { of: "one", first: 0, says: "the owner of the run, from 1; 0 is nobody" },
  phase: { of: "owner-call", first: phases.idle, says: "where an owner is with a call" },
  asked: { of: "call", first: 0, says: "in the journal: the question stands" },
  answer: { of: "call", first: 0, says: "in the journal: the person's answer" },
  began: { of: "call", first: 0, says: "in the journal: the call began" },
  results: { of: "call", first: 0, says: "in the journal: results of the call; there must be one" },
  ended: { of: "one", first: 0, says: "in the journal: the run has ended" },
  heard: {
    of: "owner",
    first: 0,
    says: "an owner has heard that the run was stopped, or has stopped it itself",
  },
  stopped: { of: "one", first: 0, says: "somebody stopped the run" },
  effects: { of: "call", first: 0, says: "in the world: how often it happened; twice stands for more" },
  accepted: { of: "call", first: 0, says: "answers that were accepted" },
  used: { of: "call", first: 0, says: "how often an approval let a call begin that may not happen twice" },
  crashes: { of: "one", first: 0, says: "processes that died, or handed the run over" },
  thefts: { of: "one", first: 0, says: "claims that the living lost" },
};

/** The actor of a step: `c` is a call, `o` an owner, from 0. */
export type Actor = "world" | "owner" | "owner-call" | "person";

export interface Transition {
  readonly name: string;
  readonly by: Actor;
  readonly when: readonly string[];
  /** Assignments, made together. `$AT` is the phase of the owner for the call. */
  readonly does: readonly string[];
  readonly says: string;
}

const holds = "claim == o + 1";
const open = "ended == 0";
const at = (phase: keyof typeof phases): string => `$AT == ${phases[phase]}`;
const to = (phase: keyof typeof phases): string => `$AT = ${phases[phase]}`;
const isOnce = `once[c] != ${often.again}`;
const hasNotBegun = [
  holds,
  open,
  "results[c] == 0",
  `$AT >= ${phases.proposed}`,
  `$AT <= ${phases.ready}`,
  "began[c] == 0",
];

export const transitions: readonly Transition[] = [
  {
    name: "choose",
    by: "world",
    when: ["chosen[c] == 0"],
    does: ["verdict[c] = $0", "once[c] = $1", "chosen[c] = 1"],
    says: "a model writes a call of some tool; the policy has its verdict, the tool says whether it may happen twice",
  },
  {
    name: "take",
    by: "owner",
    when: ["claim == 0", open, "EVERY(chosen[c] == 1)"],
    does: ["claim = o + 1", "heard[o] = 0", "ALL($AT = 0)"],
    says: "a process takes a run that nobody has, and knows of it what the journal says",
  },
  {
    name: "expire",
    by: "world",
    when: ["claim != 0", "thefts < THEFTS", open],
    does: ["claim = 0", "thefts = thefts + 1"],
    says: "the owner stands still for so long that it is taken for dead: it knows nothing of that, and goes on",
  },
  {
    name: "propose",
    by: "owner-call",
    when: [
      "EVERY(chosen[c] == 1)",
      at("idle"),
      "claim != o + 1 || results[c] == 0",
      "claim != o + 1 || began[c] == 0",
    ],
    does: [to("proposed")],
    says: "the owner comes to a call of which the journal has neither a beginning nor a result; one that has lost its claim knows of neither",
  },
  {
    name: "allow",
    by: "owner-call",
    when: [at("proposed"), `verdict[c] == ${verdicts.allow}`],
    does: [to("ready")],
    says: "the policy allows it",
  },
  {
    name: "deny",
    by: "owner-call",
    when: [at("proposed"), `verdict[c] == ${verdicts.deny}`, holds, open, "results[c] == 0"],
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "the policy denies it: its result says so",
  },
  {
    name: "ask",
    by: "owner-call",
    when: [at("proposed"), `verdict[c] == ${verdicts.ask}`],
    does: [to("asked"), "asked[c] = asked[c] + (1 - asked[c]) * (claim == o + 1 && ended == 0)"],
    says: "a person is asked; the question stands in the journal, whoever asked it before: it takes none of an owner that has lost its claim",
  },
  {
    name: "approve",
    by: "person",
    when: ["asked[c] == 1", "answer[c] == 0", open],
    does: [`answer[c] = ${answers.yes}`, "accepted[c] = accepted[c] + 1"],
    says: "a person says yes; a second answer is refused",
  },
  {
    name: "refuse",
    by: "person",
    when: ["asked[c] == 1", "answer[c] == 0", open],
    does: [`answer[c] = ${answers.no}`, "accepted[c] = accepted[c] + 1"],
    says: "a person says no",
  },
  {
    name: "hear-yes",
    by: "owner-call",
    when: [at("asked"), `answer[c] == ${answers.yes}`],
    does: [to("ready")],
    says: "the owner finds the yes",
  },
  {
    name: "hear-no",
    by: "owner-call",
    when: [at("asked"), `answer[c] == ${answers.no}`, holds, open, "results[c] == 0"],
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "the owner finds the no: the result says so",
  },
  {
    name: "begin-once",
    by: "owner-call",
    when: [at("ready"), isOnce, holds, open, "stopped == 0", "began[c] == 0", "results[c] == 0"],
    does: [to("begun"), "began[c] = 1", `used[c] = used[c] + (answer[c] == ${answers.yes})`],
    says: "a call that may not happen twice begins: first in the journal",
  },
  {
    name: "begin",
    by: "owner-call",
    when: [at("ready"), `once[c] == ${often.again}`, "heard[o] == 0"],
    does: [to("begun")],
    says: "a call that may happen again begins, unless its owner has heard that the run was stopped",
  },
  {
    name: "happen",
    by: "owner-call",
    when: [at("begun")],
    does: [to("done"), "effects[c] = effects[c] + (effects[c] < 2)"],
    says: "the tool does what it does",
  },
  {
    name: "miss",
    by: "owner-call",
    when: [at("begun")],
    does: [to("done")],
    says: "the tool fails before it has done anything, or its time is over",
  },
  {
    name: "record",
    by: "owner-call",
    when: [at("done"), holds, "results[c] == 0"],
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "its result is recorded",
  },
  {
    name: "lost",
    by: "owner-call",
    when: [at("idle"), holds, "began[c] == 1", "results[c] == 0"],
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "an earlier owner began it, and nobody knows what became of it: the result is `unknown`, or what was looked up",
  },
  {
    name: "look-up",
    by: "owner-call",
    when: [
      at("idle"),
      holds,
      "began[c] == 1",
      "results[c] == 0",
      `once[c] == ${often.lookedUp}`,
      "effects[c] == 0",
    ],
    does: [to("begun")],
    says: "an earlier owner began it, and the tool or a person says that it did not happen: it runs now",
  },
  {
    name: "stop",
    by: "world",
    when: ["stopped == 0", open, "EVERY(chosen[c] == 1)"],
    does: ["stopped = 1"],
    says: "somebody stops the run",
  },
  {
    name: "hear-stop",
    by: "owner",
    when: ["stopped == 1", "heard[o] == 0", holds],
    does: ["heard[o] = 1"],
    says: "the owner hears of it",
  },
  {
    name: "stop-itself",
    by: "owner",
    when: ["heard[o] == 0", holds, open],
    does: ["heard[o] = 1"],
    says: "the owner stops the run itself: its time is over, or something that it waited for has failed",
  },
  {
    name: "skip",
    by: "owner-call",
    when: hasNotBegun,
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "it ends before it began: its arguments do not fit, nobody knows its tool, or an earlier call ended its batch",
  },
  {
    name: "cancel",
    by: "owner-call",
    when: ["heard[o] == 1 || stopped == 1", ...hasNotBegun],
    does: [to("ended"), "results[c] = results[c] + 1"],
    says: "a call that has not begun when the run is stopped ends as cancelled",
  },
  {
    name: "finish",
    by: "owner",
    when: [holds, open, "EVERY(results[c] == 1)"],
    does: ["ended = 1", "claim = 0"],
    says: "the run ends when each call has its result",
  },
  {
    name: "leave",
    by: "owner",
    when: [
      holds,
      open,
      `EVERY(once[c] == ${often.again} || $AT == 0 || $AT == 2 || $AT == 6)`,
      "SOME($AT == 2)",
    ],
    does: ["claim = 0", "ALL($AT = 0)"],
    says: "all that is left waits for a person, or may be looked at again: the run holds no process",
  },
  {
    name: "hand-over",
    by: "owner",
    when: [
      holds,
      open,
      "crashes < CRASHES",
      `EVERY(once[c] == ${often.again} || ($AT != ${phases.begun} && $AT != ${phases.done}))`,
    ],
    does: ["crashes = crashes + 1", "claim = 0", "ALL($AT = 0)"],
    says: "the owner gives the run to another process, once nothing that it began and may not happen twice is at work",
  },
  {
    name: "crash",
    by: "owner",
    when: ["crashes < CRASHES"],
    does: ["crashes = crashes + 1", "ALL($AT = 0)", "claim = claim * (claim != o + 1)"],
    says: "the process dies, and with it all that it knew",
  },
];

/** What must hold in every state. */
export const invariants: readonly { readonly name: string; readonly holds: string; readonly says: string }[] =
  [
    {
      name: "one-result",
      holds: "results[c] <= 1 && (ended == 0 || results[c] == 1)",
      says: "no call has two results, and a run that has ended has one for each",
    },
    {
      name: "judge-and-person",
      holds: `effects[c] == 0 || verdict[c] == ${verdicts.allow} || (verdict[c] == ${verdicts.ask} && answer[c] == ${answers.yes})`,
      says: "nothing happens past the policy and the person",
    },
    {
      name: "began-first",
      holds: `once[c] == ${often.again} || effects[c] <= began[c] || (once[c] == ${often.lookedUp} && thefts > 0 && began[c] == 1)`,
      says: "what may not happen twice stands in the journal before it happens, and happens once at most; where it is looked up, and an owner that lives was taken for dead, that may have done it after the look",
    },
    {
      name: "single-use",
      holds: "accepted[c] <= 1 && used[c] <= 1",
      says: "one answer to a question is accepted, and lets one call begin",
    },
  ];
