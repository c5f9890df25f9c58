// Lists materials, creates one and reads it back, with the generated types; prints the id of the created one.

import { deepStrictEqual, strictEqual } from "node:assert";
import createClient from "openapi-fetch";
import type { components, paths } from "./shop.js";

type Material = components["schemas"]["Material"];
type NewMaterial = components["schemas"]["NewMaterial"];

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? "",
  headers: { "X-API-Key": process.env["API_KEY"] ?? "" },
});

async function materials(): Promise<Material[]> {
  const { data, error } = await client.GET("/api/inventory/materials", { params: { query: { limit: 100 } } });
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data.materials;
}

const before = await materials();
const body: NewMaterial = { name: "PETG from TypeScript", type: "filament", quantity: 1500.5 };
const { data: created, error: refused } = await client.POST("/api/inventory/materials", { body });
if (created === undefined) throw new Error(JSON.stringify(refused));
const params = { path: { id: created.id } };
const { data: read, error: missing } = await client.GET("/api/inventory/materials/{id}", { params });
if (read === undefined) throw new Error(JSON.stringify(missing));
deepStrictEqual(read, created);
strictEqual(read.name, body.name);
strictEqual(read.quantity, body.quantity);
strictEqual((await materials()).length, before.length + 1);
console.log(read.id);
