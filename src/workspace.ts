/**
 * Tools with which a model works on the files of one folder and runs programs, within limits.
 *
 * @module writ/workspace
 */
export { fileTools, type FileToolsOptions } from "./adapters/workspace/file-tools.ts";
export { shellTool, type ShellToolOptions } from "./adapters/workspace/shell-tool.ts";
