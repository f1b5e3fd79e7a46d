import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { originsOf } from "../value-origins.ts";
import type { InspectedCall, InspectedRun } from "../view.ts";
import { AsTest } from "./as-test.tsx";
import { Answering } from "./answering.tsx";
import type { Acts } from "./acts.ts";
import { Fact, Part } from "./parts.tsx";
import { SignOf } from "./signs.tsx";
import { durationText, shownValue, stateWords, timeText } from "./words.ts";
import { Why } from "./why.tsx";

interface DrawerProps {
  readonly view: InspectedRun;
  readonly call: InspectedCall;
  readonly acts: Acts | undefined;
  readonly onClose: () => void;
}

/** Everything known of one call, beginning with the reason why it was allowed or refused. */
export function CallDrawer({ view, call, acts, onClose }: DrawerProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.parentElement?.parentElement?.scrollTo(0, 0), [call.key]);
  return (
    <aside class="drawer" aria-label={`The call ${call.tool}`} tabIndex={0}>
      <header>
        <h2 ref={heading}>
          <code>{call.tool}</code>
        </h2>
        <span class={`word word-${call.state}`}>
          <SignOf sign={call.state} /> {stateWords[call.state]}
        </span>
        <span class="grow" />
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Why call={call} places={view.places} />
      {call.state === "waiting" && call.question?.request !== undefined && (
        <Answering
          key={call.key}
          question={{ runId: view.run.id, ...call.question, request: call.question.request }}
          acts={acts}
        />
      )}
      <Answer call={call} />
      <Arguments call={call} />
      {call.within === undefined && <Origins view={view} call={call} />}
      <Capabilities view={view} call={call} />
      <Result call={call} />
      <Inside call={call} />
      <Times view={view} call={call} />
      {call.within === undefined && <AsTest view={view} call={call} />}
    </aside>
  );
}

function Answer({ call: { question } }: { readonly call: InspectedCall }): JSX.Element | null {
  if (question?.answer === undefined) return null;
  const { approved, by = "somebody", at, reason, edited, for: span, expired } = question.answer;
  return (
    <Part title="The person's answer">
      <p>
        {expired === true ? "Nobody answered in time" : `${by} said ${approved ? "yes" : "no"}`}
        {span === "run" && ", for the rest of the run"}
        {edited !== undefined && ", with other arguments"}
        {reason !== undefined && `: ${reason}`}
        {at !== undefined && <span class="quiet"> ({timeText(at)})</span>}
      </p>
    </Part>
  );
}

function Arguments({
  call: { proposed, judged, coerced, malformed, state, faults = [] },
}: {
  readonly call: InspectedCall;
}): JSX.Element {
  return (
    <Part title="Arguments">
      {malformed !== undefined && <p class="trouble">They were not used: {malformed}</p>}
      {faults.length > 0 && (
        <dl class="faults" aria-label="Where they do not fit the schema">
          {faults.map(({ at, message }) => (
            <Fact key={at} name={at === "" ? "all of them" : at}>
              {message}
            </Fact>
          ))}
        </dl>
      )}
      <h4>{judged === undefined ? "as the model sent them" : "the model sent"}</h4>
      <pre tabIndex={0}>{shownValue(proposed)}</pre>
      {judged !== undefined && (
        <>
          <h4>{state === "refused" ? "what was judged" : "what was judged and ran"}</h4>
          <pre tabIndex={0}>{shownValue(judged)}</pre>
        </>
      )}
      {coerced.length > 0 && (
        <p class="quiet">Changed without loss to fit the schema: {coerced.join(", ")}.</p>
      )}
    </Part>
  );
}

function chosen(isBound: boolean | undefined, isDefault: true | undefined): JSX.Element | string {
  if (isDefault === true) return "no: the default of the schema";
  return isBound === undefined ? "" : isBound ? "yes" : <strong>no</strong>;
}

/** The words about a value that was not found, where that does not say that nothing had it before. */
const unsureWords = {
  short: "too short to look for",
  long: "too long to look for",
  partly: "not in what this page has of earlier texts",
} as const;

