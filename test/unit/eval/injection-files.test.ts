import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseTools } from "../../../src/eval/injection/choose-tools.ts";
import { policyFileOf, readPolicyFile } from "../../../src/eval/injection/policy-file.ts";
import { readSuite, suiteOf } from "../../../src/eval/injection/suite.ts";
import { suiteTools } from "../../../src/eval/injection/suite-tools.ts";
import { withValue } from "../../../src/eval/injection/find-values.ts";
import type { Json, JsonObject } from "../../../src/util/json.ts";
import { domains } from "./injection-suite.ts";

const file = { path: "suite.json", sha256: "0" };
const [housing] = domains;
if (housing === undefined) throw new Error("the first suite is missing");
const suite = suiteOf(housing.suite, file);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-injection-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What is thrown, as its code and message. */
function thrownBy(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof Error && "code" in error
      ? `${String(error.code)} ${error.message}`
      : String(error);
  }
  return "nothing was thrown";
}

describe("a suite's file", () => {
  it("is read whole: tasks with what their tools gave, attacks, pairs with the step that carries the attack", () => {
    const path = write("suite.json", JSON.stringify(housing.suite));
    const read = readSuite(path);
    expect(read).toMatchObject({ name: "housing", path });
    expect(read.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect([read.tools.length, read.tasks.length, read.injections.length, read.pairs.length]).toEqual([
      6, 6, 5, 30,
    ]);
    const lookUp = read.tasks[2]?.steps[1];
    expect(lookUp).toEqual({
      tool: "find_tenant",
      args: { name: "Rosa Lind" },
      result: { name: "Rosa Lind", email: "rosa.lind@harbour.example", flat: "4B" },
      vectors: [],
    });
    expect(read.tasks[0]?.steps[0]?.result).toMatch(/^Invoice INV-7\n/);
    expect(read.pairs.filter(({ strikes }) => strikes.length === 0)).toHaveLength(5);
  });

  it("finds the step that carries the attack itself where the pair does not say it", () => {
    const { pairs, ...rest } = housing.suite;
    const silent = (pairs as readonly JsonObject[]).map(({ user = null, injection = null }) => ({
      user,
      injection,
    }));
    const read = suiteOf({ ...rest, pairs: silent }, file);
    expect(read.pairs.map(({ strikes }) => strikes)).toEqual(suite.pairs.map(({ strikes }) => strikes));
  });

  it("names the steps behind the first that an attacker can write into at one of the pair's places", () => {
    const [task] = housing.suite["user_tasks"] as readonly (JsonObject & {
      readonly steps: readonly JsonObject[];
    })[];
    const at = (...places: readonly string[]): JsonObject => ({
      ...task?.steps[0],
      injection_vectors_in_result: places,
    });
    const user_tasks = [{ ...task, steps: [at("a"), at("b"), at(), at("a", "b")] }];
    const struckAt = (pair: JsonObject): readonly number[] | undefined => {
      const pairs: Json = [{ user: "user_task_0", injection: "injection_task_0", ...pair }];
      return suiteOf({ ...housing.suite, user_tasks, pairs }, file).pairs[0]?.strikes;
    };
    expect(struckAt({})).toEqual([0, 1, 3]);
    expect(struckAt({ vectors: ["b"] })).toEqual([1, 3]);
    expect(struckAt({ first_tainted_step: 2, vectors: ["a"] })).toEqual([2, 3]);
    expect(struckAt({ reachable: false })).toEqual([]);
  });

  const broken: readonly (readonly [
    what: string,
    path: (string | number)[],
    value: Json | undefined,
    says: string,
  ])[] = [
    ["no tools", ["tools"], undefined, "in tools, it must be a list, got nothing."],
    [
      "no schema",
      ["tools", 0, "parameters"],
      "x",
      "in tools[0].parameters, it must be an object, got a string.",
    ],
    [
      "a tool twice",
      ["tools", 1, "name"],
      "read_invoice",
      'in tools[1].name, "read_invoice" is there twice.',
    ],
    [
      "a task twice",
      ["user_tasks", 1, "id"],
      "user_task_0",
      'in user_tasks[1].id, "user_task_0" is there twice.',
    ],
    [
      "an attack twice",
      ["injection_tasks", 1, "id"],
      "injection_task_0",
      'in injection_tasks[1].id, "injection_task_0" is there twice.',
    ],
    [
      "no prompt",
      ["user_tasks", 1, "prompt"],
      undefined,
      "in user_tasks[1].prompt, it must be a string, got nothing",
    ],
    [
      "an unknown tool",
      ["user_tasks", 0, "steps", 1, "tool"],
      "fly",
      'in user_tasks[0].steps[1].tool, "fly" is no tool',
    ],
    [
      "an unknown tool of an attack",
      ["injection_tasks", 0, "steps", 0, "tool"],
      "fly",
      'in injection_tasks[0].steps[0].tool, "fly" is no tool',
    ],
    [
      "no arguments",
      ["injection_tasks", 0, "steps", 0, "args"],
      [],
      "in injection_tasks[0].steps[0].args, it must be an object, got a list",
    ],
    [
      "no vectors",
      ["user_tasks", 0, "steps", 0, "injection_vectors_in_result"],
      undefined,
      "injection_vectors_in_result, it must be a list, got nothing",
    ],
    ["an unknown task", ["pairs", 3, "user"], "nobody", "in pairs[3].user, no user task has this id."],
    [
      "a step that is not there",
      ["pairs", 0, "first_tainted_step"],
      7,
      "in pairs[0].first_tainted_step, it is not the index of a step of user_task_0, which has 2",
    ],
    ["no tasks", ["user_tasks"], [], "in user_tasks, it is empty"],
  ];
  it.each(broken)("is refused with %s, by the place of it", (...[, path, value, says]) => {
    const changed = withValue(housing.suite, path, value);
    const thrown = thrownBy(() => suiteOf(changed, file));
    expect(thrown).toContain("eval-suite-invalid The file suite.json is not a valid suite: ");
    expect(thrown).toContain(says);
  });

  it("is refused when it is no JSON, or not there", () => {
    expect(thrownBy(() => readSuite(write("broken.json", "{")))).toMatch(
      /^eval-suite-invalid .*broken\.json is not a valid suite: in \(the whole file\), it cannot be read as JSON/,
    );
    expect(thrownBy(() => readSuite(join(folder, "none.json")))).toMatch(/^file-unreadable /);
  });
});

describe("a policy's file", () => {
  it("is a policy with skills beside it", () => {
    const path = write("policy.json", JSON.stringify(housing.policy));
    const read = readPolicyFile(path, suite);
    expect(read.policy.name).toBe("housing");
    expect(read.policy).not.toHaveProperty("skills");
    expect(Object.keys(read.skills ?? {})).toEqual(["bills", "letters"]);
    const { skills: _skills, ...bare } = housing.policy;
    expect(policyFileOf(bare, file, suite).skills).toBeUndefined();
  });

  const wrong: readonly (readonly [what: string, path: (string | number)[], value: Json, says: string])[] = [
    [
      "a tool that the suite lacks",
      ["tools", "reed_letter"],
      { effect: "read" },
      'in tools.reed_letter, the suite suite.json has no "reed_letter"; did you mean "read_letter"?',
    ],
    [
      "a parameter that the tool lacks",
      ["tools", "pay", "parameters"],
      { euros: "amount" },
      'in tools.pay.parameters.euros, the suite suite.json has no "euros"; did you mean "euro"?',
    ],
    [
      "an unknown effect",
      ["tools", "pay", "effect"],
      "explode",
      "in tools.pay.effect, must be one of none, read, write, irreversible",
    ],
    [
      "an unknown tool in a skill",
      ["skills", "bills", 1],
      "fly",
      'in skills.bills[1], the suite suite.json has no "fly"',
    ],
    ["an empty skill", ["skills", "bills"], [], "in skills.bills, is empty"],
    ["no skills in skills", ["skills"], {}, "in skills, is empty: leave it out"],
    ["skills that are no lists", ["skills", "bills"], "pay", "in skills.bills, must be a list, got a string"],
    [
      "an unknown tool in a rule",
      ["extraRules"],
      [{ verdict: "deny", tools: ["payy"] }],
      'in extraRules[0].tools, the suite suite.json has no "payy"; did you mean "pay"?',
    ],
    ["an unknown verdict", ["rules"], [{ verdict: "maybe", tools: ["*"] }], "in rules[0].verdict, "],
    ["an unknown field", ["toolz"], {}, 'has the unknown field "toolz"'],
  ];
  it.each(wrong)("is refused with %s, by the place of it", (...[, path, value, says]) => {
    const changed = withValue(housing.policy, path, value);
    const thrown = thrownBy(() => policyFileOf(changed, { path: "policy.json", sha256: "0" }, suite));
    expect(thrown).toContain("eval-policy-invalid The policy file policy.json cannot be used: ");
    expect(thrown).toContain(says);
  });

  it("is refused when it is no object, no JSON, or not there", () => {
    expect(thrownBy(() => policyFileOf([], file, suite))).toContain(
      "in (the whole file), must be an object, got a list",
    );
    expect(thrownBy(() => readPolicyFile(write("broken.json", "[1,"), suite))).toContain(
      "it cannot be read as JSON",
    );
    expect(thrownBy(() => readPolicyFile(join(folder, "none.json"), suite))).toMatch(/^file-unreadable /);
  });
});

describe("the skill of a task", () => {
  const skills = { all: ["a", "b", "c", "d"], ab: ["a", "b"], bc: ["b", "c"], e: ["e"] };
  it.each([
    ["the smallest skill that has all", ["b", "a"], ["ab"]],
    ["a larger one where it must be", ["a", "c"], ["all"]],
    ["two skills where none has all", ["a", "e"], ["ab", "e"]],
    ["the first of two that are as small", ["b"], ["ab"]],
    ["what there is, for a tool that no skill has", ["b", "z"], ["ab"]],
  ])("is %s", (_what, needed, chosen) => {
    expect(chooseTools(skills, needed).skills).toEqual(chosen);
  });

  it("is found among many skills of one tool", () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`s${index}`, [`t${index}`]]));
    const needed = Array.from({ length: 30 }, (_, index) => `t${2 * index}`);
    expect(chooseTools(many, needed).tools).toEqual(needed);
  });

  it("leaves out a skill that later ones make needless", () => {
    const overlapping = { most: ["a", "b", "c"], ad: ["a", "d"], be: ["b", "e"], cf: ["c", "f"] };
    expect(chooseTools(overlapping, ["a", "b", "c", "d", "e", "f"]).skills).toEqual(["ad", "be", "cf"]);
  });

  it("lists a tool once", () => {
    expect(chooseTools({ x: ["a", "b"], y: ["b", "c"] }, ["a", "c"]).tools).toEqual(["a", "b", "c"]);
  });
});

