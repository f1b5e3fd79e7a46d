import type { JSX } from "preact";
import type { Decision, Evidence } from "../../policy/decision.ts";
import { visible } from "../../util/visible.ts";
import type { InspectedCall, InspectedRun } from "../view.ts";
import { Fact } from "./parts.tsx";
import { chosenText, verdictText } from "./words.ts";

interface WhyProps {
  readonly call: InspectedCall;
  readonly places: InspectedRun["places"];
}

/** The reason why a call was allowed or refused. */
export function Why({ call, places }: WhyProps): JSX.Element {
  const { decision, state } = call;
  const reason = reasonOf(call);
  return (
    <section class={`why why-${state}`} aria-label="Why">
      <p class="verdict">{verdictText(call)}</p>
      {reason !== undefined && <p class="reason">{reason}</p>}
      {state === "refused" && reason === undefined && (
        <p class="reason">
          The reason stands in no record: an earlier version made them. Name the agent's program, and the run
          is replayed with it.
        </p>
      )}
      <dl>
        {decision !== undefined && <Grounds decision={decision} place={places?.[decision.rule]} />}
        {call.effect !== undefined && <Fact name="effect">{call.effect}</Fact>}
      </dl>
    </section>
  );
}

/** The reason of the person or the decision. That of a person's yes is not why a call did not run. */
function reasonOf({ decision, result, state, question }: InspectedCall): string | undefined {
  const { approved, reason } = question?.answer ?? {};
  if (state !== "refused") return reason ?? decision?.reason;
  return (approved === true ? undefined : reason) ?? decision?.reason ?? result?.text;
}

/** The meaning of rules that no program writes. */
const glosses: Readonly<Record<string, string>> = {
  sensible:
    "the default policy: a listed tool runs, and one that changes something needs a yes once the model has read what strangers wrote",
};

/** The evidence of a decision. */
function Grounds({
  decision,
  place,
}: {
  readonly decision: Decision;
  readonly place: string | undefined;
}): JSX.Element {
  const { verdict, rule, remedy, flags = [], evidence } = decision;
  const others = (evidence?.matched ?? []).filter((name) => name !== rule);
  return (
    <>
      <Fact name="rule">
        <code>{rule}</code>
        {glosses[rule] !== undefined && <span class="quiet">, {glosses[rule]}</span>}
        {others.length > 0 && <span class="quiet"> also {others.join(", ")}</span>}
      </Fact>
      {place !== undefined && (
        <Fact name="written in">
          <code>{place}</code>
        </Fact>
      )}
      {remedy !== undefined && (
        <Fact name={verdict === "deny" ? "would have allowed it" : "to change that"}>{remedy}</Fact>
      )}
      {evidence !== undefined && <EvidenceOf evidence={evidence} />}
      {flags.length > 0 && <Fact name="noticed">{flags.join(", ")}</Fact>}
    </>
  );
}

function EvidenceOf({ evidence }: { readonly evidence: Evidence }): JSX.Element {
  const { label, links = [], planned, unbound = [] } = evidence;
  return (
    <>
      {label.sources.length > 0 && (
        <Fact name="the model had read">
          {label.sources.join(", ")} <span class="quiet">({label.integrity})</span>
        </Fact>
      )}
      {unbound.length > 0 && <Fact name="not chosen by the user">{unbound.map(chosenText).join(", ")}</Fact>}
      {links.length > 0 && <Fact name="links of strangers">{links.map(visible).join(", ")}</Fact>}
      {planned !== undefined && (
        <Fact name="planned by">
          {planned === "person"
            ? "a person, who agreed to it in a plan"
            : "the model, before it read a stranger's words"}
        </Fact>
      )}
    </>
  );
}
