import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { knowledgeFile } from "../../../../src/adapters/files/knowledge-file.ts";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const { signal } = new AbortController();

function read(path: string, maxBytes?: number): Promise<unknown> {
  const about = { name: "faq", description: "Questions", ...(maxBytes === undefined ? {} : { maxBytes }) };
  return knowledgeFile(path, about).execute({}, { signal });
}

describe("knowledgeFile", () => {
  it("reads the file when it is called, not before, and each time anew [K5, K4.2]", async () => {
    const path = folder.path("later.md");
    const later = knowledgeFile(path, { description: "Comes later" });
    await expect(later.execute({}, { signal })).rejects.toMatchObject({
      code: "file-unreadable",
      data: { path, reason: "it is not there" },
    });
    writeFileSync(path, "first");
    expect(await later.execute({}, { signal })).toBe("first");
    writeFileSync(path, "\uFEFFsecond ü");
    expect(await later.execute({}, { signal })).toBe("second ü");
    rmSync(path);
    await expect(later.execute({}, { signal })).rejects.toMatchObject({ code: "file-unreadable" });
  });

  it.each([
    ["faq.md", "faq"],
    ["my faq.de.txt", "my_faq_de"],
    ["2024.md", "_2024"],
    [`${"x".repeat(90)}.md`, "x".repeat(64)],
  ])("takes its name from %.20s", (path, name) => {
    expect(knowledgeFile(path, { description: "" })).toMatchObject({ name, kind: "knowledge" });
  });

  it("reads no more than maxBytes, cuts between two characters, and says how much is left out [K4.5]", async () => {
    const path = folder.file("long.txt", "aé€𝄞".repeat(2)); // 1 + 2 + 3 + 4 bytes, twice
    expect(await read(path, 20)).toBe("aé€𝄞aé€𝄞");
    expect(await read(path, 19)).toBe("aé€𝄞aé€\n[cut off here: 4 more bytes were left out]");
    expect(await read(path, 10)).toBe("aé€𝄞\n[cut off here: 10 more bytes were left out]");
    expect(await read(path, 9)).toBe("aé€\n[cut off here: 14 more bytes were left out]");
    expect(await read(path, 2)).toBe("a\n[cut off here: 19 more bytes were left out]");
  });

  it("reads 64 KiB unless it is told otherwise", async () => {
    const path = folder.file("large.txt", "x".repeat(70_000));
    expect(await read(path)).toBe(`${"x".repeat(65_536)}\n[cut off here: 4464 more bytes were left out]`);
  });

  it("is the same text in a checkout on Windows", async () => {
    expect(await read(folder.file("windows.txt", "\ufeffTea\r\nMilk\r\n"))).toBe("Tea\nMilk\n");
  });

  it("refuses binary files and other encodings", async () => {
    await expect(read(folder.file("a.bin", new Uint8Array([80, 0, 75])))).rejects.toThrow(
      "it is binary: it has NUL bytes",
    );
    await expect(read(folder.file("latin.txt", new Uint8Array([0x66, 0xfc, 0x72])))).rejects.toThrow(
      "it is not UTF-8",
    );
    const utf16 = folder.file("utf16.txt", Buffer.from("\ufeffTea", "utf16le"));
    await expect(read(utf16)).rejects.toThrow("it is UTF-16, as `>` of Windows PowerShell 5.1 writes it");
    const noBeginning = folder.file("cut.bin", new Uint8Array(40).fill(0x80));
    await expect(read(noBeginning, 20)).rejects.toThrow("it is not UTF-8");
  });

  it("refuses a folder and a device", async () => {
    await expect(read(folder.path())).rejects.toThrow("it is no regular file");
    await expect(read("/dev/zero")).rejects.toMatchObject({ code: "file-unreadable" });
  });

  it.skipIf(process.platform === "win32")("refuses a pipe without waiting for a writer", async () => {
    execFileSync("mkfifo", [folder.path("pipe")]);
    await expect(read(folder.path("pipe"))).rejects.toThrow("it is no regular file");
  });

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "says that it may not read",
    async () => {
      const path = folder.file("locked.txt", "x");
      chmodSync(path, 0);
      await expect(read(path)).rejects.toThrow("this process may not read it");
    },
  );

  it("shows the path as the author gave it", async () => {
    await expect(read("no/such/file.md")).rejects.toThrow("no/such/file.md cannot be read: it is not there.");
  });

  it("ends when the run does", async () => {
    const path = folder.file("short.md", "x");
    const aborted = AbortSignal.abort(new Error("stopped"));
    await expect(knowledgeFile(path, { description: "" }).execute({}, { signal: aborted })).rejects.toThrow(
      "stopped",
    );
  });

  it.each([0, -1, 1.5, NaN])("refuses %s bytes", (maxBytes) => {
    expect(() => knowledgeFile("faq.md", { description: "", maxBytes })).toThrow(
      "`maxBytes` must be a whole number",
    );
  });
});
