import { describe, expect, it } from "vitest";
import { withUndefined } from "../../../tools/undefined-options.ts";

describe("the optional fields of the package's declarations", () => {
  it("take undefined, also those inside others, and functions as a whole", () => {
    const text = `export interface Options {
\t/** Left out by default. */
\treadonly name?: string;
\treadonly on?: (event: { readonly at?: number }) => void;
\treadonly limits?: {
\t\treadonly turns?: number;
\t};
\treadonly model: string;
}
export declare class Runs {
\tprivate readonly store?;
\tlast?: string;
}
export declare function run(input: string, options?: Options): void;
`;
    expect(withUndefined(text)).toBe(`export interface Options {
\t/** Left out by default. */
\treadonly name?: string | undefined;
\treadonly on?: ((event: { readonly at?: number | undefined }) => void) | undefined;
\treadonly limits?: {
\t\treadonly turns?: number | undefined;
\t} | undefined;
\treadonly model: string;
}
export declare class Runs {
\tprivate readonly store?;
\tlast?: string | undefined;
}
export declare function run(input: string, options?: Options): void;
`);
  });
});
