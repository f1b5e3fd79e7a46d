import { describe, expect, it } from "vitest";
import { failureOf, isAway } from "../../../src/adapters/postgres/failures.ts";

/** An error as `pg` throws it. */
const thrown = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe("a statement whose connection broke", () => {
  it.each([
    ["while it was carried out", thrown("Connection terminated unexpectedly")],
    [
      "before it, in the middle of a transaction",
      thrown("Client has encountered a connection error and is not queryable"),
    ],
    ["before it, as it was given up", thrown("Client was closed and is not queryable")],
    ["in silence", thrown("Query read timeout")],
    ["as the server stopped", thrown("terminating connection due to administrator command", "57P01")],
  ])("%s is said again", (_when, error) => {
    expect(isAway(error)).toBe(true);
  });

  it("is not one that the server refuses", () => {
    const refused = thrown("null value in a column", "23502");
    expect(isAway(refused)).toBe(false);
    const name = { server: "db:5432/agents", role: "writ", schema: '"writ"' };
    expect(failureOf(refused, name)).toMatchObject({ code: "postgres-failed" });
  });
});
