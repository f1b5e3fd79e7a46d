import type { Label } from "../../message/label.ts";
import { lazy } from "../../util/remembered.ts";
import { isChoice, type Sight, sightOf, unboundOf } from "./condition/sight.ts";
import type { CallRequest, Decision, Evidence } from "../decision.ts";
import { remediesFor, remedyText } from "./remedy.ts";
import { type NamedRule, type RuleBook, type Verdict, verdictOf } from "./verdict.ts";

/** The most values of evidence: nobody reads more, and every record carries them. */
const mostEvidence = 20;

/** Judges a call by the rules, with the evidence. Never throws: a call that cannot be judged is denied. */
export function decide(book: RuleBook, call: CallRequest): Decision {
  try {
    const sight = sightOf(call, book.annotationOf(call.tool));
    const verdict = verdictOf(book.rulesFor(call.tool), sight);
    return verdict.verdict === "allow" ? allowed(verdict, sight) : blocked(verdict, sight, book);
  } catch {
    return unreadable;
  }
}

const unreadable: Decision = Object.freeze({
  verdict: "deny",
  rule: "policy-error",
  reason: "the call cannot be read",
});

function allowed(found: Verdict, sight: Sight): Decision {
  const { rule, reason } = said(found);
  const decision = { verdict: "allow", rule, reason, evidence: evidenceOf(found, sight) } as const;
  const isUnguarded = sight.effect === "undeclared" && decision.evidence.label.integrity !== "trusted";
  return isUnguarded ? { ...decision, flags: ["effect-undeclared"] } : decision;
}

function blocked(found: Verdict, sight: Sight, book: RuleBook): Decision {
  const { verdict } = found;
  const { rule, reason } = said(found);
  const evidence = { ...evidenceOf(found, sight), ...valuesIn(sight) };
  return withRemedy({ verdict, rule, reason, remedy: undefined, evidence }, () =>
    remedyFor(sight, found, book),
  );
}

/** The decision with a remedy that is computed on first read: it costs more than the decision. */
function withRemedy(decision: Decision, workOut: () => string | undefined): Decision {
  Object.defineProperty(decision, workedOut, { value: lazy(workOut) });
  return Object.defineProperty(decision, "remedy", whenRead);
}

/** The field of a decision behind its remedy. */
const workedOut = Symbol("workedOut");

/** One descriptor for all decisions: V8 keeps a getter, and everything in its scope, until a full collection. */
const whenRead: PropertyDescriptor & ThisType<{ readonly [workedOut]: () => string | undefined }> = {
  enumerable: true,
  get() {
    return this[workedOut]();
  },
};

function remedyFor(sight: Sight, found: Verdict, book: RuleBook): string | undefined {
  try {
    return remedyText(remediesFor(sight, found, book));
  } catch {
    return undefined; // an unreadable call has no remedy
  }
}

/** The words of a decision that the model is told too: the author's own, and nothing from the arguments. */
function said({ verdict, decisive }: Verdict): Pick<Decision, "rule" | "reason"> {
  if (decisive === undefined) {
    return verdict === "allow"
      ? { rule: "only-looks", reason: "it only looks, and no rule is against it" }
      : { rule: "no-rule", reason: "no rule of the policy allows it" };
  }
  return { rule: decisive.name, reason: decisive.rule.because ?? reasonOf(decisive) };
}

function reasonOf({ rule: { verdict, when } }: NamedRule): string {
  if (verdict === "allow") return "the policy allows it";
  if (verdict === "ask") return "a person must agree to it";
  if (when?.type !== "calls") return "the policy forbids it";
  return when.atLeast === 1
    ? "it may be called once in a run"
    : `it may be called ${when.atLeast} times in a run`;
}

function evidenceOf({ matched, decisive }: Verdict, sight: Sight): Evidence {
  const show = decisive?.rule.show;
  return {
    label: labelIn(sight),
    intent: intentIn(sight),
    ...(show === undefined ? {} : { show }),
    ...plannedIn(sight),
    ...(matched.length === 0 ? {} : { matched: matched.map(({ name }) => name) }),
  };
}

/** The label of what was seen. An unreadable label counts as the worst. */
function labelIn({ knows }: Sight): Label {
  try {
    const { label } = knows();
    if (label.integrity === "trusted" || label.integrity === "untrusted") return label;
  } catch {
    // the rule below tells it
  }
  return { integrity: "untrusted", secrecy: "private", sources: ["unreadable"] };
}

function plannedIn({ knows }: Sight): Pick<Evidence, "planned"> {
  try {
    const planned = knows().plan?.act?.by;
    return planned === undefined ? {} : { planned };
  } catch {
    return {};
  }
}

function intentIn({ knows }: Sight): string {
  try {
    return knows().intent.hash;
  } catch {
    return "";
  }
}

/** The values that a person should look at. */
function valuesIn(sight: Sight): Pick<Evidence, "unbound" | "links"> {
  try {
    const unbound = (unboundOf(sight) ?? [])
      .slice(0, mostEvidence)
      .map(({ path, value, type }) => (type === undefined ? { path, value } : { path, value, type }));
    const content = sight.leaves()?.filter((leaf) => !isChoice(leaf) && !leaf.isOdd) ?? [];
    const links = [...new Set(content.flatMap((leaf) => sight.strangersLinks(leaf)))].slice(0, mostEvidence);
    return { ...(unbound.length === 0 ? {} : { unbound }), ...(links.length === 0 ? {} : { links }) };
  } catch {
    return {};
  }
}
