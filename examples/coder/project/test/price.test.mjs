import assert from "node:assert/strict";
import { test } from "node:test";
import { priceOf } from "../src/price.mjs";

test("nine are not cheaper", () => assert.equal(priceOf(9, 2), 18));
test("ten are", () => assert.equal(priceOf(10, 2), 18));
