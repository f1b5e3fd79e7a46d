/** Builds the site into site/dist: npm run site. A link that leads nowhere ends it with 1. */
import { readFileSync } from "node:fs";
import { build } from "vitepress";
import { writePages } from "./pages.ts";

const pages = writePages();
await build(import.meta.dirname);
const index = readFileSync(new URL("dist/index.html", import.meta.url), "utf8");
console.log(`site/dist: ${pages} pages, ${index.length} bytes of the first`);
