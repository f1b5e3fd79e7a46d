import { Component, type ComponentType, h, type JSX } from "preact";

/** The same component, redrawn only if one of its properties changes: for the rows of long lists. */
export function steady<Props extends object>(Inner: (props: Props) => JSX.Element): ComponentType<Props> {
  return class Steady extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = new Map(Object.entries(this.props));
      return Object.entries(next).some(([name, value]) => before.get(name) !== value);
    }

    override render(): JSX.Element {
      return h(Inner, this.props);
    }
  };
}
