/** A phase of a case in a process of its own, which may be killed: node child.ts <runtime> <case> <address> <folder> <phase>. */
import { casesOf } from "../cases/index.ts";
import { adapterOf, emptyDialogue } from "./play.ts";
import { quiet } from "./quiet.ts";
import { messageOf, Scene } from "./scene.ts";

const [, , runtime = "", caseId = "", address = "", folder = "", phase = ""] = process.argv;
const say = quiet();
const [one] = casesOf([caseId]);
const adapter = await adapterOf(runtime);
const [dialogue, fallbackDialogue] = [emptyDialogue(), emptyDialogue()];
const stage = {
  adapter,
  runtime,
  caseId,
  address,
  fallback: address,
  folder,
  dialogue,
  fallbackDialogue,
  isChild: true,
};
let report: unknown;
try {
  report = await one?.phase?.(new Scene(stage), phase);
} catch (error) {
  report = { threw: messageOf(error) };
}
say(`@@${JSON.stringify(report ?? {})}`);
process.exit(0);
