import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ListedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import type { Api } from "./api.ts";
import { PlayCall } from "./play-call.tsx";
import { PlayChat } from "./play-chat.tsx";

interface PlayProps {
  readonly api: Api;
  readonly agents: readonly string[];
  readonly runs: readonly ListedRun[];
  readonly actsOf: (agent: string) => Acts;
  readonly onOpen: (run: string) => void;
}

const parts = ["Chat", "One call"] as const;

/** The playground: people talk with agents that the inspector was given, and try calls on them. */
export function PlayPage({ api, agents, runs, actsOf, onOpen }: PlayProps): JSX.Element {
  const [chosen, setChosen] = useState("");
  const [part, setPart] = useState<(typeof parts)[number]>("Chat");
  const agent = agents.includes(chosen) ? chosen : agents[0];
  return (
    <section class="play" aria-label="Playground">
      <header>
        <h1>Playground</h1>
        {agents.length > 0 && (
          <select
            aria-label="Agent"
            value={agent}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          >
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <div class="buttons" role="group" aria-label="What to try">
          {parts.map((name) => (
            <button key={name} type="button" aria-pressed={part === name} onClick={() => setPart(name)}>
              {name}
            </button>
          ))}
        </div>
      </header>
      {agent === undefined && (
        <p class="notice">
          There is no program here to play with. Start the inspector with one: writ inspect agent.ts
        </p>
      )}
      {agent !== undefined && part === "Chat" && (
        <PlayChat key={agent} {...{ api, agent, runs, onOpen }} acts={actsOf(agent)} />
      )}
      {agent !== undefined && part === "One call" && <PlayCall key={agent} api={api} agent={agent} />}
    </section>
  );
}