function Origins({ view, call }: Pick<DrawerProps, "view" | "call">): JSX.Element | null {
  const origins = useMemo(() => originsOf(view, call), [view, call]);
  if (origins.length === 0) return null;
  const isAsked = origins.some(({ isBound }) => isBound !== undefined);
  return (
    <Part title="Where its values come from">
      <table>
        <thead>
          <tr>
            <th scope="col">value</th>
            <th scope="col">first seen in</th>
            {isAsked && <th scope="col">chosen by the user</th>}
          </tr>
        </thead>
        <tbody>
          {origins.map(({ path, value, seenIn, unsure, isBound, isDefault }) => (
            <tr key={path}>
              <td>
                <span class="quiet">{path}</span>
                <br />
                <code>{shownValue(value)}</code>
              </td>
              <td>
                {seenIn ?? (
                  <span class="quiet">{unsure === undefined ? "nowhere before" : unsureWords[unsure]}</span>
                )}
              </td>
              {isAsked && <td>{chosen(isBound, isDefault)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">“First seen” compares texts; the policy judges by labels and bound values.</p>
    </Part>
  );
}

function Capabilities({
  view,
  call: { needs, granted, looks, within },
}: Pick<DrawerProps, "view" | "call">): JSX.Element | null {
  if (needs === undefined && looks.length === 0) return null;
  const grants = within === undefined ? (view.grants ?? granted) : granted;
  return (
    <Part title="Capabilities">
      <dl>
        {needs !== undefined && (
          <Fact name="the tool needs">
            {needs === null ? "it does not say" : needs.join(", ") || "nothing"}
          </Fact>
        )}
        {grants !== undefined && <Fact name="the agent grants">{grants.join(", ") || "nothing"}</Fact>}
        {looks.map(({ resource, granted, reason }) => (
          <Fact key={resource} name={granted ? "✓ was granted" : "⊘ was missing"}>
            <code>{resource}</code> {reason}
          </Fact>
        ))}
      </dl>
    </Part>
  );
}

function Result({
  call: { result, label, status, hooked },
}: {
  readonly call: InspectedCall;
}): JSX.Element | null {
  if (result === undefined) return null;
  const value = result.value === undefined ? undefined : shownValue(result.value);
  return (
    <Part title={`Result${status === undefined ? "" : `: ${status}`}`}>
      <h4>what the model was told{result.cut === undefined ? "" : `, cut after ${result.cut} bytes`}</h4>
      <pre tabIndex={0}>{shownValue(result.text)}</pre>
      {value !== undefined && (
        <>
          <h4>what the tool gave</h4>
          <pre tabIndex={0}>{value}</pre>
        </>
      )}
      {result.note !== undefined && (
        <>
          <h4>what people are told beside it</h4>
          <pre tabIndex={0}>{shownValue(result.note)}</pre>
        </>
      )}
      <p class="quiet">
        {label === undefined
          ? status === "ok"
            ? "Label: what its tool has by default, a stranger's words."
            : ""
          : `Label: ${label.integrity}, ${typeof label.secrecy === "string" ? label.secrecy : `for ${label.secrecy.readers.join(", ")}`}${label.sources.length === 0 ? "" : `, from ${label.sources.join(", ")}`}.`}
        {hooked !== undefined && ` Changed by hooks: ${Object.values(hooked).join(", ")}.`}
      </p>
    </Part>
  );
}

function Inside({ call: { delegations } }: { readonly call: InspectedCall }): JSX.Element | null {
  if (delegations.length === 0) return null;
  return (
    <Part title="Runs inside">
      <ul>
        {delegations.map(({ runId, agent, outcome, usage }) => (
          <li key={runId}>
            {agent}: {outcome}, {usage.inputTokens + usage.outputTokens} tokens
          </li>
        ))}
      </ul>
    </Part>
  );
}

const phases = {
  checked: "arguments checked",
  authorised: "hooks and policy",
  waited: "waited for a person",
  queued: "queued",
  executed: "ran",
} as const;

function Times({
  view,
  call: { spans, key, callId, proposedAt, decidedAt, question },
}: Pick<DrawerProps, "view" | "call">): JSX.Element {
  const waitsFor = question?.request?.waitsFor;
  return (
    <Part title="Times">
      <dl>
        <Fact name="proposed">
          {durationText(proposedAt - view.from)} after the beginning{" "}
          <span class="quiet">({timeText(proposedAt)})</span>
        </Fact>
        {decidedAt !== undefined && (
          <Fact name="decided">
            {durationText(decidedAt - view.from)} after the beginning{" "}
            <span class="quiet">({timeText(decidedAt)})</span>
          </Fact>
        )}
        {spans.map(({ phase, from, to, isExact }, index) => (
          <Fact key={index} name={phase === "waited" && waitsFor !== undefined ? "waited" : phases[phase]}>
            {isExact ? "" : "at most "}
            {durationText(to - from)}
            {!isExact && phase === "waited" && (
              <span class="quiet"> (when the answer came is not recorded)</span>
            )}
          </Fact>
        ))}
        <Fact name="key">
          <code>{key}</code> <span class="quiet">{callId}</span>
        </Fact>
      </dl>
    </Part>
  );
}
