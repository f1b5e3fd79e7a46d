import type { QuestionAnswer, WaitingQuestion } from "../durable/run-store.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Settlement } from "../tool/after-crash.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { answerOnce, type PageQuestion, questionId, questionOf, settleOnce } from "./page-questions.ts";
import { reader } from "./reader.ts";
import type { Asked } from "./route.ts";
import { object } from "./schemas.ts";

/** The answer of a client to an interrupt (`ResumeEntry` of `@ag-ui/core`). */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: Json;
}

/**
 * The interrupt of a question. `reason` says what it is about: `tool_call` is an approval, `unsettled` a call of which it is unknown whether it happened.
 * For `signal` and `time` the run goes on by itself, and an answer only follows it again.
 */
export function interruptOf(
  question: WaitingQuestion,
  after: number,
  toolCallId: string | undefined,
): JsonObject {
  const { until, request } = question;
  const { tool, arguments: args, rule, reason: message, effect, path, links, inputSchema } = request;
  const reason = reasonOf(question);
  const schema = schemas[reason];
  return {
    id: questionId(question, after),
    reason,
    message: message === "" ? `May ${tool} be called?` : message,
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(schema === undefined ? {} : { responseSchema: schema }),
    ...(until === undefined ? {} : { expiresAt: new Date(until).toISOString() }),
    metadata: {
      tool,
      arguments: args,
      rule,
      effect,
      path: [...path],
      links: [...links],
      ...(inputSchema === undefined ? {} : { inputSchema }),
    },
  };
}

type InterruptReason = "tool_call" | "unsettled" | "signal" | "time";

function reasonOf({ request: { waitsFor, unsettled } }: WaitingQuestion): InterruptReason {
  if (waitsFor !== undefined) return waitsFor === "time" ? "time" : "signal";
  return unsettled === true ? "unsettled" : "tool_call";
}

const approval = object(
  {
    approved: { type: "boolean" },
    arguments: { type: "object", description: "In the place of the model's" },
    reason: { type: "string", description: "Told to the model where the answer is no" },
  },
  ["approved"],
);
const settlement = object(
  {
    happened: { enum: [true, false, "unknown"] },
    value: { description: "What it gave, where it happened" },
  },
  ["happened"],
);
const schemas: { readonly [Reason in InterruptReason]?: JsonSchema } = {
  tool_call: approval,
  unsettled: settlement,
};
const readApproval = reader(approval, "the payload of an interrupt");
const readSettlement = reader(settlement, "the payload of an interrupt");

/** A client's answer to the question whether a call may run, or whether it happened. */
type ClientDecision =
  | { readonly approval: Omit<QuestionAnswer, "hash"> }
  | { readonly settlement: Settlement };

/** Reads the answer to an interrupt. A cancelled one means no; for a call that may have happened it means `unknown`. @throws WritError `request-invalid` */
async function decisionOf({ status, payload }: ResumeEntry, isUnsettled: boolean): Promise<ClientDecision> {
  if (status === "cancelled")
    return isUnsettled
      ? { settlement: { happened: "unknown" } }
      : { approval: { approved: false, reason: "the user cancelled it" } };
  const given: unknown = await (isUnsettled ? readSettlement : readApproval)(payload);
  // oxlint-disable typescript/no-unsafe-type-assertion -- it fits the schema
  return isUnsettled
    ? { settlement: given as Settlement }
    : { approval: given as Omit<QuestionAnswer, "hash"> };
  // oxlint-enable typescript/no-unsafe-type-assertion
}

/** The conversation that answers come from. */
export interface Answering {
  /** True if a run belongs to the conversation: questions of other runs are not answered. */
  readonly isOwn: (run: string) => boolean;
  /** Called for a value that is not an answer. */
  readonly refuse: (reason: string) => never;
}

/**
 * Takes the answers of a client, all of one run, in the name of the caller, and returns the first question. A question that is no longer asked keeps its
 * answer, and a client cannot answer a wait for a signal or a time.
 */
export async function takeAnswers(
  asked: Asked,
  entries: readonly ResumeEntry[],
  { isOwn, refuse }: Answering,
): Promise<PageQuestion> {
  const questions = entries.map(
    ({ interruptId }) => questionOf(interruptId) ?? refuse("an interrupt has an id that was not made here"),
  );
  const [first] = questions;
  if (first === undefined || questions.some(({ run }) => run !== first.run))
    return refuse("the interrupts are of several runs");
  if (new Set(questions.map(({ key }) => key)).size < questions.length)
    return refuse("an interrupt is answered twice");
  if (!isOwn(first.run)) return refuse("the interrupts are not of this conversation");
  const waiting = await asked.runs.waiting(first.run);
  const decided: { question: PageQuestion; decision: ClientDecision }[] = [];
  for (const [place, entry] of entries.entries()) {
    const question = questions[place] ?? first;
    const open = waiting.find(({ key }) => key === question.key);
    if (open === undefined || open.request.waitsFor !== undefined) continue;
    decided.push({ question, decision: await decisionOf(entry, open.request.unsettled === true) });
  }
  for (const { question, decision } of decided)
    if ("approval" in decision)
      await answerOnce(asked, question, { ...decision.approval, hash: question.hash });
    else await settleOnce(asked, question, decision.settlement);
  return first;
}

/** The first question of answers that were all taken before: a client that got no response sends them again. Undefined if any was not taken. */
export async function takenBefore(
  { served }: Asked,
  run: string,
  entries: readonly ResumeEntry[],
): Promise<PageQuestion | undefined> {
  const records = await served.store.records(run);
  const taken = entries.flatMap(({ interruptId }) => {
    const question = questionOf(interruptId);
    const json = records.find(({ key }) => question?.run === run && key === question.key)?.json;
    return question !== undefined && hashIn(json) === question.hash ? [question] : [];
  });
  return taken.length === entries.length ? taken[0] : undefined;
}

/** The hash of the question that a record answers. */
function hashIn(json: string | undefined): unknown {
  const answer: unknown = json === undefined ? undefined : JSON.parse(json);
  return isJsonObject(answer) ? answer["hash"] : undefined;
}
