import { render } from "preact";
import type { InspectedRun } from "../view.ts";
import { Api, takeToken } from "./api.ts";
import { App } from "./app.tsx";
import { ExportedRun } from "./exported-run.tsx";

const root = document.querySelector("#app");
const data = document.querySelector("#run")?.textContent;
if (root !== null) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server that made the page wrote it
  if (data) render(<ExportedRun view={JSON.parse(data) as InspectedRun} />, root);
  else render(<App api={new Api(takeToken())} />, root);
}
