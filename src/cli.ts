/**
 * The parts of the command line, for programs that want to find a model or print a run as it does.
 *
 * @module writ/cli
 */
export { type FetchEvent, findModel, type FindModelOptions, type FoundModel } from "./adapters/find-model.ts";
export { printRun, type PrintRunOptions } from "./cli/print-run.ts";
