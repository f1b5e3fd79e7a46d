export { recordForm as protocol } from "../journal/record-form.ts";
