import type { Tool } from "../../tool/tool.ts";
import type { PlannedAct } from "../../tool/planned-act.ts";
import { namesIn } from "../../schema/property-names.ts";
import { canonical } from "../values/canonical.ts";
import type { CallRequest, Decision, Policy } from "../decision.ts";
import { sightOf } from "./condition/sight.ts";
import { isAbsent } from "./condition/values.ts";

/** Judges a plan: like the strictest of its acts, and by the policy's word on planning. After a stranger's words a person is always asked. */
export function judgePlan(
  request: CallRequest,
  acts: readonly PlannedAct[],
  { policy, tools }: { readonly policy: Policy; readonly tools: ReadonlyMap<string, Tool> },
): Decision {
  const own = policy(request);
  const isTrusted = request.knows.label.integrity === "trusted";
  const { evidence } = own;
  const start: Decision =
    isTrusted || own.verdict !== "allow"
      ? own
      : {
          verdict: "ask",
          rule: "plan",
          reason: "a person must agree to what is planned after words of strangers",
          evidence,
        };
  return acts.reduce((strictest, act) => {
    const decision = judgeAct(request, act, { policy, tool: tools.get(act.tool) });
    return strictness[decision.verdict] > strictness[strictest.verdict] ? decision : strictest;
  }, start);
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

interface Judging {
  readonly policy: Policy;
  readonly tool: Tool | undefined;
}

function judgeAct(request: CallRequest, act: PlannedAct, { policy, tool }: Judging): Decision {
  const { arguments: args, free = [] } = act;
  const named = JSON.stringify(act.tool.slice(0, 100));
  if (tool === undefined || tool.plans === true)
    return { verdict: "deny", rule: "plan", reason: `${named} may not be called` };
  if (args === undefined) return { verdict: "allow", rule: "plan", reason: "it names a kind of act" };
  const { agent, skill, turn, callId, knows } = request;
  const { name, effect, parameters = {}, kind, input } = tool;
  const call: CallRequest = {
    agent,
    skill,
    turn,
    callId,
    tool: name,
    effect,
    parameters,
    kind,
    knows,
    arguments: args,
    ...namesIn(input.jsonSchema),
  };
  const sight = sightOf(call);
  const wrong = free.find((argument) => !mayBeOpen(call, argument));
  if (wrong !== undefined) {
    const reason = `${named}: \`free\` leaves open ${JSON.stringify(wrong.slice(0, 100))}, which says whom, what or how much; only whole arguments with nothing but content and identifiers with a type can be left open`;
    return { verdict: "deny", rule: "plan", reason };
  }
  const { verdict, rule, reason, evidence } = policy({ ...call, arguments: sight.args() });
  const isOpen = free.length > 0 && verdict === "allow";
  return isOpen
    ? { verdict: "ask", rule: "plan", reason: `${named}: it leaves arguments open`, evidence }
    : { verdict, rule, reason: `${named}: ${reason}`, ...(evidence === undefined ? {} : { evidence }) };
}

/** True for an argument that a plan may leave open: content, or an identifier with a type, without a field of any other kind. */
function mayBeOpen({ parameters }: CallRequest, argument: string): boolean {
  if (argument.includes(".") || !Object.hasOwn(parameters, argument)) return false; // a field inside another argument cannot be left open by itself
  return Object.entries(parameters).every(([path, said]) => {
    if (path !== argument && !path.startsWith(`${argument}.`)) return true;
    const { role, type } = typeof said === "string" ? { role: said, type: undefined } : said;
    return role === "content" || (role === "id" && type !== undefined);
  });
}

/** The arguments of a call that a person may leave open, including those that the call does not have. */
export function openIn(call: CallRequest): readonly string[] {
  return Object.keys(call.parameters).filter((name) => mayBeOpen(call, name));
}

/** True if a call's value for an open argument is of the kind that was shown: without a stranger's link, and of the same form. */
export function fitsOpen(call: CallRequest, argument: string): boolean {
  if (!mayBeOpen(call, argument)) return false;
  const sight = sightOf(call);
  return (
    sight
      .at(argument)
      ?.every((leaf) =>
        isAbsent(leaf) || leaf.role === "content"
          ? !leaf.isOdd && sight.strangersLinks(leaf).length === 0
          : leaf.type !== undefined && canonical(leaf.type, leaf.value) !== undefined,
      ) === true
  );
}
