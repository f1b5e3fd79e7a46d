import { asProcess } from "../../src/cli/main.ts";
import { runProgram } from "./program.ts";

await asProcess(() => runProgram(process.argv.slice(2)));
