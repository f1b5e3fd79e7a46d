import { assertNever } from "../../util/assert-never.ts";
import type { Json } from "../../util/json.ts";
import type { Condition, Rule, ValueTest } from "./rule.ts";

/** A rule as the code that makes it. Text that a model wrote occurs in it only as a string literal, without invisible characters. */
export function ruleCode({ verdict, tools, when, unless, because, show, name, exception }: Rule): string {
  const [tool] = tools;
  const isLimit = verdict === "deny" && tools.length === 1 && tool !== undefined && when?.type === "calls";
  return [
    exception === true ? "exception: " : "",
    isLimit
      ? `limit(${textCode(tool)}, { perRun: ${when.atLeast} })`
      : `${verdict}(${tools.map(textCode).join(", ")})${step("when", when && conditionCode(when), isLimit)}`,
    step("unless", unless && conditionCode(unless)),
    step("because", because === undefined ? undefined : textCode(because)),
    step("show", show?.map(textCode).join(", ")),
    step("named", name === undefined ? undefined : textCode(name)),
  ].join("");
}

/** A condition as the code that makes it. */
function conditionCode(condition: Condition): string {
  switch (condition.type) {
    case "all":
    case "any":
      return `${condition.type}(${condition.of.map(conditionCode).join(", ")})`;
    case "not":
      return `not(${conditionCode(condition.of)})`;
    case "argument":
      return `arg(${textCode(condition.path)}).is(${testCode(condition.is)})`;
    case "roles":
      return `roles(${condition.roles.map(textCode).join(", ")}).are(${testCode(condition.is)})`;
    case "effect":
      return `effect(${condition.in.map(textCode).join(", ")})`;
    case "untrusted":
      return "untrusted()";
    case "reaches-outside":
      return "reachesOutside()";
    case "planned":
      return "planned()";
    case "outside-plan":
      return "outsidePlan()";
    case "requested":
      return requestedCode(condition);
    case "unknown-links":
      return `unknownLinks(${condition.path === undefined ? "" : textCode(condition.path)})`;
    case "secrecy-exceeds-targets":
      return "secrecyExceedsTargets()";
    case "calls":
      return `calls({ atLeast: ${condition.atLeast} })`;
    default:
      return assertNever(condition);
  }
}

function requestedCode({ exactly = false }: Extract<Condition, { type: "requested" }>): string {
  return exactly ? "requested({ exactly: true })" : "requested()";
}

/** A value as code: nothing in it can end the literal, or be read in another order than it is written. */
export function valueCode(value: Json): string {
  if (typeof value === "string") return textCode(value);
  if (Array.isArray(value)) return `[${value.map((each: Json) => valueCode(each)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, field]) => `${textCode(key)}: ${valueCode(field)}`)
    .join(", ")} }`;
}

function testCode(test: ValueTest): string {
  switch (test.type) {
    case "bound":
      return `boundToIntent(${test.as === undefined ? "" : textCode(test.as)})`;
    case "one-of":
      return `oneOf(${test.values.map(valueCode).join(", ")})`;
    case "within": {
      const min = test.min === undefined ? [] : [`min: ${test.min}`];
      const max = test.max === undefined ? [] : [`max: ${test.max}`];
      return `within({ ${[...min, ...max].join(", ")} })`;
    }
    case "host-in":
      return `hostIn(${test.hosts.map(textCode).join(", ")})`;
    case "absent":
      return test.orDefault === true ? "absent({ orDefault: true })" : "absent()";
    default:
      return assertNever(test);
  }
}

function step(name: string, said: string | undefined, isLeftOut = false): string {
  return said === undefined || isLeftOut ? "" : `.${name}(${said})`;
}

function textCode(text: string): string {
  return textLine(JSON.stringify(text));
}

/**
 * A text on one line with everything visible: invisible characters, changes of direction and terminal controls are written as `\\u202e`. JSON
 * leaves them as they are.
 */
export function textLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (letter) =>
    Array.from(
      { length: letter.length },
      (_, index) => `\\u${letter.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
