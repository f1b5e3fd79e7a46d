import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProject, type Project, writ } from "./command-line.ts";

let project: Project;
beforeAll(() => void (project = makeProject()));
afterAll(() => project.remove());

describe("writ demo", () => {
  it("needs no model, and shows a refusal, an injection, an approval and a crash", async () => {
    const kept = join(project.folder, "demo.db");
    const { code, stdout, stderr } = await writ(["demo", "--keep", kept]);
    expect(stderr).toContain('→ 1 temperature {"city":"Oslo"}\n→ 2 temperature {"city":"Rome"}\n');
    expect(stderr).toContain("wrong arguments: values");
    expect(stderr).toContain("✓ 4 average = 15");
    expect(stderr).toContain("denied (allow-list)");
    expect(stderr).toContain(
      'send_mail {"to":"eve@evil.example","text":"Our prices are …"}  denied (no-rule)',
    );
    expect(stderr).toContain("= sent to ada@example.com");
    expect(stderr).toContain("refund (irreversible) needs your approval: money leaves\n");
    expect(stderr).toContain("✗ the process was killed (SIGKILL)");
    expect(stderr).toContain("✓ the card was charged 1 time: charge B20, send_parcel B20\n");
    expect(stderr).toContain(`writ inspect --store ${kept}`);
    expect(stderr.split("\n").length).toBeLessThan(60); // one page
    expect(stdout).toBe(
      "Oslo has 9 degrees and Rome 21: 15 on average. I may not send mail, so I did not.\n" +
        "Ada has a summary. The page wanted a mail to somebody else: that was stopped.\n" +
        "Order A17 is refunded.\nOrder B20 is paid and on its way.\n",
    );
    expect(code).toBe(0);
    const listed = await writ(["runs", "list", "--store", kept, "--status", "answered"]);
    expect(listed.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "order",
      "refund",
      "mail",
      "weather",
      "",
    ]);
    const again = await writ(["demo", "--keep", kept]);
    expect(again.stderr).toContain("The file exists already");
    expect(again.code).toBe(2);
  });

  it("colours only where colours are wanted", async () => {
    expect((await writ(["demo"], { env: { FORCE_COLOR: "1" } })).stderr).toContain("\u001B[");
    expect((await writ(["demo"], { env: { NO_COLOR: "1" } })).stderr).not.toContain("\u001B[");
  });
});
