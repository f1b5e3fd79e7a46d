import { callable, either, list, object, record, string } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { joinSecrecy } from "../../message/label.ts";
import type { Json } from "../../util/json.ts";
import { type Policy, strictest } from "../decision.ts";
import { takenBy } from "../rules/annotate.ts";
import { countedBy, type DeclaredPolicy, policyIdentity, rulePolicyOf } from "../rules/identity.ts";
import { rulesOf } from "../rules/policy-json.ts";
import { keepParts } from "../rules/narrowed-parts.ts";
import { presetRules } from "../rules/presets.ts";
import { ruleCode } from "../rules/code.ts";
import type { Annotation, Condition, PolicyJson, Rule } from "../rules/rule.ts";

/**
 * A policy bounded by a second one: for each call the stricter of both decides. During a run a policy can only be replaced in this way, so that
 * the replacement allows no more than before. The first policy's annotations of tools hold, and the second's only where they take away: trust, and who may
 * learn results. Constants are those that both have.
 *
 * @example
 * ```ts
 * import { allow, ask, policy } from "writ";
 * import { narrowed } from "writ/policy";
 *
 * const day = policy({ name: "day", rules: [allow("deploy")] });
 * export const night = narrowed(day, policy({ name: "night", rules: [ask("deploy")] }));
 * ```
 */
export function narrowed(policy: Policy, by: Policy): Policy {
  checkArguments("narrowed()", { policy, by }, { policy: callable, by: callable });
  const judge = strictest(policy, by);
  const both: Policy = (call) => judge(call);
  keepParts(both, [policy, by]);
  const data = narrowedData(policy, by);
  if (data === undefined) return both;
  for (const [key, value] of Object.entries(data))
    Object.defineProperty(both, key, { value, enumerable: true });
  return Object.freeze(both);
}

type PolicyData = Pick<DeclaredPolicy, keyof DeclaredPolicy> & { readonly name: string };

/**
 * The data of the combination. As JSON it has the rules of one policy, so nothing wider than both can be read
 * back.
 */
function narrowedData(policy: Policy, by: Policy): PolicyData | undefined {
  const { rules: wasRules, constants = [], tools: wasTools = {} } = dataOf(policy);
  const { rules: isRules, constants: others = constants, tools: isTools = {} } = dataOf(by);
  const rules = wasRules ?? isRules;
  if (rules === undefined) return undefined;
  const name = `${policy.name}, narrowed by ${by.name}`;
  const skills = narrowedSkills(dataOf(policy).skills, dataOf(by).skills);
  const held = {
    tools: narrowedTools(wasTools, isTools),
    constants: constants.filter((value) => others.includes(value)),
    ...(skills === undefined ? {} : { skills }),
  };
  const narrowedBy = policyIdentity(rules === wasRules ? by : policy);
  return {
    ...held,
    name,
    rules: [...(wasRules ?? []), ...(isRules ?? [])],
    counted: [...new Set([...countedBy(policy), ...countedBy(by)])],
    toJSON: () => ({ ...held, name, rules, narrowedBy }),
  };
}

function dataOf(policy: Policy): Partial<DeclaredPolicy> {
  return rulePolicyOf(policy) ?? {};
}

type Annotations = Readonly<Record<string, Annotation>>;

function narrowedTools(first: Annotations, second: Annotations): Annotations {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  const entries = [...names].map((name): readonly [string, Annotation] => {
    const was = Object.hasOwn(first, name) ? first[name] : undefined;
    const by = (Object.hasOwn(second, name) ? second[name] : undefined) ?? {};
    const joined = by.secrecy && joinSecrecy(was?.secrecy ?? by.secrecy, by.secrecy);
    const secrecy = joined && { secrecy: joined };
    const form = was?.trusted === true && typeof by.trusted === "object" ? { trusted: by.trusted } : {};
    return [name, { ...was, ...takenBy(by), ...form, ...secrecy }];
  });
  return Object.freeze(Object.fromEntries(entries));
}

type Skills = PolicyJson["skills"];

function narrowedSkills(first: Skills, second: Skills): Skills {
  if (first === undefined || second === undefined) return first ?? second;
  const both = Object.entries(first).map(([name, tools]): readonly [string, readonly string[]] => {
    const others = Object.hasOwn(second, name) ? second[name] : undefined;
    return [name, others === undefined ? tools : tools.filter((tool) => others.includes(tool))];
  });
  return { ...second, ...Object.fromEntries(both) };
}

const policyData = object({ rules: either(string, list(record)) });

/**
 * The parts of a policy that may allow more than another one did: new rules that allow, removed rules
 * that asked or denied, rules that ask where the absence of a rule may have denied, changed constants and annotations, skills that list more tools. If it finds
 * nothing, no call gets a weaker verdict; a finding need not be weaker. For a review, or a check of what is in a
 * repository.
 *
 * @example
 * ```ts
 * import { allow, ask, policy } from "writ";
 * import { widenings } from "writ/policy";
 *
 * const before = policy({ name: "mail", rules: [ask("send_mail")] }).toJSON();
 * const after = policy({ name: "mail", rules: [ask("send_mail"), allow("delete_mail")] }).toJSON();
 * console.log(widenings(before, after)); // ['allows: allow("delete_mail")']
 * ```
 */
