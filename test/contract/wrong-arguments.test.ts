import { expect, it } from "vitest";
import { parallel, race, weighted } from "../../src/compose.ts";
import { printRun } from "../../src/cli.ts";
import { callTool, recordedJournal } from "../../src/doors.ts";
import { decidingDriver, recogniser, textDriver } from "../../src/drivers.ts";
import { evaluate } from "../../src/eval.ts";
import { knowledgeFile, loadAgent, skillFromFolder, skillLibrary } from "../../src/files.ts";
import { agent, memoryJournal } from "../../src/index.ts";
import { ollamaModels } from "../../src/adapters/model/ollama.ts";
import { isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import { modelNamed } from "../../src/models.ts";
import { compareManifests, explain, narrowed, widenings } from "../../src/policy.ts";
import { hashToken } from "../../src/server.ts";
import { forkSession, historyOf, summariseSession } from "../../src/session.ts";
import { sqliteMemory, sqliteNotes, sqliteRuns, sqliteSessions } from "../../src/sqlite.ts";
import { prove, recordedScript, scripted, sentenceInvariants, simulate } from "../../src/testing.ts";
import {
  byWords,
  describeSkill,
  parseCapabilities,
  parseCapability,
  retriever,
  skillContext,
  validateCall,
  validateResult,
} from "../../src/tools.ts";

type Callable = (...given: never[]) => unknown;

const one = agent({ name: "one", model: () => "Done." });
const names: Readonly<Record<string, Callable>> = {
  byWords,
  callTool,
  compareManifests,
  decidingDriver,
  describeSkill,
  evaluate,
  explain,
  forkSession,
  hashToken,
  historyOf,
  isolatedTool,
  knowledgeFile,
  loadAgent,
  modelNamed,
  narrowed,
  parallel,
  parseCapabilities,
  parseCapability,
  printRun,
  prove,
  race,
  recogniser,
  recordedJournal,
  recordedScript,
  retriever,
  scripted,
  sentenceInvariants,
  simulate,
  skillContext,
  skillFromFolder,
  skillLibrary,
  sqliteMemory,
  sqliteNotes,
  sqliteRuns,
  sqliteSessions,
  summariseSession,
  textDriver,
  validateCall,
  validateResult,
  weighted,
  widenings,
};

const given: readonly (readonly [shown: string, value: unknown])[] = [
  ["nothing", undefined],
  ["null", null],
  ["5", 5],
];

it.each(Object.entries(names))("%s() says what it takes, given what it cannot take", async (name, call) => {
  for (const [shown, value] of given) {
    const thrown: unknown = await Promise.try(() => call(value as never)).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect([shown, thrown], name).toMatchObject([shown, { name: "WritError", hint: expect.any(String) }]);
  }
});

it.each<[what: string, begin: () => unknown, told: RegExp]>([
  [
    "a script that is one text",
    () => scripted("Hello" as never),
    /^scripted\(\).*`steps` must be a list.*a string/,
  ],
  [
    "no file of runs",
    () => sqliteRuns(undefined as never),
    /^sqliteRuns\(\).*`path` must be a string, got nothing/,
  ],
  [
    "a variable that is not set",
    () => hashToken(undefined as never),
    /^hashToken\(\).*`token` must be a string/,
  ],
  [
    "a model that is not set",
    () => modelNamed(undefined as never),
    /^modelNamed\(\).*`name` must be a string/,
  ],
  ["tools by name", () => recogniser("add" as never), /^recogniser\(\).*`tools` must be a list/],
  ["no cases", () => evaluate(one, undefined as never), /^evaluate\(\).*`cases` must be a list/],
  ["no options", () => skillFromFolder("x", undefined as never), /^skillFromFolder\(\).*`options` must be/],
  ["no description", () => knowledgeFile("x", undefined as never), /^knowledgeFile\(\).*`options` must be/],
  ["records as text", () => memoryJournal("[]" as never), /^memoryJournal\(\).*`records` must be a list/],
  ["a server as an object", () => ollamaModels({ host: "x" } as never), /^ollamaModels\(\).*`host` must be/],
  ["a policy as text", () => widenings("{}" as never, "{}" as never), /^widenings\(\).*`before` must be/],
  [
    "an option",
    () => printRun(agent({ name: "a", model: () => "Hi" }), "Hi", { aprove: () => true } as never),
    /did you mean "approve"/,
  ],
  ["a module", () => printRun(import("node:fs") as never, "Hi"), /^printRun\(\).*a promise \(`await` it\)/],
  ["a tool by its name", () => validateCall("add" as never, {}), /^validateCall\(\).*`tool` must be/],
])("%s is told as such", async (_what, begin, told) => {
  await expect(Promise.try(begin)).rejects.toThrow(told);
});
