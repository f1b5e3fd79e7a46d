import type { ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/server";
import type { QuestionAnswer, WaitingQuestion } from "../../durable/run-store.ts";
import type { ApprovalValue } from "../../policy/rules/approval-request.ts";
import { asObject } from "../../util/json.ts";
import { visible } from "../../util/visible.ts";
import type { Caller } from "../callers.ts";

/** A question as the form that the person at a client fills in. */
export function formOf({ request }: WaitingQuestion): ElicitRequestFormParams {
  const { tool, effect, reason, values, more = 0, links, unsettled } = request;
  const lines = [
    unsettled === true
      ? `Did the call of ${visible(tool)} happen? It was at work when its process ended.`
      : `${visible(tool)} (${effect}) needs your approval: ${visible(reason)}`,
    ...values.map(valueLine),
    ...(more === 0 ? [] : [`… and ${more} more values, which are not shown`]),
    ...links.map((link) => `a link that only a stranger named: ${visible(link)}`),
  ];
  return {
    mode: "form",
    message: lines.join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        approved: { type: "boolean", title: "Approve", description: "Exactly this call, once" },
        reason: { type: "string", title: "Reason", description: "Told to the model when the answer is no" },
      },
      required: ["approved"],
    },
  };
}

const longest = 4000;

function valueLine({ path, value }: ApprovalValue): string {
  const text = visible(JSON.stringify(value));
  const shown =
    text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} characters more)`;
  return `${visible(path)}: ${shown}`;
}

/** The answer in a form that was filled in. Anything but a clear yes is a no. */
export function answerIn(given: unknown, { request: { hash } }: WaitingQuestion, by: string): QuestionAnswer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field is looked at
  const { action, content } = asObject(given) as Partial<ElicitResult>;
  const approved = action === "accept" && content?.["approved"] === true;
  const reason = content?.["reason"];
  const said = typeof reason === "string" && reason !== "" ? reason.slice(0, 2000) : "the person said no";
  return { hash, approved, by, ...(approved ? {} : { reason: said }) };
}

/** The name of a question in a form; a question about another call has another name. */
export const formName = ({ key, request: { hash } }: WaitingQuestion): string => `${key} ${hash}`;

/** True of a question to a person, false of a wait for a time or a signal. */
export const isForPeople = ({ request }: WaitingQuestion): boolean => request.waitsFor === undefined;

/** True if the caller may answer, as far as the question names who may. A form cannot settle whether a call happened. */
export const mayAnswer = (question: WaitingQuestion, { name }: Caller): boolean =>
  isForPeople(question) &&
  question.request.unsettled !== true &&
  (question.by === undefined || question.by.includes(name));