export function widenings(before: PolicyJson, after: PolicyJson): readonly string[] {
  checkArguments("widenings()", { before, after }, { before: policyData, after: policyData });
  const [was, is] = [rulesByText(before), rulesByText(after)];
  const added = [...is].filter(([text, { verdict }]) => verdict === "allow" && !was.has(text));
  const asking = [...is].filter(
    ([text, { verdict, tools }]) =>
      verdict === "ask" && !was.has(text) && !areNeverSilent(rulesOf(before), tools),
  );
  const gone = [...was].filter(([text, { verdict }]) => verdict !== "allow" && !is.has(text));
  const [constants, lost] = [missingIn(before, after), missingIn(after, before)];
  const areStricter = rulesOf(after).some(isStricterByConstants);
  return [
    ...added.map(([, rule]) => `allows: ${ruleCode(rule)}`),
    ...asking.map(([, rule]) => `asks, where no rule may have allowed it: ${ruleCode(rule)}`),
    ...gone.map(([, rule]) => `does without: ${ruleCode(rule)}`),
    ...constants.map((value) => `vouches for: ${JSON.stringify(value)}`),
    ...lost.flatMap((value) => (areStricter ? [`vouches no more for: ${JSON.stringify(value)}`] : [])),
    ...changedTools(before, after).map((tool) => `says otherwise of the tool: ${tool}`),
    ...widerSkills(before, after).map((skill) => `gives more tools to the skill: ${skill}`),
  ];
}

/** True if some rule covers every call of these tools, as those of a preset do together: otherwise an effect may be denied because none does. */
export function areNeverSilent(rules: readonly Rule[], named: readonly string[]): boolean {
  const always = rules.filter(({ when, unless }) => when === undefined && unless === undefined);
  const isAlways = (tool: string): boolean =>
    always.some(({ tools }) => tools.includes(tool) || tools.includes("*"));
  return named.every(isAlways) || havePreset(rules);
}

function havePreset(rules: readonly Rule[]): boolean {
  const facts = new Set(rules.map(ruleFacts));
  return Object.values(presetRules).some((preset) => preset().every((rule) => facts.has(ruleFacts(rule))));
}

/** The constants of the second policy that the first does not have. */
function missingIn({ constants: had = [] }: PolicyJson, { constants = [] }: PolicyJson): readonly string[] {
  return constants.filter((value) => !had.includes(value));
}

/** True if a rule asks, denies or withholds an allow because of what the author vouches for: without the constant it is weaker. */
function isStricterByConstants({ verdict, when, unless }: Rule): boolean {
  const [strict, lax] = verdict === "allow" ? [unless, when] : [when, unless];
  return needsConstants(strict, true) || needsConstants(lax, false);
}

/** True if only constants may make a condition hold, or not hold. */
function needsConstants(condition: Condition | undefined, holds: boolean): boolean {
  if (condition === undefined) return false;
  const { type } = condition;
  if (type === "not") return needsConstants(condition.of, !holds);
  if (type === "all" || type === "any") return condition.of.some((each) => needsConstants(each, holds));
  if (type === "argument" || type === "roles") return holds && condition.is.type === "bound";
  return !holds && (type === "unknown-links" || type === "secrecy-exceeds-targets");
}

/** The skills that may use more tools: an unnamed skill may use all. */
function widerSkills({ skills: was = {} }: PolicyJson, { skills: is = {} }: PolicyJson): readonly string[] {
  return Object.keys(was).filter((name) => {
    const now = Object.hasOwn(is, name) ? is[name] : undefined;
    return now?.every((tool) => was[name]?.includes(tool)) !== true;
  });
}

function rulesByText(policy: PolicyJson): ReadonlyMap<string, Rule> {
  return new Map(rulesOf(policy).map((rule) => [ruleFacts(rule), rule]));
}

/** The effect of a rule, as text, without its place, its name and its words to people, which change no verdict. */
export function ruleFacts({ verdict, tools, when, unless, exception }: Rule): string {
  const facts = {
    verdict,
    tools: tools.toSorted(),
    when: when ?? null,
    unless: unless ?? null,
    isException: exception === true,
  };
  return canonicalJson(facts);
}

function changedTools({ tools: was = {} }: PolicyJson, { tools: is = {} }: PolicyJson): readonly string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter((name) => annotationText(was, name) !== annotationText(is, name));
}

function annotationText(tools: NonNullable<PolicyJson["tools"]>, name: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the policy was read from JSON
  return Object.hasOwn(tools, name) ? canonicalJson(tools[name] as unknown as Json) : "";
}
