import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFiles } from "../../../src/cli/read-files.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-files-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, contents: string | readonly number[]): string {
  const path = join(folder, name);
  writeFileSync(path, typeof contents === "string" ? contents : Uint8Array.from(contents));
  return path;
}

const codes = (text: string): number[] => Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
const riff = (kind: string): number[] => [...codes("RIFF"), 4, 0, 0, 0, ...codes(kind), 0];

describe("the files of a question", () => {
  it.each<[string, readonly number[] | string, string]>([
    ["a.dat", [0x89, ...codes("PNG\r\n"), 0x1a, 0x0a, 0], "image/png"],
    ["b.png", [0xff, 0xd8, 0xff, 0xe0, 0], "image/jpeg"],
    ["c", codes("GIF89a\0"), "image/gif"],
    ["d.bin", riff("WEBP"), "image/webp"],
    ["e.bin", riff("WAVE"), "audio/wav"],
    ["f.txt", "%PDF-1.7\n%\u0000", "application/pdf"],
    ["g", codes("ID3\u0004\0"), "audio/mpeg"],
    ["h.mp3", [0xff, 0xfb, 0x90, 0], "audio/mpeg"],
    ["i.mp4", [0, 0, 0, 24, ...codes("ftypisom")], "video/mp4"],
    ["j.MD", "# Tea\n\nGrün, 3 €\n", "text/plain"],
    ["k.json", "{}", "text/plain"],
    ["l", "plain", "text/plain"],
    ["m.svg", "<svg/>", "text/plain"],
  ])("%s is known by its contents, else by its name", async (name, contents, mediaType) => {
    const [told, part] = await readFiles([written(name, contents)]);
    expect(told).toBe(`File ${name}:`);
    expect(part).toMatchObject({ type: "file", mediaType });
    const { data } = part as { data: string };
    expect(Buffer.from(data, "base64").length).toBe(
      typeof contents === "string" ? Buffer.byteLength(contents) : contents.length,
    );
  });

  it("come in their order", async () => {
    const parts = await readFiles([written("1.txt", "one"), written("2.txt", "two")]);
    expect(parts.map((part) => (typeof part === "string" ? part : atob(part.data)))).toEqual([
      "File 1.txt:",
      "one",
      "File 2.txt:",
      "two",
    ]);
  });

  it("are refused with what is wrong", async () => {
    const large = written("large.txt", "a");
    truncateSync(large, 20_000_001);
    const half = written("half.txt", "a");
    truncateSync(half, 10_000_001);
    mkdirSync(join(folder, "folder"));
    written("cat.png", [0x89, ...codes("PNG\r\n"), 0x1a, 0x0a]);
    const wrong: readonly (readonly [paths: readonly string[], value: string, advice: RegExp])[] = [
      [["nothing.txt"], "nothing.txt", /^There is no such file\.$/],
      [["cta.png"], "cta.png", /^There is no such file; did you mean "cat\.png"\?$/],
      [["nowhere/cat.png"], "nowhere/cat.png", /^There is no such file\.$/],
      [["folder"], "folder", /^It is a folder: name its files one by one\.$/],
      [[written("empty.txt", "")], "empty.txt", /^It is empty\.$/],
      [
        [large],
        "large.txt",
        /^It has 20\.0 MB; the files of one question may have at most 20 MB together\.$/,
      ],
      [[half, half], "half.txt", /^The files have 20\.0 MB; .* may have at most 20 MB together\.$/],
      [
        [written("odd.xyz", [0, 1, 2, 255])],
        "odd.xyz",
        /^The kind of the file cannot be recognised\. Give a picture/,
      ],
      [
        [written("wide.txt", [0xff, 0xfe, 0x54, 0])],
        "wide.txt",
        /^The kind of the file .* or a text in UTF-8\.$/,
      ],
    ];
    for (const [paths, value, advice] of wrong) {
      const error: unknown = await readFiles(
        paths.map((path) => (path.startsWith("/") ? path : join(folder, path))),
      ).catch((thrown: unknown) => thrown);
      expect(error, value).toMatchObject({ code: "option-invalid", data: { option: "--file" } });
      const { data } = error as { data: { value: string; advice: string } };
      expect(data.value.endsWith(value), data.value).toBe(true);
      expect(data.advice).toMatch(advice);
    }
  });
});
