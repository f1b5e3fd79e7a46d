// node examples/seeds/file-writer/main.ts
//
// A tool with types on both sides. The model sees the schema; the tool never sees arguments that do not match it.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { agent, fs, tool } from "writ";
import { fixed } from "writ/tools";
import { scripted } from "writ/testing";
import { z } from "zod";

/** The mistakes in arguments, found before the tool could see them. */
const wrong: string[] = [];
const folder = await mkdtemp(join(tmpdir(), "file-writer-"));

const fileWriter = tool({
  name: "write_file",
  description: "Writes content to a file",
  inputSchema: z.object({
    name: z.string().describe("Name of the file, without folders"),
    content: z.string().describe("UTF-8 file contents"),
    overwrite: z.boolean().default(false).describe("Whether a file of that name may be replaced"),
  }),
  outputSchema: z.object({ bytesWritten: z.number().int() }),
  effect: "write",
  trusted: true, // the result is the tool's own count: the next write does not need a person
  needs: [fs.read(folder), fs.write(folder)],
  recover: {
    // Mends arguments that are not JSON because of one comma too many. The model is told of any other mistake.
    invalidArguments(raw, { type }) {
      wrong.push(type);
      return type === "unreadable" ? fixed(raw.replace(/,\s*\}$/, "}")) : undefined;
    },
  },
  async execute({ name, content, overwrite }, { fs: files }) {
    if (basename(name) !== name) throw new Error(`"${name}" is not the name of a file`);
    const path = join(folder, name);
    if (!overwrite && (await files.stat(path)) !== undefined) throw new Error(`there is a "${name}" already`);
    await files.writeText(path, content);
    return { bytesWritten: (await files.stat(path))?.bytes ?? 0 };
  },
});

const model = scripted([
  { calls: [{ name: "write_file", arguments: { name: "greeting.txt", content: "Grüße" } }] },
  { calls: [{ name: "write_file", arguments: '{"name": "list.txt", "content": "one\\ntwo\\n",}' }] },
  { calls: [{ name: "write_file", arguments: { name: "empty.txt" } }] },
  { calls: [{ name: "write_file", arguments: { name: "empty.txt", content: "" } }] },
  { calls: [{ name: "write_file", arguments: { name: "../outside.txt", content: "x" } }] },
  "Three files are written.",
]);

try {
  const writer = agent({
    name: "writer",
    model,
    tools: [fileWriter],
    grants: [fs.read(folder), fs.write(folder)],
  });
  const { transcript, text } = await writer.run("Save the greeting, the list and an empty file.");

  const schema = model.requests[0]?.tools[0]?.inputSchema;
  console.log("The model is told of write_file:", JSON.stringify(schema, undefined, 2));
  assert.deepEqual(schema?.["required"], ["name", "content"]); // a field with a default may be left out
  assert.match(JSON.stringify(schema), /UTF-8 file contents/);

  const results = transcript.messages.filter((message) => message.role === "tool");
  for (const { status, text: told } of results) console.log(`${status.padEnd(7)} ${told}`);
  assert.deepEqual(
    results.map(({ status, value }) => [status, value]),
    [
      ["ok", { bytesWritten: 7 }], // five letters, two of them of two bytes
      ["ok", { bytesWritten: 8 }], // mended: the model was not asked again
      ["invalid", undefined], // told, and called again by the model
      ["ok", { bytesWritten: 0 }],
      ["error", undefined],
    ],
  );
  assert.deepEqual(wrong, ["unreadable", "mismatch"]);
  assert.match(results[2]?.text ?? "", /Missing required parameters: content/);

  const files = (await readdir(folder)).toSorted();
  assert.deepEqual(files, ["empty.txt", "greeting.txt", "list.txt"]);
  assert.equal(await readFile(join(folder, "greeting.txt"), "utf8"), "Grüße");
  console.log(text);
} finally {
  await rm(folder, { recursive: true });
}
