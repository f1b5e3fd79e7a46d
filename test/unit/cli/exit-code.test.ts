import { describe, expect, it } from "vitest";
import { exitCodeOf } from "../../../src/cli/exit-code.ts";
import { catalogue, type ErrorCode } from "../../../src/error/codes.ts";
import { WritError } from "../../../src/error/writ-error.ts";
import type { Outcome } from "../../../src/event/outcome.ts";

function ofCode(code: ErrorCode): number {
  return exitCodeOf({ error: new WritError(code, {}) });
}

describe("exitCodeOf", () => {
  const outcomes: readonly [Outcome, number][] = [
    [{ type: "answered", content: "16", finishReason: "stop" }, 0],
    [{ type: "failed", code: "tool-failed", message: "" }, 1],
    [{ type: "failed", code: "protocol-violated", message: "" }, 1],
    [{ type: "failed", code: "provider-unreachable", message: "" }, 5],
    [{ type: "failed", code: "model-not-found", message: "" }, 5],
    [{ type: "failed", code: "peer-missing", message: "" }, 5],
    [{ type: "refused", code: "tool-not-allowed", message: "" }, 3],
    [{ type: "exhausted", field: "turns", limit: 1, used: 1, message: "" }, 4],
    [{ type: "cancelled", reason: "" }, 130],
  ];
  it.each(outcomes)("%o gives %i", (outcome, exitCode) => {
    expect(exitCodeOf({ outcome })).toBe(exitCode);
  });

  it.each([
    "file-missing",
    "agent-file-broken",
    "agent-missing",
    "agent-ambiguous",
    "prompt-missing",
    "option-invalid",
    "input-invalid",
  ] as const)("%s is a usage error", (code) => expect(ofCode(code)).toBe(2));

  it("gives every code of the catalogue one of the documented exit codes, and 5 to all of models and providers", () => {
    for (const code of Object.keys(catalogue) as ErrorCode[]) {
      expect([1, 2, 3, 4, 5, 6, 130]).toContain(ofCode(code));
      if (/^(provider|model)-/.test(code)) expect(ofCode(code)).toBe(5);
    }
  });

  it("takes what is not in the catalogue for a failure", () => {
    expect(exitCodeOf({ error: new Error("provider-failed") })).toBe(1);
    expect(exitCodeOf({ error: "text" })).toBe(1);
  });
});
