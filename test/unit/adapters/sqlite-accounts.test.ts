import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { account } from "../../../src/policy.ts";
import { sqliteAccounts } from "../../../src/sqlite.ts";
import { scripted } from "../../../src/testing.ts";
import { endSpenders, Spender } from "../../contract/spender.ts";

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

  it("gives the last bit to one of two processes [Y17]", async () => {
    const pair = [new Spender(file, "100"), new Spender(file, "100")];
    for (const one of pair) expect(await one.line()).toBe("ready");
    for (const one of pair) one.run(300);
    const said = await Promise.all(pair.map((one) => one.line()));
    expect(said.filter((line) => line === "asked").length).toBe(1);
    expect(said.filter((line) => line.startsWith("exhausted")).length).toBe(1);
    const winner = pair[said.indexOf("asked")];
    expect(await winner?.line()).toBe("answered 100");
  });

  it("frees what a process had reserved that died, once that expires [Y17]", async () => {
    const [first, second] = [new Spender(file, "100", "1500"), new Spender(file, "100", "1500")];
    for (const one of [first, second]) expect(await one.line()).toBe("ready");
    first.run(60_000);
    expect(await first.line()).toBe("asked");
    await first.kill();
    second.run(0);
    expect(await second.line()).toMatch(/^exhausted/);
    await sleep(1600);
    second.run(0);
    expect(await second.line()).toBe("asked");
    expect(await second.line()).toBe("answered 100");
  });

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
