// Posts questions of runs as messages with two buttons, and takes the clicks, in Slack's wire format: chat.postMessage, interaction payloads, signed requests.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { isWritError } from "writ";
import type { DurableRuns, WaitingQuestion } from "writ/durable";

interface Slack {
  /** The address of Slack: `https://slack.com/api`. */
  readonly url: string;
  readonly token: string;
  readonly signingSecret: string;
  readonly channel: string;
}

/**
 * Posts the questions that were not posted yet. A second post after a restart does no harm: an answer counts once. It leaves out waits for a signal or a
 * time, and calls to settle: a person cannot answer them with yes or no.
 *
 * @throws AggregateError for questions that could not be posted; the next call posts them
 */
export async function post(runs: DurableRuns, slack: Slack, posted: Set<string>): Promise<void> {
  const failures: unknown[] = [];
  for (const question of await runs.waiting()) {
    const { waitsFor, unsettled } = question.request;
    const name = `${question.runId} ${question.key}`;
    if (waitsFor !== undefined || unsettled === true || posted.has(name)) continue;
    await postOne(question, slack).then(
      () => posted.add(name),
      (error: unknown) => failures.push(error),
    );
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.join("; "));
}

async function postOne(question: WaitingQuestion, { url, token, channel }: Slack): Promise<void> {
  const body = JSON.stringify({ channel, ...messageOf(question) });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${url}/chat.postMessage`, { method: "POST", headers, body });
  const { ok, error = response.status } = JSON.parse(await response.text()); // Slack sends status 200 also when it refuses
  if (ok !== true) throw new Error(`the question of ${question.runId} is not posted: ${error}`);
}

/** Makes the message of a question. It shows exactly the call to approve, and its buttons carry the hash of that call. */
function messageOf({ runId, key, request }: WaitingQuestion) {
  const text = `${request.tool} ${JSON.stringify(request.arguments)}: ${request.reason}`;
  const value = JSON.stringify({ runId, key, hash: request.hash });
  const button = (label: string, action: string) => ({
    type: "button",
    action_id: action,
    value,
    text: { type: "plain_text", text: label },
  });
  return {
    text,
    blocks: [
      ...pieces(text).map((piece) => ({ type: "section", text: { type: "plain_text", text: piece } })),
      { type: "actions", elements: [button("Approve", "approve"), button("Deny", "deny")] },
    ],
  };
}

/** Slack takes at most 3000 characters in a section. */
const pieces = (text: string): readonly string[] => text.match(/.{1,3000}/gsu) ?? [];

/** Answers the clicks. Mount it at the interactivity URL of your Slack app. */
export function clicks(runs: DurableRuns, { signingSecret }: Slack): Hono {
  const app = new Hono();
  app.post("/slack/clicks", async ({ req, text }) => {
    const body = await req.text();
    if (!isSigned(req.raw.headers, body, signingSecret)) return text("not signed", 401);
    const { user, actions, response_url } = JSON.parse(new URLSearchParams(body).get("payload") ?? "{}");
    const { runId, key, hash } = JSON.parse(actions[0].value);
    const approved = actions[0].action_id === "approve";
    const said = await runs.answer(runId, key, { approved, hash, by: user.id }).then(
      () => `${approved ? "Approved" : "Denied"} by <@${user.id}>.`,
      (error: unknown) => (isWritError(error) ? error.message : "It could not be answered: try again."),
    );
    const reply = JSON.stringify({ replace_original: true, text: said });
    await fetch(response_url, { method: "POST", body: reply }).catch(() => undefined); // the approval counts even if this fails
    return text("");
  });
  return app;
}

/** Tells whether a request comes from Slack and is at most five minutes old. */
function isSigned(headers: Headers, body: string, secret: string): boolean {
  const time = headers.get("x-slack-request-timestamp") ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const wanted = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`);
  const given = Buffer.from(headers.get("x-slack-signature") ?? "");
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
