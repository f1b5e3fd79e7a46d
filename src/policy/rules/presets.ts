import {
  absent,
  all,
  any,
  boundToIntent,
  effect,
  not,
  outsidePlan,
  planned,
  reachesOutside,
  requested,
  roles,
  secrecyExceedsTargets,
  unknownLinks,
  untrusted,
} from "./conditions.ts";
import { lazy } from "../../util/remembered.ts";
import { checkedCopy } from "./checked-copy.ts";
import { rulesShape } from "./policy-shape.ts";
import { allow, ask, type RuleInput } from "./builders.ts";
import type { Rule } from "./rule.ts";

const effectful = effect("write", "irreversible", "undeclared");

const chosen = roles("target", "amount", "id").are(boundToIntent());
const after = all(untrusted(), not(planned()));

/** The rules of `guarded` for calls that only look. */
function guardedLooks(): readonly RuleInput[] {
  return [
    ask("*")
      .when(all(effect("none", "read"), reachesOutside(), after, any(not(chosen), unknownLinks())))
      .because("it asks somebody outside for what the user did not choose")
      .named("guarded/reaches-outside"),
    ask("*")
      .when(
        all(
          effect("none", "read"),
          after,
          secrecyExceedsTargets(),
          any(not(roles("target").are(boundToIntent())), unknownLinks()),
        ),
      )
      .because("looking there may tell what not everybody may know")
      .named("guarded/secrecy-of-looking"),
  ];
}

function guarded(): readonly RuleInput[] {
  const spreads = secrecyExceedsTargets();
  const foreign = all(effect("irreversible"), not(requested()));
  return [
    allow("*")
      .when(
        any(
          effect("none", "read"),
          not(untrusted()),
          planned(),
          all(chosen, not(foreign), not(unknownLinks()), not(spreads)),
        ),
      )
      .because("it only looks, or the user chose what it acts on")
      .named("guarded/chosen"),
    ask("*")
      .when(all(effectful, after, not(chosen)))
      .because("the user did not choose whom, what or how much it acts on")
      .named("guarded/not-chosen"),
    ask("*")
      .when(all(effectful, after, outsidePlan()))
      .because("it stands outside of what was planned before words of strangers were read")
      .named("guarded/outside-plan"),
    ask("*")
      .when(all(foreign, after))
      .because("the request names no act of this kind, and it cannot be taken back")
      .named("guarded/not-requested"),
    ask("*")
      .when(
        all(
          effectful,
          after,
          roles("target", "amount", "id").are(absent({ orDefault: true })),
          any(
            effect("irreversible", "undeclared"),
            all(roles("content").are(absent()), not(requested({ exactly: true }))),
          ),
        ),
      )
      .because("it acts on nothing that the user could have chosen")
      .named("guarded/nothing-chosen"),
    ask("*")
      .when(all(effectful, after, unknownLinks()))
      .because("it says a link that comes from a stranger")
      .named("guarded/unknown-links"),
    ask("*")
      .when(all(effectful, after, spreads))
      .because("it may tell what not everybody may know")
      .named("guarded/secrecy"),
    ...guardedLooks(),
  ];
}

function strict(): readonly RuleInput[] {
  return [
    allow("*")
      .when(any(effect("none", "read"), not(untrusted())))
      .named("strict/before-strangers"),
    ask("*")
      .when(all(effectful, untrusted()))
      .because("it may change something, after data of strangers")
      .named("strict/after-strangers"),
  ];
}

/** The rules that a policy may name instead of listing them, made on first use. */
export const presetRules: Readonly<Record<"guarded" | "strict", () => readonly Rule[]>> = {
  guarded: lazy(() => checkedCopy(guarded(), rulesShape)),
  strict: lazy(() => checkedCopy(strict(), rulesShape)),
};
