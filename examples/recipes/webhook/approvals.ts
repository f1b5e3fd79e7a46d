// Questions of runs as messages with two buttons, and the clicks on them, by the wire of Slack: chat.postMessage, interaction payloads, signed requests.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Hono } from "hono";
import { isWritError } from "writ";
import type { DurableRuns, WaitingQuestion } from "writ/durable";

interface Slack {
  /** `https://slack.com/api`. */
  readonly url: string;
  readonly token: string;
  readonly signingSecret: string;
  readonly channel: string;
}

/** Posts the questions that nobody was told of. One that is posted again after a restart does no harm: an answer counts once. */
export async function post(runs: DurableRuns, slack: Slack, posted: Set<string>): Promise<void> {
  for (const question of await runs.waiting()) {
    const name = `${question.runId} ${question.key}`;
    if (posted.has(name)) continue;
    posted.add(name);
    const body = JSON.stringify({ channel: slack.channel, ...messageOf(question) });
    const headers = { authorization: `Bearer ${slack.token}`, "content-type": "application/json" };
    const response = await fetch(`${slack.url}/chat.postMessage`, { method: "POST", headers, body });
    if (!response.ok) posted.delete(name); // told the next time
  }
}

/** The message shows exactly what is approved, and its buttons carry the hash of it. */
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
      { type: "section", text: { type: "plain_text", text } },
      { type: "actions", elements: [button("Approve", "approve"), button("Deny", "deny")] },
    ],
  };
}

/** Answers the clicks: mount it where the interactivity of your app points to. */
export function clicks(runs: DurableRuns, { signingSecret }: Slack): Hono {
  const app = new Hono();
  app.post("/slack/clicks", async ({ req, text }) => {
    const body = await req.text();
    if (!isSigned(req.raw.headers, body, signingSecret)) return text("not signed", 401);
    const { user, actions, response_url } = JSON.parse(new URLSearchParams(body).get("payload") ?? "{}");
    const { runId, key, hash } = JSON.parse(actions[0].value);
    const approved = actions[0].action_id === "approve";
    const said = await runs.answer(runId, key, { approved, hash, by: user.username }).then(
      () => `${approved ? "Approved" : "Denied"} by ${user.username}.`,
      (error: unknown) => (isWritError(error) ? error.message : "It could not be answered: try again."),
    );
    const reply = JSON.stringify({ replace_original: true, text: said });
    await fetch(response_url, { method: "POST", body: reply }).catch(() => undefined); // the answer stands without it
    return text("");
  });
  return app;
}

/** True for a request that comes from Slack and is at most five minutes old. */
function isSigned(headers: Headers, body: string, secret: string): boolean {
  const time = headers.get("x-slack-request-timestamp") ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const wanted = Buffer.from(`v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`);
  const given = Buffer.from(headers.get("x-slack-signature") ?? "");
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
