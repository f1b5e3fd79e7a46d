import { expect, it } from "vitest";
import { allow, ask, deny, guarded, policy } from "../../../src/index.ts";
import { policyFromJson } from "../../../src/policy.ts";

const names = (made: ReturnType<typeof policy>): readonly string[] =>
  made.lint(["here"]).map(({ rule }) => rule);

it("names a rule by the field in which its author wrote it, and not by its place behind those of a preset", () => {
  const made = guarded({
    extraRules: [ask("pay"), deny("drop").named("never")],
    exceptions: [allow("look")],
  });
  expect(names(made)).toEqual(["ask pay (extraRules[0])", "never", "allow look (exceptions[0])"]);
  const own = policy({ name: "own", rules: [ask("pay"), ask("send")], extraRules: [deny("drop")] });
  expect(names(own)).toEqual(["ask pay (rule 1)", "ask send (rule 2)", "deny drop (extraRules[0])"]);
});

it("says where a name stands that is there twice", () => {
  const extraRules = [deny("drop"), ask("pay").named("guarded/asks")];
  expect(() => policyFromJson({ name: "x", rules: [ask("a").named("guarded/asks")], extraRules })).toThrow(
    '`extraRules[1]` has the name "guarded/asks", which another rule has',
  );
});
