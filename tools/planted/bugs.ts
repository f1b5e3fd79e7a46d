/** A fault of a runtime, as a patch of a copy of src. */
export interface PlantedBug {
  readonly name: string;
  /** Where it was found: in a review of this project, or in an issue of another one. */
  readonly from: string;
  readonly edits: readonly Edit[];
}

/** A text that occurs once in a file, and its replacement in the copy. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

const bug = (
  name: string,
  from: string,
  ...edits: readonly (readonly [string, string, string])[]
): PlantedBug => ({
  name,
  from,
  edits: edits.map(([file, find, put]) => ({ file: `src/${file}`, find, put })),
});

/** Faults that runtimes had, each planted alone. */
export const bugs: readonly PlantedBug[] = [
  bug(
    "an irreversible call runs again after a crash",
    "durable.md: 49 of 330 kills; peers §0: Mastra paid twice",
    [
      "call/step.ts",
      "if (mayRunAgain(tool) || isOver) return step",
      "if (tool.name !== undefined) return step",
    ],
  ),
  bug("nothing is written down before an effect begins", "durable.md G2", [
    "journal/recorded-journal.ts",
    "if (lost !== undefined) await keepRecord",
    "if (lost === null) await keepRecord",
  ]),
  bug("a lost call with a look-up runs without looking", "peers §1 item 4: no reconcile", [
    "call/lost.ts",
    'if (typeof reconcile !== "function") return settleGiven(given, { result });',
    'if (typeof reconcile === "function") return runCall(ready, halt);\n  if (typeof reconcile !== "function") return settleGiven(given, { result });',
  ]),
  bug("what a look-up did not find is taken for done", "peers §1 item 4", [
    "call/lost.ts",
    "if (!known.happened) return tool.execute(args, context);",
    'if (!known.happened) throw new EndKnown({ status: "ok", text: "done" });',
  ]),
  bug(
    "a lost call is told as one that did not run",
    "durable.md G3: a stop tells 'cancelled' of a mail that went out",
    ["call/lost.ts", 'return { status: "unknown", text };', 'return { status: "skipped", text };'],
  ),
  bug("a process that was taken for dead still writes", "durable.md §4: 7 of 50 partitions", [
    "durable/memory-run.ts",
    'if (this.epoch !== epoch) throw new WritError("run-taken", { id: this.id });',
    "",
  ]),
  bug("a double click is taken twice", "peers §0: four of four peers pay twice", [
    "durable/memory-run.ts",
    "    this.questions.delete(key);\n    this.isWoken = true;",
    "    this.isWoken = true;",
  ]),
  bug("an answer counts for a question whose arguments are others", "peers §0: AI SDK runs with 999", [
    "durable/answer-record.ts",
    'if (hash !== request.hash) throw new WritError("question-changed", { id, key, tool });',
    "",
  ]),
  bug(
    "one yes holds for all later calls like it",
    "microsoft/agent-framework#6851: an approved call runs again",
    [
      "call/ask.ts",
      'return answer.for === "run" ? { ...fate, approvedAs: approvedAs(fate, hash, answer.free) } : fate;',
      "return { ...fate, approvedAs: approvedAs(fate, hash, answer.free) };",
    ],
  ),
  bug("a no lets the call run", "peers §3: rejected calls run", [
    "call/ask.ts",
    "if (!answer.approved) {",
    "if (answer.approved === undefined) {",
  ]),
  bug(
    "a call that was refused takes its siblings with it",
    "langchainjs#11437, langchain#40491: the approved ones never run",
    [
      "call/batch.ts",
      'else if (result.status === "denied" && run.endOn.includes("blocked-call"))',
      'else if (result.status === "denied")',
    ],
  ),
  bug("a question that nobody answers becomes a yes", "durable.md S1e", [
    "run/approval.ts",
    "const answer = { approved: false,",
    "const answer = { approved: true,",
  ]),
  bug("what the policy asks about runs without asking", "peers §0: filters that do not hold", [
    "call/judge.ts",
    'fate.decision.verdict !== "ask" && !isAnswered',
    'fate.decision.verdict !== "deny" && !isAnswered',
  ]),
  bug("what the policy denies runs", "peers §0: LangChain runs a hidden tool", [
    "call/judge.ts",
    'if (verdict === "deny" || unseen !== undefined)',
    "if (unseen !== undefined)",
  ]),
  bug(
    "a call starts before the policy is asked, while the model writes",
    "peers §0: Mastra starts eagerly",
    ["turn/early.ts", 'fate.decision.verdict !== "allow" || !mayOverlap', "!mayOverlap"],
    [
      "call/judge.ts",
      'verdict === "deny" || unseen !== undefined',
      '(verdict === "deny" && at.batch.calls.length > 0) || unseen !== undefined',
    ],
  ),
  bug("a skill calls the tools of other skills", "claude-code#37683: a list that is only printed", [
    "agent/plan-skill.ts",
    "const allowed = allowList(skill.name, [...own, ...auto, ...memory]);",
    'const allowed = allowList(skill.name, [...new Set([...own, ...auto, ...memory, ...(definition.skills ?? []).flatMap((each) => (each.type === "agentic" ? flattenTools(each.tools as never) : []))])]);',
  ]),
  bug("arguments that do not fit run as they are", "vercel/ai#13048, openclaw#116831: arguments become {}", [
    "call/judge.ts",
    "  if (parsed.ok) return weighed(parsed, { at, tool });",
    "  return weighed(parsed.ok ? parsed : { value: call.arguments }, { at, tool });",
  ]),
  bug("edited arguments are forgotten", "peers §0: AI SDK", [
    "call/ask.ts",
    'if (answer.edited !== undefined) return { type: "edited", call: withArguments(call, answer.edited) };',
    "",
  ]),
  bug(
    "a late result is taken for one in time",
    "peers §0: AI SDK 1,562 ms of 200, Strands, Mastra",
    ["call/call-time.ts", '() => end("timeout")', "() => undefined"],
    [
      "call/run.ts",
      'return ended === "timeout" || work.time?.isOver === true ? late(work) : ended;',
      "return ended as Settled;",
    ],
  ),
  bug(
    "a write that ran out of its time is told to have done nothing",
    "peers §1 item 4: Think forgets on a time-out",
    [
      "call/refused.ts",
      'if (tool.effect !== "write" && tool.effect !== "irreversible" && !changed) return result;',
      "if (tool.effect !== undefined) return result;",
    ],
  ),
  bug("calls that were cancelled have no result", "peers §0: OpenAI drops the waiting call", [
    "message/transcript.ts",
    "return ready(append(tipOf(transcript), messages));",
    'return ready(append(tipOf(transcript), messages.filter((each) => each.role !== "tool" || each.status !== "cancelled")));',
  ]),
  bug("a turn more than the budget", "vercel/ai#17606", [
    "policy/account/budget.ts",
    "if (ledger.turns + 1 > limits.turns) {",
    "if (ledger.turns > limits.turns) {",
  ]),
  bug("agents inside overshoot the budget of calls", "peers §1 item 7: cancelled children escape", [
    "call/batch.ts",
    "const outerExcess = outer === undefined || wanted.hasBegun ? undefined : boundOf(wanted, batch, outer);",
    "const outerExcess = undefined as ReturnType<typeof boundOf>;",
  ]),
  bug("tokens are counted and not held to", "peers §1 item 7: the crossing call finishes", [
    "policy/account/budget.ts",
    "if (ledger.tokens >= limits.tokens) {",
    "if (ledger.tokens >= limits.tokens * 4) {",
  ]),
  bug("the label is lost in a summary", "opencode#16960, claude-code#24792", [
    "session/compaction.ts",
    "summaryMessage(summary, labelOfAll(gone))",
    "summaryMessage(summary)",
  ]),
  bug("what a tool brought does not lower the label of what comes after", "openclaw#39160", [
    "policy/knowledge/learned.ts",
    "return joined === learned.label ? learned : { ...learned, label: joined };",
    "return learned;",
  ]),
  bug("a session forgets what was said", "peers: sessions that forget (mastra#24561)", [
    "session/session.ts",
    "await appendLast(store, id, { kept, version });",
    "if (kept.messages.length > 2) await appendLast(store, id, { kept, version });",
  ]),
  bug("runs of one session do not wait for each other", "durable.md S5; peers §0: two runs of a session", [
    "session/one-at-a-time.ts",
    "if (line.length === 1) begin();\n  else visit.waits?.();",
    "begin();",
  ]),
  bug("a run that was stopped goes on with its calls", "durable.md S2: a cancelled run sends the mail", [
    "call/run.ts",
    "if (at.batch.run.stop.reason !== undefined) return { result: cancelledResult(ready.tool.name) };",
    "",
  ]),
  bug("a run that was cancelled ends otherwise", "durable.md p1", [
    "durable/memory-run.ts",
    "    if (this.run.end !== undefined) return;\n    this.run = { ...this.run, endedAt",
    "    this.run = { ...this.run, endedAt",
  ]),
  bug(
    "a question inside an agent becomes its failure",
    "durable.md G1: an approval inside a child is never used",
    ["run/scope.ts", "    if (this.waiting !== undefined) throw this.waiting.leaving(inside);\n", ""],
  ),
  bug("two runs inside a call share their places in the journal", "durable.md G4", [
    "run/scope.ts",
    "const place = `${this.place.key}/${what}/${count}`;",
    "const place = `${what}/${count}`;",
  ]),
  bug("ends are told in the order in which they came", "durable.md §4: call order that differs at a replay", [
    "call/running.ts",
    "    this.tellEnds();\n    if (isNew",
    "    if (isNew) tellEnd(this.batch, this.fates[index] as Fate, record);\n    this.told = this.records.length;\n    if (isNew",
  ]),
  bug("a hung tool holds the run up for ever", "peers §0: deaf tools", [
    "run/frame.ts",
    "if (limit !== Infinity) this.stopTimer",
    "if (limit < 0) this.stopTimer",
  ]),
];
