/**
 * Tools for the files of one folder and for programs, with limits.
 *
 * @module writ/workspace
 */
export { fileTools, type FileToolsOptions } from "./adapters/workspace/file-tools.ts";
export { shellTool, type ShellToolOptions } from "./adapters/workspace/shell-tool.ts";
