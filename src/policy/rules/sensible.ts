import { WritError } from "../../error/writ-error.ts";
import type { Label } from "../../message/label.ts";
import type { CallRequest, Decision } from "../decision.ts";

const allowed = (reason: string, flags: Pick<Decision, "flags"> = {}): Decision =>
  Object.freeze({ verdict: "allow", rule: "sensible", reason, ...flags });

const looks = allowed("it changes nothing");
const own = allowed("it is knowledge or memory, which an agent may always use");
const trusted = allowed("the model has read no data of strangers");
const undeclared = allowed("it declares no effect", { flags: Object.freeze(["effect-undeclared"]) });

/**
 * The policy if none is written: a declared write or irreversible effect asks once the model has seen untrusted data. A tool with an undeclared effect
 * runs, and the decision notes that it ran after such data (`effect-undeclared`). Everything else is allowed, including knowledge and memory.
 *
 * @example
 * ```ts
 * import { deny, policy, sensible } from "writ";
 * import { narrowed } from "writ/policy";
 *
 * export const sensibleWithoutMail = narrowed(sensible, policy({ name: "no mail", rules: [deny("send_mail")] }));
 * ```
 */
export function sensible(call: CallRequest): Decision {
  if ((call as Partial<CallRequest> | undefined | null)?.knows === undefined) throw called();
  const { effect, kind } = call;
  if (kind === "knowledge" || kind === "memory") return own;
  if (effect === "none" || effect === "read") return looks;
  const { label, intent, plan } = call.knows;
  if (label.integrity === "trusted") return trusted;
  if (effect === "undeclared") return undeclared;
  return {
    verdict: "ask",
    rule: "sensible",
    reason: "it changes something, after data of strangers",
    remedy: remedyAfter(label),
    evidence: { label, intent: intent.hash, ...(plan?.act && { planned: plan.act.by }) },
  };
}

function called(): WritError {
  const reason =
    "it is a policy itself, and decides about a call: write `policy: sensible`, or leave it out.";
  return new WritError("definition-invalid", { where: "sensible()", reason });
}

/**
 * The remedies for an author: it names the tools that made the run untrusted, because their results may be
 * the author's own, and the servers, whose descriptions an author can approve.
 */
function remedyAfter({ sources }: Label): string {
  const named = (kind: string): string =>
    sources.flatMap((source) => (source.startsWith(kind) ? [source.slice(kind.length)] : [])).join(", ");
  const [tools, servers] = [named("tool/"), named("mcp/")];
  const own = tools === "" ? "" : `\`trusted: true\` on ${tools}, if what it gives is your own data; `;
  const read =
    servers === "" ? "" : `\`pins\` for the server ${servers}, if you read what it says of its tools; `;
  return `\`approve\` for the run, so that a person is asked; ${own}${read}\`policy: guarded()\`, which allows what the user chose; or rules of your own`;
}
