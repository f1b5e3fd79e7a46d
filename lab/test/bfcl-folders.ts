import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Folders laid out as those of the leaderboard, with cases of our own. */
export interface BfclFolders {
  /** The folder that both are in. */
  readonly root: string;
  readonly cases: string;
  readonly data: string;
  /** Writes a file below `root`: a text as it is, values as one line of JSON each. */
  readonly file: (path: string, content: string | readonly unknown[]) => void;
  /** Writes the outputs of a model for a category, under the names that such files had in 2024. */
  readonly recorded: (model: string, category: string, results: Readonly<Record<string, unknown>>) => void;
  readonly remove: () => void;
}

const weather = {
  name: "get_weather",
  description: "The weather of a city",
  parameters: {
    type: "dict",
    properties: {
      city: { type: "string", description: "The city" },
      days: { type: "integer", description: "How many days" },
      unit: { type: "string", enum: ["celsius", "kelvin"] },
    },
    required: ["city", "days"],
  },
};
const lamp = (name: string): object => ({
  name,
  description: "Switches a lamp",
  parameters: {
    type: "dict",
    properties: { room: { type: "string" }, levels: { type: "array", items: { type: "float" } } },
    required: ["room"],
  },
});
const play = {
  name: "play",
  description: "Plays a song",
  parameters: { type: "dict", properties: { song: { type: "string" } }, required: ["song"] },
};

function asked(id: string, content: string, declared: readonly object[]): object {
  return { id, question: [[{ role: "user", content }]], function: declared };
}

/** Two simple cases, one to pick a tool, one with two calls, and two where nothing is to be called. */
export function makeBfclFolders(): BfclFolders {
  const root = mkdtempSync(join(tmpdir(), "writ-bfcl-"));
  const file: BfclFolders["file"] = (path, content) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const text =
      typeof content === "string" ? content : content.map((value) => JSON.stringify(value)).join("\n");
    writeFileSync(join(root, path), text);
  };
  file("bfcl/BFCL_v4_simple_python.json", [
    asked("simple_python_0", "The weather in Lima for 3 days?", [weather]),
    asked("simple_python_1", "The weather in Oslo tomorrow, in kelvin?", [weather]),
  ]);
  file("bfcl/possible_answer/BFCL_v4_simple_python.json", [
    {
      id: "simple_python_0",
      ground_truth: [{ get_weather: { city: ["Lima"], days: [3], unit: ["celsius", ""] } }],
    },
    {
      id: "simple_python_1",
      ground_truth: [{ get_weather: { city: ["Oslo"], days: [1], unit: ["kelvin"] } }],
    },
  ]);
  file("bfcl/BFCL_v4_multiple.json", [
    asked("multiple_0", "Light in the kitchen, please.", [lamp("lamp.on"), lamp("lamp.off")]),
  ]);
  file("bfcl/possible_answer/BFCL_v4_multiple.json", [
    { id: "multiple_0", ground_truth: [{ "lamp.on": { room: ["kitchen"], levels: [[1, 2.5], ""] } }] },
  ]);
  file("bfcl/BFCL_v4_parallel.json", [asked("parallel_0", "Play A Day, then Rain.", [play])]);
  file("bfcl/possible_answer/BFCL_v4_parallel.json", [
    { id: "parallel_0", ground_truth: [{ play: { song: ["A Day"] } }, { play: { song: ["Rain"] } }] },
  ]);
  file("bfcl/BFCL_v4_irrelevance.json", [
    asked("irrelevance_0", "How tall is a giraffe?", [play]),
    asked("irrelevance_1", "What is a prime number?", [weather]),
  ]);
  return {
    root,
    cases: join(root, "bfcl"),
    data: join(root, "outputs"),
    file,
    recorded(model, category, results) {
      const lines = Object.entries(results).map(([id, result]) => ({ id, result }));
      file(`outputs/result/${model}/gorilla_openfunctions_v1_test_${category}_result.json`, lines);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
