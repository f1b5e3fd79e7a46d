import { sqliteMemory } from "../../src/adapters/sqlite/sqlite-memory.ts";
import { inMemorySlots } from "../../src/session/memory-store.ts";
import { memoryStoreContract } from "./memory-store.ts";

memoryStoreContract("in memory", inMemorySlots);
memoryStoreContract("SQLite", () => sqliteMemory(":memory:"));
