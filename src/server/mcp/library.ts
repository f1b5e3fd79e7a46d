import type * as McpServer from "@modelcontextprotocol/server";
import type * as McpStdio from "@modelcontextprotocol/server/stdio";
import { importInstalled, importPeer } from "../../adapters/peer.ts";

/** The parts of the MCP server library that are used. */
export type Library = typeof McpServer;

const name = "@modelcontextprotocol/server";
const peer = { package: name, purpose: "an MCP server" };

/** @throws WritError `peer-missing` */
export const loadLibrary = (): Promise<Library> => importPeer(() => importInstalled<Library>(name), peer);

/** @throws WritError `peer-missing` */
export const loadStdio = (): Promise<typeof McpStdio> =>
  importPeer(() => importInstalled<typeof McpStdio>(`${name}/stdio`), peer);