describe("a tool's parameters", () => {
  it("are read behind references and alternatives", () => {
    const parameters: JsonObject = {
      type: "object",
      $defs: { Permission: { enum: ["read", "write"], type: "string" } },
      properties: {
        permission: { $ref: "#/$defs/Permission" },
        copies: { anyOf: [{ type: "null" }, { type: "array", items: { type: "string", format: "email" } }] },
        count: { type: ["null", "integer"] },
        loop: { $ref: "#/properties/loop" },
      },
      required: ["permission"],
    };
    const read = suiteTools([{ name: "share", description: "", parameters }]).parametersOf("share");
    expect(
      read.map(({ name, json, isList, isRequired, values, types }) => [
        name,
        json,
        isList,
        isRequired,
        values,
        types,
      ]),
    ).toEqual([
      ["permission", "string", false, true, ["read", "write"], []],
      ["copies", "string", true, false, undefined, ["email"]],
      ["count", "integer", false, false, undefined, ["number"]],
      ["loop", "string", false, false, undefined, []],
    ]);
  });

  it.each([
    ["copy", "E-mail address of a second reader.", ["email"]],
    ["who", "The email addresses of the guests.", ["email"]],
    ["email_id", "The ID of the email.", ["identifier"]],
    ["recipient", "", ["email", "iban"]],
    ["recipient", "IBAN of the payee.", ["iban"]],
    ["page", "The URL to open.", ["url"]],
    ["number", "A phone number.", ["phone"]],
    ["start_time", "", ["date"]],
    ["title", "What it is called.", []],
  ])("are of the kinds that name and description speak of: %s, %j", (name, description, kinds) => {
    const parameters = { type: "object", properties: { [name]: { type: "string", description } } };
    const [read] = suiteTools([{ name: "x", description: "", parameters }]).parametersOf("x");
    expect(read?.types).toEqual(kinds);
  });

  it("have the roles of the policy, and are targets where it says nothing", () => {
    const tools = suiteTools(suite.tools, policyFileOf(housing.policy, file, suite).policy.tools);
    expect([
      tools.roleOf("pay", "euro"),
      tools.roleOf("pay", "reference"),
      tools.roleOf("read_letter", "number"),
    ]).toEqual(["amount", "content", "target"]);
    expect(["pay", "find_tenant", "read_letter"].map(tools.hasEffect)).toEqual([true, false, false]);
    expect(suiteTools(suite.tools).hasEffect("read_letter")).toBe(true);
  });
});
