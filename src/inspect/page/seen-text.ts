import { options } from "preact";
import { visibleText } from "../../util/visible.ts";

/**
 * Writes out hidden characters in each text of the page: texts of models, tools, policies and ids that callers chose appear everywhere.
 * Preact makes a node of each text, whose props are that text.
 */
export function showHidden(): void {
  options.vnode = (node) => {
    const text: { props: unknown } = node;
    if (typeof text.props === "string") text.props = visibleText(text.props);
  };
}
