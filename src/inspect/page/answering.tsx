import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { WaitingQuestion } from "../../durable/run-store.ts";
import { parseCallJson } from "../../util/call-json.ts";
import { isJsonObject } from "../../util/json.ts";
import { troubleText } from "./api.ts";
import type { Acts, GivenAnswer } from "./acts.ts";
import { focusOn } from "./keys.ts";
import { askedText } from "./words.ts";
import { Trouble } from "./parts.tsx";

interface AnsweringProps {
  readonly question: Pick<WaitingQuestion, "runId" | "key" | "request" | "by">;
  readonly acts: Acts | undefined;
}

/** The arguments in the text, if they differ from the model's and can be read. */
function readEdited(
  text: string,
  before: string,
): { readonly error?: string; readonly value?: GivenAnswer["arguments"] } {
  if (text === before) return {};
  const parsed = parseCallJson(text);
  if (!parsed.ok) return { error: `That cannot be used: ${parsed.reason}` };
  return isJsonObject(parsed.value) ? { value: parsed.value } : { error: "The arguments are an object." };
}

/** The form in which a person answers a question. */
export function Answering({ question, acts }: AnsweringProps): JSX.Element {
  const { runId, key, request } = question;
  const before = askedText(request.arguments);
  const [text, setText] = useState(before);
  const [reason, setReason] = useState("");
  const [trouble, setTrouble] = useState("");
  const edited = readEdited(text, before);
  async function say(approved: boolean, span?: "run"): Promise<void> {
    setTrouble("");
    const given = {
      key,
      hash: request.hash,
      approved,
      ...(reason === "" ? {} : { reason }),
      ...(approved && edited.value !== undefined ? { arguments: edited.value } : {}),
      ...(span === undefined ? {} : { for: span }),
    };
    try {
      await acts?.answer(runId, given);
      focusOn(".drawer, .queue h1"); // the form disappears: keyboard users keep their place
    } catch (error) {
      setTrouble(troubleText(error));
    }
  }
  const cannot = acts?.cannot ?? aboutOther(request);
  if (acts === undefined || cannot !== undefined)
    return <p class="notice">{cannot ?? "This page cannot answer."}</p>;
  const lines = Math.min(12, text.split("\n").length + 1);
  return (
    <form
      class="answering"
      aria-label={`Answer about ${request.tool}`}
      onSubmit={(event) => event.preventDefault()}
    >
      <label>
        Arguments; what you change here runs in the place of the model's
        <textarea
          name="arguments"
          spellcheck={false}
          rows={lines}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <Trouble text={edited.error} />
      <label>
        Reason, told to the model where you refuse
        <input name="reason" value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          data-act="approve"
          disabled={edited.error !== undefined}
          onClick={() => void say(true)}
        >
          {edited.value === undefined ? "Approve once" : "Approve with my arguments"}
        </button>
        {edited.value === undefined && (
          <button type="button" onClick={() => void say(true, "run")}>
            Approve for this run
          </button>
        )}
        <button type="button" class="danger" data-act="refuse" onClick={() => void say(false)}>
          Refuse
        </button>
      </div>
      <Trouble text={trouble} />
    </form>
  );
}

/** The sentence about a question that no approval answers. */
function aboutOther({ waitsFor, unsettled }: WaitingQuestion["request"]): string | undefined {
  if (waitsFor === "time") return "Its tool sleeps; the time wakes it.";
  if (waitsFor !== undefined)
    return `Its tool waits for the signal “${waitsFor.signal}”: writ runs signal sends it.`;
  return unsettled === true
    ? "Its process died while it was at work: writ runs settle says what became of it."
    : undefined;
}
