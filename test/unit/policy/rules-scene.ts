import type { Secrecy } from "../../../src/message/label.ts";
import { type CallRequest, type Decision, type Policy } from "../../../src/policy/decision.ts";
import { noIntent } from "../../../src/policy/knowledge/intent.ts";
import { policy } from "../../../src/policy/study/policy.ts";
import type { RuleInput } from "../../../src/policy/rules/builders.ts";
import type { Parameters, ValueType } from "../../../src/tool/parameters.ts";
import type { Effect } from "../../../src/tool/tool.ts";
import type { Json } from "../../../src/util/json.ts";

/** What a test says of a call and of the run around it. */
export interface Said {
  readonly tool?: string;
  readonly arguments?: unknown;
  readonly effect?: Effect;
  readonly parameters?: Parameters;
  readonly kind?: CallRequest["kind"];
  readonly untrusted?: boolean;
  readonly secrecy?: Secrecy;
  readonly sources?: readonly string[];
  /** Values that are the user's own choice. */
  readonly bound?: readonly Json[];
  /** Called for each value that somebody asks about. */
  readonly asked?: (value: Json, type: ValueType | undefined) => void;
  readonly links?: readonly string[];
  readonly calls?: number;
  /** The request speaks of the kind of act. Default: it does. */
  readonly requested?: boolean;
  /** It speaks of the very act. Default: as it does of the kind. */
  readonly named?: boolean;
}

/** A call of `send`, an irreversible tool, if nothing else is said. */
export function callOf(said: Said = {}): CallRequest {
  const { tool = "send", effect = "irreversible", parameters = {}, bound = [], links = [] } = said;
  const { untrusted = false, secrecy = "public", calls = 0, kind, asked, sources, requested = true } = said;
  return {
    agent: "a",
    skill: "s",
    turn: 1,
    callId: "c1",
    tool,
    effect,
    arguments: (said.arguments ?? {}) as Json,
    parameters,
    ...(kind === undefined ? {} : { kind }),
    knows: {
      intent: { ...noIntent("a"), hash: "1f2e3d" },
      label: {
        integrity: untrusted ? "untrusted" : "trusted",
        secrecy,
        sources: sources ?? (untrusted ? ["tool/inbox"] : []),
      },
      isBound: (value, type) => {
        asked?.(value, type);
        return bound.includes(value);
      },
      isFound: () => false,
      asksFor: (_tool, exactly) => (exactly === true ? (said.named ?? requested) : requested),
      isKnownLink: (link) => links.includes(link),
      calls: () => calls,
    },
  };
}

/** What these rules say of a call. */
export function judge(rules: readonly RuleInput[], said: Said = {}): Decision {
  return policy({ name: "test", rules })(callOf(said));
}

export function verdict(rules: readonly RuleInput[], said: Said = {}): Decision["verdict"] {
  return judge(rules, said).verdict;
}

export function verdictBy(by: Policy, said: Said): Decision["verdict"] {
  return by(callOf(said)).verdict;
}
