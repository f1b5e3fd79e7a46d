import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { account } from "../../../src/policy.ts";
import { sqliteAccounts } from "../../../src/sqlite.ts";
import { scripted } from "../../../src/testing.ts";
import { endSpenders, sharedAccountContract } from "../../contract/spender.ts";

const usage = { inputTokens: 20, outputTokens: 80 };

let folder = "";
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-accounts-"));
  file = join(folder, "writ.db");
});

afterEach(async () => {
  await endSpenders();
  rmSync(folder, { recursive: true, force: true });
});

describe("accounts in SQLite", () => {
  it("keeps what was booked when the file is opened again [Y17]", async () => {
    const clerk = agent({
      name: "clerk",
      model: scripted([
        { text: "done", usage },
        { text: "done", usage },
      ]),
    });
    for (const expected of [100, 200]) {
      using store = sqliteAccounts(file);
      const kim = account({ store, key: 'kim "\uD800"', limits: { costUsd: 5 } });
      await clerk("hi", { account: kim });
      expect((await kim.used()).tokens).toBe(expected);
      expect((await account({ store, key: "kim", limits: {} }).used()).tokens).toBe(0);
    }
  });

  sharedAccountContract(() => file, " [Y17]");

  it("lets nothing be spent from an entry that cannot be read, and from a file that is closed [Y17]", async () => {
    const store = sqliteAccounts(file);
    const kim = account({ store, key: "kim", limits: { tokens: 1000 } });
    const clerk = agent({ name: "clerk", model: scripted([{ text: "done", usage }]) });
    await clerk("hi", { account: kim });
    const other = new DatabaseSync(file);
    for (const entry of ["{", "null", '{"since":0}']) {
      other.prepare("UPDATE writ_accounts SET entry = ?").run(entry);
      await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
    }
    other.close();
    store.close();
    await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
  });
});
