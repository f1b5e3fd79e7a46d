import type { JSX } from "preact";
import type { InspectedInside, InspectedRun, InspectedTurn } from "../view.ts";
import { Fact, Part } from "./parts.tsx";
import { countText, durationText } from "./words.ts";

/** All that is known of one turn beside its calls. */
export function TurnDrawer({
  view,
  turn,
  onClose,
}: {
  readonly view: InspectedRun;
  readonly turn: InspectedTurn;
  readonly onClose: () => void;
}): JSX.Element {
  const { key, number, model, calls, promptLength } = turn;
  const isOwn = key === `turn/${number}`;
  return (
    <aside class="drawer" aria-label={`Turn ${number}`} tabIndex={0}>
      <header>
        <h2>Turn {number}</h2>
        <span class="quiet">{countText(calls.length, "call")}</span>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {model === undefined ? (
        <p class="notice">The model's reply is not recorded yet.</p>
      ) : (
        <>
          <Part title="The model">
            <dl>
              <div class="fact">
                <dt>took</dt>
                <dd>{durationText(model.to - model.from)}</dd>
              </div>
              <div class="fact">
                <dt>tokens</dt>
                <dd>
                  {model.usage.inputTokens.toLocaleString("en")} in,{" "}
                  {model.usage.outputTokens.toLocaleString("en")} out
                  {model.usage.estimated === true && " (estimated)"}
                  {(model.usage.cachedInputTokens ?? 0) > 0 &&
                    `, ${model.usage.cachedInputTokens} from the cache`}
                </dd>
              </div>
              {model.costUsd !== undefined && (
                <div class="fact">
                  <dt>cost</dt>
                  <dd>${model.costUsd.toFixed(4)}</dd>
                </div>
              )}
              <div class="fact">
                <dt>driver</dt>
                <dd>{model.driver}</dd>
              </div>
              <div class="fact">
                <dt>ended with</dt>
                <dd>{model.finishReason}</dd>
              </div>
              {isOwn && (
                <div class="fact">
                  <dt>was shown</dt>
                  <dd>{countText(promptLength, "message")}</dd>
                </div>
              )}
            </dl>
            {model.retries.map((reason, index) => (
              <p key={index} class="trouble">
                asked again: {reason}
              </p>
            ))}
            {model.repairs.map((repair, index) => (
              <p key={index} class="quiet">
                mended: {repair}
              </p>
            ))}
          </Part>
          {model.reasoning !== undefined && (
            <Part title="Reasoning">
              <pre tabIndex={0}>{model.reasoning}</pre>
            </Part>
          )}
          {model.text !== "" && (
            <Part title="Text">
              <pre tabIndex={0}>{model.text}</pre>
            </Part>
          )}
          {model.raw !== undefined && (
            <Part title="As the model wrote it">
              <pre tabIndex={0}>{model.raw}</pre>
            </Part>
          )}
        </>
      )}
      {view.remarks
        .filter((remark) => isOwn && remark.turn === number)
        .map(({ text }) => (
          <p key={text} class="notice">
            {text}
          </p>
        ))}
    </aside>
  );
}

/** All that is known of a run inside a call, beside its turns. */
export function InsideDrawer({
  run: { key, agent, outcome, usage, from, to, turns },
  onClose,
}: {
  readonly run: InspectedInside;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <aside class="drawer" aria-label={`The run of ${agent}`} tabIndex={0}>
      <header>
        <h2>{agent}</h2>
        <span class="quiet">{outcome ?? "no end is recorded"}</span>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Part title="A run inside">
        <dl>
          <Fact name="turns">{turns.length}</Fact>
          {to > from && <Fact name="took">{durationText(to - from)}</Fact>}
          {usage !== undefined && (
            <Fact name="tokens">
              {usage.inputTokens.toLocaleString("en")} in, {usage.outputTokens.toLocaleString("en")} out
            </Fact>
          )}
          <Fact name="key">
            <code>{key}</code>
          </Fact>
        </dl>
      </Part>
    </aside>
  );
}
