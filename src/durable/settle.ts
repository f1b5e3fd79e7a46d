import { checkShape } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Settlement } from "../tool/after-crash.ts";
import { either, filled, json, oneOf, object, optional, shapeOf } from "../util/shape.ts";
import { notWaiting } from "./answer-record.ts";
import type { QuestionAnswer, RunStore, WaitingQuestion } from "./run-store.ts";

const shape = object({
  happened: either(
    shapeOf("true or false", (value) => typeof value === "boolean"),
    oneOf("unknown"),
  ),
  value: optional(json),
  by: optional(filled),
});

/** The answer that settles a call, and the key of its question. @throws WritError `definition-invalid`, `run-missing`, `run-moved`, `question-answered`, `call-not-unknown` */
export async function settlementOf(
  store: Pick<RunStore, "read" | "records" | "questions">,
  {
    id,
    call,
    settled: given,
  }: {
    readonly id: string;
    readonly call: string;
    readonly settled: Settlement & { readonly by?: string };
  },
): Promise<{ readonly key: string; readonly answer: QuestionAnswer }> {
  checkShape("The end of a call", given, shape);
  const { by, ...settled } = given;
  const question = (await store.questions(id)).find((each) => isAbout(each, call));
  if (question === undefined) throw await notUnknown(store, id, call);
  const { key, request } = question;
  const answer = { approved: false, hash: request.hash, settled };
  return { key, answer: by === undefined ? answer : { ...answer, by } };
}

function isAbout({ key, request }: WaitingQuestion, call: string): boolean {
  return request.unsettled === true && (key === call || key.startsWith(`${call}/settle/`));
}

async function notUnknown(
  store: Pick<RunStore, "read" | "records">,
  id: string,
  call: string,
): Promise<WritError> {
  const run = await store.read(id);
  if (run === undefined) return new WritError("run-missing", { id });
  if (run.status === "moved") return new WritError("run-moved", { id });
  const isSettlement = (key: string): boolean =>
    key.includes("/settle/") && (key === call || key.startsWith(`${call}/`));
  const before = (await store.records(id)).findLast(({ key }) => isSettlement(key));
  return before === undefined
    ? new WritError("call-not-unknown", { id, key: call })
    : notWaiting(id, before.key, before.json);
}
