/** The choice between several skills when a function does not choose. */
export type Routing =
  | "first"
  | {
      /** The least confidence of the model, from 0 to 1. Default 0. */
      readonly threshold?: number;
      /** The skill that is used when the model is less sure, or names none that there is. Without it the run fails then. */
      readonly otherwise?: string;
    };
