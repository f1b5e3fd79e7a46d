import { expect, it } from "vitest";
import { approvedCalls } from "../../tools/approvals/approved-calls.ts";
import { sqliteUnderTest } from "./run-store-sqlite.ts";

it("runs exactly the approved calls, once, in processes that are killed at each question", async () => {
  const { complaints, kills, paid, codes } = await approvedCalls(5, sqliteUnderTest);
  expect(complaints).toEqual([]);
  expect([kills, paid]).toEqual([20, 12]); // of five questions two are denied, or answered past their time
  expect(codes).toEqual({ taken: 16, "question-answered": 4, "question-changed": 4, "question-expired": 4 });
}, 240_000); // some ten processes, one after the other
