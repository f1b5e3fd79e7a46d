import { render } from "preact";
import type { InspectedRun } from "../view.ts";
import { Api, takeLaterTokens, takeToken } from "./api.ts";
import { App } from "./app.tsx";
import { ExportedRun } from "./exported-run.tsx";
import { titleOf } from "./route.ts";
import { showHidden } from "./seen-text.ts";

showHidden();
const root = document.querySelector("#app");
const data = document.querySelector("#run")?.textContent;
if (root !== null) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server that made the page wrote it
  if (data) renderExported(JSON.parse(data) as InspectedRun, root);
  else {
    takeLaterTokens();
    render(<App api={new Api(takeToken())} />, root);
  }
}

function renderExported(view: InspectedRun, place: Element): void {
  document.title = titleOf({ page: "runs", run: view.run.id });
  render(<ExportedRun view={view} />, place);
}
