import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isCut } from "../bounded.ts";
import { type Conversation, conversationsIn } from "../conversations.ts";
import type { InspectedRun, PromptMessage } from "../view.ts";
import { countText, shownValue } from "./words.ts";

const roles = { system: "instructions", user: "user", model: "model", tool: "result" } as const;

/** The prompts of a run and of those inside it. */
export function PromptView({ view }: { readonly view: InspectedRun }): JSX.Element {
  const conversations = useMemo(() => conversationsIn(view).filter(({ turns }) => turns.length > 0), [view]);
  const [key, setKey] = useState("");
  const [first] = conversations;
  const conversation = conversations.find((each) => each.key === key) ?? first;
  if (conversation === undefined) return <p class="empty">No turn is recorded yet.</p>;
  return (
    <section class="prompt" aria-label="Prompts">
      {conversations.length > 1 && (
        <div class="tools">
          <label>
            Run{" "}
            <select value={conversation.key} onChange={({ currentTarget }) => setKey(currentTarget.value)}>
              {conversations.map((each) => (
                <option key={each.key} value={each.key}>
                  {"\u2003".repeat(each.depth)}
                  {each.agent}
                  {each.key === "" ? "" : `, inside ${placeText(each.key)}`}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <Prompts key={conversation.key} conversation={conversation} />
    </section>
  );
}

/** The place at which a run inside began: `turn 1, call 1`, or `step 2` of a composition. */
function placeText(key: string): string {
  const [, turn, call, step] =
    /(?:turn\/(\d+)\/call\/(\d+)|(?:^|\/)(\d+))\/[^/]+~[0-9a-z]+\/\d+$/.exec(key) ?? [];
  return turn === undefined ? `step ${Number(step) + 1}` : `turn ${turn}, call ${Number(call) + 1}`;
}

/** The most messages that are drawn at once, the last ones: a browser takes seconds for the thousands of a long run. */
const mostAtOnce = 200;

/** The prompt of each turn: the messages that the model was shown, with a mark on those that are new since the turn before. */
function Prompts({ conversation }: { readonly conversation: Conversation }): JSX.Element | null {
  const { turns } = conversation;
  const [chosen, setChosen] = useState(turns.length);
  const [onlyNew, setOnlyNew] = useState(false);
  const [most, setMost] = useState(mostAtOnce);
  const place = Math.min(Math.max(1, chosen), turns.length);
  const turn = turns[place - 1];
  if (turn === undefined) return null;
  const before = turns[place - 2]?.promptLength ?? 0;
  const messages = conversation.messages.slice(0, turn.promptLength);
  const from = onlyNew ? Math.min(before, messages.length) : 0;
  const first = Math.max(from, messages.length - most);
  const isPartly = messages.some(({ text }) => isCut(text));
  const characters = messages.reduce((sum, { text }) => sum + text.length, 0);
  return (
    <>
      <div class="tools">
        <label>
          Turn{" "}
          <select value={place} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
            {turns.map(({ number }, index) => (
              <option key={number} value={index + 1}>
                {number}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={onlyNew} onChange={() => setOnlyNew(!onlyNew)} /> only what is new
        </label>
        <span class="quiet">
          {countText(messages.length, "message")}, {isPartly && "more than "}
          {characters.toLocaleString("en")} characters
          {turn.model === undefined ? "" : `, ${turn.model.usage.inputTokens.toLocaleString("en")} tokens in`}
        </span>
      </div>
      {turn.dropped > 0 && (
        <p class="notice">
          {countText(turn.dropped, "old turn")} were taken out of this prompt by a compaction; they are shown
          here all the same.
        </p>
      )}
      {first > from && (
        <button type="button" class="earlier" onClick={() => setMost(most + mostAtOnce)}>
          Show {Math.min(mostAtOnce, first - from)} more of {countText(first - from, "earlier message")}
        </button>
      )}
      <ol class="messages" start={first + 1}>
        {messages.slice(first).map((message, index) => (
          <Message
            key={first + index}
            message={message}
            isNew={first + index >= before}
            share={isPartly ? 0 : message.text.length / Math.max(1, characters)}
          />
        ))}
      </ol>
      {turn.model !== undefined && turn.model.text !== "" && (
        <Message message={{ role: "model", text: turn.model.text }} isNew share={0} isReply />
      )}
      <p class="quiet">
        These are the messages of the transcript. A driver for text writes the tools and calls into them in
        its own form.
        {conversation.key !== "" && " The instructions of a run inside stand in no record."}
        {conversation.messages[0]?.role !== "user" &&
          conversation.key !== "" &&
          " Nor does what it was asked."}
      </p>
    </>
  );
}

interface MessageProps {
  readonly message: PromptMessage;
  readonly isNew: boolean;
  readonly share: number;
  readonly isReply?: boolean;
}

function Message({ message, isNew, share, isReply = false }: MessageProps): JSX.Element {
  const { role, text, name, status, label } = message;
  const Element = isReply ? "div" : "li";
  return (
    <Element class={`message message-${role}${isNew ? " new" : ""}`}>
      <header>
        <strong>{isReply ? "reply" : roles[role]}</strong>
        {name !== undefined && <code>{name}</code>}
        {status !== undefined && status !== "ok" && <span class="tag tag-refused">{status}</span>}
        {label?.integrity === "untrusted" && (
          <span class="tag tag-waiting">untrusted: {label.sources.join(", ")}</span>
        )}
        {isNew && !isReply && <span class="tag">+ new</span>}
        <span class="grow" />
        {share > 0 && <span class="quiet">{share < 0.005 ? "< 1" : Math.round(share * 100)} %</span>}
      </header>
      <pre tabIndex={0}>{shownValue(text)}</pre>
    </Element>
  );
}
