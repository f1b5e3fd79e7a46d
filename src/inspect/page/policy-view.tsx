import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { InspectedCall, InspectedRun, TriedCall } from "../view.ts";
import type { Acts } from "./acts.ts";
import { Part, Trouble } from "./parts.tsx";
import { countText } from "./words.ts";

interface PolicyProps {
  readonly view: InspectedRun;
  readonly acts: Acts | undefined;
}

/** The calls that each rule decided, with their decisions by another policy. */
export function PolicyView({ view, acts }: PolicyProps): JSX.Element {
  const calls = view.turns.flatMap((turn) => turn.calls);
  const byRule = Map.groupBy(calls, ({ decision }) => decision?.rule ?? "");
  return (
    <div class="texts">
      <Part title="What decided">
        <table>
          <thead>
            <tr>
              <th scope="col">rule</th>
              <th scope="col">calls</th>
            </tr>
          </thead>
          <tbody>
            {[...byRule].map(([rule, decided]) => (
              <tr key={rule}>
                <td>{rule === "" ? <span class="quiet">not recorded</span> : <code>{rule}</code>}</td>
                <td>{decidedText(decided)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Part>
      {acts !== undefined && <TryPolicy view={view} acts={acts} />}
    </div>
  );
}

/** `allow: 3 of find_order, 1 of read_mail`. */
function decidedText(calls: readonly InspectedCall[]): string {
  const byVerdict = Map.groupBy(calls, ({ decision }) => decision?.verdict ?? "unknown");
  const parts = [...byVerdict].map(([verdict, list]) => {
    const tools = [...Map.groupBy(list, ({ tool }) => tool)].map(
      ([tool, each]) => `${each.length} of ${tool}`,
    );
    return `${verdict}: ${tools.join(", ")}`;
  });
  return parts.join("; ");
}

const example = `{
  "name": "tried",
  "rules": "guarded"
}`;

function TryPolicy({ view, acts }: { readonly view: InspectedRun; readonly acts: Acts }): JSX.Element {
  const [text, setText] = useState(example);
  const [about, setAbout] = useState("");
  const [tried, setTried] = useState<readonly TriedCall[] | undefined>();
  const [trouble, setTrouble] = useState("");
  const { cannot } = acts;
  useEffect(() => {
    if (cannot !== undefined) return;
    acts.policy(view.run.agent).then(
      ({ name, policy }) => {
        if (policy !== undefined) setText(JSON.stringify(policy, undefined, 2));
        setAbout(
          name === ""
            ? "A composition has no policy of its own; this is one."
            : policy === undefined
              ? `The agent's own policy, ${name}, is no list of rules; this is another one.`
              : `The agent's own policy, ${name}.`,
        );
      },
      () => undefined, // keeps the example
    );
  }, [view.run.agent]);
  if (cannot !== undefined) return <p class="notice">{cannot}</p>;
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setTrouble("");
    try {
      setTried(await acts.tryPolicy(view.run.id, JSON.parse(text)));
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <Part title="What another policy would say">
      <form class="answering policy-form" onSubmit={(event) => void submit(event)}>
        <label>
          {about} Change its rules; each call that a policy decided is judged again, given what the run knew
          then. Nothing is called.
          <textarea
            name="policy"
            spellcheck={false}
            rows={12}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="buttons">
          <button type="submit" class="primary">
            Try it on this run
          </button>
        </div>
        <Trouble text={trouble} />
      </form>
      {tried !== undefined && <Tried calls={tried} />}
    </Part>
  );
}

function Tried({ calls }: { readonly calls: readonly TriedCall[] }): JSX.Element {
  const count = calls.filter(({ differs }) => differs).length;
  return (
    <div role="status" class="tried">
      <p class="verdict">
        {count === 0
          ? "It decides the same about all of them"
          : `It decides otherwise about ${countText(count, "call")}`}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">turn</th>
            <th scope="col">call</th>
            <th scope="col">was</th>
            <th scope="col">would be</th>
            <th scope="col">why</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ turn, callId, tool, was, would, differs }) => (
            <tr key={`${turn} ${callId}`} class={differs ? "differs" : ""}>
              <td>{turn}</td>
              <td>
                <code>{tool}</code>
              </td>
              <td>{was.verdict}</td>
              <td>{differs ? <strong>{would.verdict}</strong> : would.verdict}</td>
              <td>
                {would.reason} <span class="quiet">{would.rule}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
