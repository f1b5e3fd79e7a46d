import { asProcess } from "../../src/cli/as-process.ts";
import { runProgram } from "./program.ts";

await asProcess(() => runProgram(process.argv.slice(2)));
