import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { causesOf } from "../../../src/error/causes.ts";
import { isWritError, WritError } from "../../../src/error/writ-error.ts";
import { errorWithoutSecrets, toldProgress, withoutSecrets } from "../../../src/run/secrets.ts";
import type { PowerPort } from "../../../src/tool/power-port.ts";

const secret = "tok-0815-very-secret";

/** A machine in which that secret was used. */
function machine(holdsSecrets = true): { readonly powers: PowerPort } {
  return {
    powers: {
      open: () => ({ handles: {}, close: () => undefined }),
      inside: (_scope, work) => work(),
      context: () => (work) => work(),
      current: () => undefined,
      scrub: (text) => text.replaceAll(secret, "[secret]").replaceAll("4711471147", "[secret]"),
      holdsSecrets,
    },
  };
}

const cleaned = (thrown: unknown): unknown => errorWithoutSecrets(thrown, machine());

describe("plain data", () => {
  it("is cleaned in texts, names of fields and numbers", () => {
    const given = { [secret]: [`a ${secret}`, 4711471147, 5, null, undefined], rest: true };
    expect(withoutSecrets(given, machine())).toEqual({
      "[secret]": ["a [secret]", "[secret]", 5, null, undefined],
      rest: true,
    });
  });

  it("is the very same where no secret was used", () => {
    const given = { text: secret };
    expect(withoutSecrets(given, machine(false))).toBe(given);
    expect(withoutSecrets(given, {})).toBe(given);
  });

  it("is the very same where no secret is in it, and so is each part that is clean", () => {
    const given = { rows: [{ id: 1, text: "plain" }, []], other: { empty: {} } };
    expect(withoutSecrets(given, machine())).toBe(given);
    const kept = { clean: given, list: [given, secret] };
    const clean = withoutSecrets(kept, machine());
    expect(clean).toEqual({ clean: given, list: [given, "[secret]"] });
    expect(clean.clean).toBe(given);
    expect(clean.list[0]).toBe(given);
  });

  it("that is progress may be nothing, and may be no JSON", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const told = (value: unknown): unknown => toldProgress(value as never, machine());
    expect([told(undefined), told(circle), told({ at: secret })]).toEqual([null, null, { at: "[secret]" }]);
  });
});

describe("an error", () => {
  it("without a secret is the very same", () => {
    const error = new TypeError("plain", { cause: { field: 1 } });
    expect(cleaned(error)).toBe(error);
  });

  const hiding: readonly (readonly [string, () => unknown])[] = [
    ["its words", () => new Error(secret)],
    ["its name", () => Object.assign(new Error("x"), { name: secret })],
    ["its stack", () => Object.assign(new Error("x"), { stack: `Error: ${secret}` })],
    ["a field", () => Object.assign(new Error("x"), { response: { body: [{ text: secret }] } })],
    ["the name of a field", () => Object.assign(new Error("x"), { [secret]: 1 })],
    ["a hidden field", () => Object.defineProperty(new Error("x"), "hidden", { value: secret })],
    ["a symbol", () => Object.assign(new Error("x"), { [Symbol("s")]: secret })],
    ["a Map", () => Object.assign(new Error("x"), { seen: new Map([["a", secret]]) })],
    ["a Set", () => Object.assign(new Error("x"), { seen: new Set([secret]) })],
    ["bytes", () => Object.assign(new Error("x"), { body: Buffer.from(secret) })],
    ["a deep cause", () => new Error("x", { cause: new Error("y", { cause: new Error(secret) }) })],
    ["a cause that is no error", () => new Error("x", { cause: { body: secret } })],
    ["one of many", () => new AggregateError([new Error("y"), new Error(secret)], "x")],
    ["data", () => new WritError("handle-failed", { resource: "net(x)", reason: secret })],
    ["a text", () => secret],
    ["an object", () => ({ toString: () => `oh ${secret}`, secret })],
  ];
  it.each(hiding)("that hides one in %s is replaced", (_where, make) => {
    const clean = cleaned(make());
    expect(inspect(clean, { depth: 20, showHidden: true })).not.toContain(secret);
    expect(inspect(clean, { depth: 20, showHidden: true })).not.toContain(
      Buffer.from(secret).toString("hex"),
    );
    expect(String(clean)).not.toContain(secret);
  });

  it("keeps its name, its code and the codes of its causes", () => {
    const cause = new WritError("capability-denied", { resource: `fs.read(/${secret})`, reason: "No." });
    const between = Object.assign(new Error(`between ${secret}`, { cause }), { name: "Between" });
    const outer = new WritError(
      "provider-failed",
      { provider: "p", model: "m", reason: secret },
      { cause: between },
    );
    const found = causesOf(cleaned(outer));
    expect(found.map(({ name }) => name)).toEqual(["WritError", "Between", "WritError"]);
    expect(isWritError(found[0], "provider-failed") && found[0].data.reason).toBe("[secret]");
    expect(found[1]?.message).toBe("between [secret]");
    expect(isWritError(found[2], "capability-denied") && found[2].message).toContain("fs.read(/[secret]).");
  });

  it("that cannot be looked into, or holds too much, is replaced too", () => {
    const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
    revoke();
    expect(cleaned(proxy)).toMatchObject({ message: "something was thrown that cannot be shown" });
    const large = Object.assign(new Error("large"), { all: Array.from({ length: 5000 }, () => ({})) });
    expect(cleaned(large)).toMatchObject({ message: "large" });
    expect(cleaned(large)).not.toHaveProperty("all");
    const circle: Error & { self?: unknown } = Object.assign(new Error("circle"), { secret });
    circle.self = circle;
    circle.cause = circle;
    expect(inspect(cleaned(circle), { depth: 40 })).not.toContain(secret);
  });
});
