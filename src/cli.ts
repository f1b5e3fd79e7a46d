/**
 * Parts of the command line for your own programs: find a model, and print a run, as `writ run` does.
 *
 * @module writ/cli
 */
export { type FetchEvent, findModel, type FindModelOptions, type FoundModel } from "./adapters/find-model.ts";
export { type ExitCode } from "./cli/exit-code.ts";
export { printRun, type PrintRunOptions } from "./cli/print-run.ts";
