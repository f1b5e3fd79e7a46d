import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readPrompt } from "../../../src/cli/run.ts";

function input(text: string, isTTY?: boolean): Readable & { isTTY?: boolean } {
  return Object.assign(Readable.from([text]), isTTY === undefined ? {} : { isTTY });
}

it("takes the words of the command line, and then reads no input", async () => {
  const stdin = input("never read");
  expect(await readPrompt(["What", "is", "3?"], stdin)).toBe("What is 3?");
  expect(stdin.readableDidRead).toBe(false);
});

it("reads what is piped in when there are no words, without the line break at its end", async () => {
  expect(await readPrompt([], input("a\nb\r\n"))).toBe("a\nb");
});

it("reads a terminal only when asked to with -", async () => {
  expect(await readPrompt(["-"], input("typed\n", true))).toBe("typed");
  await expect(readPrompt([], input("typed\n", true))).rejects.toMatchObject({ code: "prompt-missing" });
});

it("needs no words where there are files, and reads no terminal then", async () => {
  expect(await readPrompt([], input("typed\n", true), { isOptional: true })).toBe("");
  expect(await readPrompt([], input(""), { isOptional: true })).toBe("");
  expect(await readPrompt([], input("piped\n"), { isOptional: true })).toBe("piped");
});

it.each(["", "\n", "  \n\t"])("takes %o for no prompt", async (text) => {
  await expect(readPrompt([], input(text))).rejects.toMatchObject({ code: "prompt-missing" });
  await expect(readPrompt([text], input("unread"))).rejects.toMatchObject({ code: "prompt-missing" });
});
