import { options } from "preact";
import { visibleText } from "../../util/visible.ts";

/**
 * Has each text of the page written with what is hidden in it: texts of models, tools, policies and whoever chose an id stand in all places.
 * Preact makes a node of each text, whose props are that text.
 */
export function showHidden(): void {
  options.vnode = (node) => {
    const text: { props: unknown } = node;
    if (typeof text.props === "string") text.props = visibleText(text.props);
  };
}
