import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Json } from "../../util/json.ts";
import type { InspectedCall, InspectedRun, PlayableTool, PlayedCall } from "../view.ts";
import { type Api, troubleText } from "./api.ts";
import { CallDrawer } from "./call-drawer.tsx";
import { Trouble } from "./parts.tsx";
import { argumentsOf, type FieldTexts, SchemaFields } from "./schema-form.tsx";
import { shownValue } from "./words.ts";

interface PlayCallProps {
  readonly api: Api;
  readonly agent: string;
}

/** The form with its current values. */
interface Filled {
  readonly name: string;
  readonly texts: FieldTexts;
  /** The arguments as JSON, if they are written so. */
  readonly raw?: string | undefined;
  readonly asked: string;
  readonly stranger: string;
}

interface Seen {
  readonly view: InspectedRun;
  readonly mode: PlayedCall["mode"];
}

/** One call that is tried on an agent: whether it would be allowed, and the result of its tool. */
export function PlayCall({ api, agent }: PlayCallProps): JSX.Element {
  const [tools, setTools] = useState<readonly PlayableTool[]>([]);
  const [filled, setFilled] = useState<Filled>({ name: "", texts: {}, asked: "", stranger: "" });
  const [seen, setSeen] = useState<Seen>();
  const [trouble, setTrouble] = useState("");
  useEffect(
    () => void api.playable(agent).then(setTools, (error: unknown) => setTrouble(troubleText(error))),
    [agent],
  );
  const tool = tools.find(({ name }) => name === filled.name) ?? tools[0];
  async function play(mode: PlayedCall["mode"]): Promise<void> {
    setTrouble("");
    try {
      const { asked, stranger } = filled;
      const about = { tool: tool?.name ?? "", arguments: givenIn(filled, tool), asked, mode };
      setSeen({ view: await api.play(agent, { ...about, ...(stranger === "" ? {} : { stranger }) }), mode });
    } catch (error) {
      setTrouble(troubleText(error));
    }
  }
  const call = seen?.view.turns[0]?.calls[0];
  return (
    <div class={`run-page${call === undefined ? "" : " with-drawer"}`}>
      <form class="run-main play-form" aria-label="Try a call" onSubmit={(event) => event.preventDefault()}>
        <CallFields {...{ tools, tool, filled, setFilled }} />
        <OriginFields {...{ filled, setFilled }} />
        <Buttons play={play} />
        <Trouble text={trouble} />
        {seen !== undefined && call !== undefined && (
          <p class={`verdict-line why-${call.state}`} role="status">
            {verdictLine(call, seen.mode)}
          </p>
        )}
      </form>
      {seen !== undefined && call !== undefined && (
        <CallDrawer
          view={seen.view}
          call={call}
          acts={{ ...noActs, cannot: "In a run a person is asked here. “Run it, and say yes” does both." }}
          onClose={() => setSeen(undefined)}
        />
      )}
    </div>
  );
}

interface FormProps {
  readonly filled: Filled;
  readonly setFilled: (filled: Filled) => void;
}

interface CallFieldsProps extends FormProps {
  readonly tools: readonly PlayableTool[];
  readonly tool: PlayableTool | undefined;
}

function CallFields({ tools, tool, filled, setFilled }: CallFieldsProps): JSX.Element {
  const { texts, raw } = filled;
  return (
    <>
      <label>
        <span>tool</span>
        <select
          name="tool"
          value={tool?.name}
          onChange={({ currentTarget: { value: name } }) =>
            setFilled({ ...filled, name, texts: {}, raw: undefined })
          }
        >
          {tools.map(({ name, effect }) => (
            <option key={name} value={name}>
              {name} {effect === undefined ? "" : `(${effect})`}
            </option>
          ))}
        </select>
      </label>
      {raw === undefined ? (
        <SchemaFields
          schema={tool?.schema ?? {}}
          texts={texts}
          onChange={(next) => setFilled({ ...filled, texts: next })}
        />
      ) : (
        <label>
          <span>arguments as JSON</span>
          <textarea
            name="raw"
            rows={6}
            spellcheck={false}
            value={raw}
            onInput={({ currentTarget }) => setFilled({ ...filled, raw: currentTarget.value })}
          />
        </label>
      )}
      <button
        type="button"
        class="plain"
        onClick={() =>
          setFilled({ ...filled, raw: raw === undefined ? shownValue(givenIn(filled, tool)) : undefined })
        }
      >
        {raw === undefined ? "Write the arguments as JSON" : "Fill in fields"}
      </button>
    </>
  );
}

function OriginFields({ filled, setFilled }: FormProps): JSX.Element {
  return (
    <>
      <label>
        <span>what the user asked, in their words: values in it are their choice</span>
        <input
          name="asked"
          value={filled.asked}
          onInput={({ currentTarget }) => setFilled({ ...filled, asked: currentTarget.value })}
        />
      </label>
      <label>
        <span>what the model has read of a stranger before; empty: nothing</span>
        <textarea
          name="stranger"
          rows={2}
          value={filled.stranger}
          onInput={({ currentTarget }) => setFilled({ ...filled, stranger: currentTarget.value })}
        />
      </label>
    </>
  );
}

function Buttons({ play }: { readonly play: (mode: PlayedCall["mode"]) => Promise<void> }): JSX.Element {
  return (
    <>
      <p class="buttons">
        <button type="button" class="primary" data-act="judge" onClick={() => void play("judge")}>
          Would it be allowed?
        </button>
        <button type="button" data-act="run" onClick={() => void play("run")}>
          Run it
        </button>
        <button type="button" data-act="agree" onClick={() => void play("approve")}>
          Run it, and say yes
        </button>
      </p>
      <p class="quiet">
        The agent's own allow-list, arguments, hooks, bounds and policy decide. “Would it be allowed?” carries
        nothing out; the others run the tool. None of it is kept in the store.
      </p>
    </>
  );
}

/** The arguments of the form. @throws SyntaxError if the text is not JSON */
function givenIn({ raw, texts }: Filled, tool: PlayableTool | undefined): Json {
  if (raw === undefined) return argumentsOf(tool?.schema ?? {}, texts);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives JSON
  return JSON.parse(raw) as Json;
}

const refuse = (): Promise<never> => Promise.reject(new Error("a call that was tried is not kept"));
const noActs = { answer: refuse, fork: refuse, replay: refuse, policy: refuse, tryPolicy: refuse };

function verdictLine({ decision, state, tool }: InspectedCall, mode: PlayedCall["mode"]): string {
  const by = decision === undefined ? "" : `: rule ${decision.rule}`;
  if (state === "waiting" || decision?.verdict === "ask") {
    if (mode === "approve" && state !== "waiting")
      return `A person was asked${by}, said yes, and ${tool} ran: ${state}.`;
    return `A person would be asked${by}.`;
  }
  if (decision?.verdict === "deny") return `Refused${by}.`;
  if (mode === "judge")
    return decision === undefined
      ? "It did not come to a decision."
      : `Allowed${by}. Nothing was carried out.`;
  return `${tool} ran: ${state}.`;
}
