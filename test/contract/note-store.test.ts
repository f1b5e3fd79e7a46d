import { inMemoryNotes } from "../../src/session.ts";
import { sqliteNotes } from "../../src/sqlite.ts";
import { noteStoreContract } from "./note-store.ts";

noteStoreContract("in memory", inMemoryNotes);
noteStoreContract("SQLite", () => sqliteNotes(":memory:"));
