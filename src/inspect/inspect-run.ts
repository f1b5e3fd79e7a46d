import type { AgentManifest, ToolManifest } from "../agent/describe/manifest-data.ts";
import type { StoredRun } from "../durable/run-store.ts";
import { callsOf, type ReplyMessage, textOf } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ModelRecord } from "../turn/ask-model.ts";
import { bounded } from "./bounded.ts";
import { criticalPath } from "./critical-path.ts";
import { budgetsOf } from "./inspect-budgets.ts";
import { inspectCall } from "./inspect-call.ts";
import type { KnownRun } from "./known-run.ts";
import { outcomeText, summaryOf } from "./list-run.ts";
import { firstMessages, messagesOf, remarkOf } from "./prompt.ts";
import { readFacts, type ReadFacts, type TurnFacts } from "./read-facts.ts";
import { type ReadRecords, readRecords } from "./read-records.ts";
import type { InspectedCall, InspectedRun, InspectedTurn, ModelSpan, PromptMessage } from "./view.ts";

/** What the turns are made of, while they are. */
interface Making {
  readonly known: KnownRun;
  readonly read: ReadRecords;
  readonly facts: ReadFacts | undefined;
  readonly tools: ReadonlyMap<string, ToolManifest>;
  readonly messages: PromptMessage[];
  dropped: number;
}

/** Makes the view of one run. */
export function inspectRun(known: KnownRun): InspectedRun {
  const { run, records, questions, manifest, instructions, places, notes = [], now } = known;
  const read = readRecords(records);
  const facts = known.facts === undefined ? undefined : readFacts(known.facts);
  const messages = firstMessages(run.input, instructions);
  const making: Making = { known, read, facts, tools: toolsOf(manifest), messages, dropped: 0 };
  const turns = turnNumbers(read, facts).map((number) => inspectTurn(number, making));
  const from = read.begunAt ?? run.begunAt;
  const usage = run.end?.usage ?? facts?.end?.usage;
  return {
    run: summaryOf(run, read, questions),
    input: run.input,
    ...(run.fork === undefined ? {} : { fork: run.fork }),
    source: facts === undefined ? "records" : "replay",
    notes: [...notes, ...gapsOf(turns, facts !== undefined)],
    from,
    to: Math.max(from, run.endedAt ?? (isOver(run) ? from : now), ...turns.flatMap(timesOf)),
    turns,
    messages,
    budgets: budgetsOf({ known, read, turns, from }),
    critical: criticalPath(turns),
    ...(manifest === undefined ? {} : { grants: manifest.grants }),
    ...(places === undefined ? {} : { places }),
    ...(run.end === undefined
      ? {}
      : { outcome: { type: run.end.outcome.type, text: bounded(outcomeText(run.end.outcome)) } }),
    ...(usage === undefined ? {} : { usage }),
    ...costOf(turns),
    remarks: remarksOf(facts),
  };
}

const isOver = ({ status }: StoredRun): boolean => status === "moved" || status === "ready";

function toolsOf(manifest: AgentManifest | undefined): ReadonlyMap<string, ToolManifest> {
  return new Map(Object.values(manifest?.skills ?? {}).flatMap(({ tools }) => Object.entries(tools)));
}

function turnNumbers(read: ReadRecords, facts: ReadFacts | undefined): readonly number[] {
  const numbers = new Set([...read.models.keys(), ...(facts?.turns.keys() ?? [])]);
  return [...numbers].filter((number) => number > 0).toSorted((one, other) => one - other);
}

function inspectTurn(number: number, making: Making): InspectedTurn {
  const { known, read, messages, tools } = making;
  const facts = making.facts?.turns.get(number);
  const asked = read.models.get(number) ?? [];
  const message = facts?.message?.message ?? asked.at(-1)?.message;
  const promptLength = messages.length;
  making.dropped += facts?.dropped ?? 0;
  const isPast = known.run.end !== undefined || Math.max(0, ...read.models.keys()) > number;
  const calls = (message === undefined ? [] : callsOf(message)).map((call, index) => {
    const place = `turn/${number}/approval/${index}`;
    return inspectCall({
      turn: number,
      index,
      call,
      records: read,
      facts: facts?.calls.get(call.id),
      question: known.questions.find(
        ({ key }) => key === place || key.startsWith(`turn/${number}/call/${index}/`),
      ),
      tool: tools.get(call.name),
      proposedAt: asked.at(-1)?.endedAt ?? known.run.begunAt,
      isPast,
      now: known.now,
    });
  });
  messages.push(...messagesOf(number, message, calls));
  const model = modelSpan({ number, asked, facts, message });
  return { number, promptLength, dropped: making.dropped, calls, ...(model === undefined ? {} : { model }) };
}

interface RepliedTurn {
  readonly number: number;
  readonly asked: readonly ModelRecord[];
  readonly facts: TurnFacts | undefined;
  readonly message: ReplyMessage | undefined;
}

function modelSpan({ number, asked, facts, message }: RepliedTurn): ModelSpan | undefined {
  const [first] = asked;
  const last = asked.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const { driver, finishReason, endedAt } = last;
  const { usage, costUsd }: { usage: Usage; costUsd?: number } = facts?.usage ?? last;
  return {
    key: `turn/${number}/model`,
    from: first.startedAt,
    to: endedAt,
    driver,
    finishReason,
    usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...wordsOf(message),
    repairs: facts?.message?.repairs ?? [],
    retries: facts?.retries.map(({ reason }) => reason) ?? [],
  };
}

/** What a model wrote beside its calls. */
function wordsOf(message: ReplyMessage | undefined): Pick<ModelSpan, "text" | "reasoning" | "raw"> {
  if (message === undefined) return { text: "" };
  const { parts, raw } = message;
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("\n");
  return {
    text: bounded(textOf(message)),
    ...(reasoning === "" ? {} : { reasoning: bounded(reasoning) }),
    ...(raw === undefined ? {} : { raw: bounded(raw) }),
  };
}

function timesOf({ model, calls }: InspectedTurn): readonly number[] {
  return [model?.to ?? 0, ...calls.flatMap(({ spans }) => spans.map(({ to }) => to))];
}

function costOf(turns: readonly InspectedTurn[]): { readonly costUsd?: number } {
  const costs = turns.flatMap(({ model }) => (model?.costUsd === undefined ? [] : [model.costUsd]));
  return costs.length === 0 ? {} : { costUsd: costs.reduce((sum, cost) => sum + cost, 0) };
}

const isUnexplained = ({ state, decision }: InspectedCall): boolean =>
  state === "refused" && decision === undefined;

/** What the records of a run do not say, where its program is not given. */
function gapsOf(turns: readonly InspectedTurn[], isReplayed: boolean): readonly string[] {
  if (isReplayed || !turns.some(({ calls }) => calls.some(isUnexplained))) return [];
  return [
    "Why a call did not run stands in no record, since an earlier version made them: name the agent's program, `writ inspect agent.ts`, and the run is replayed with it, which asks no model and calls no tool.",
  ];
}

function remarksOf(facts: ReadFacts | undefined): InspectedRun["remarks"] {
  return (facts?.others ?? []).flatMap((fact) => {
    const text = remarkOf(fact);
    return text === undefined ? [] : [{ turn: "turn" in fact ? fact.turn : 0, text }];
  });
}
