/** A client on what openapi-typescript generates from our document, for `conformance client`; generated.sh runs it. */

import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./api";

const token = process.env.SALLYPORT_API_KEY ?? "";
const task = JSON.parse(readFileSync(0, "utf8"));
const client = createClient<paths>({ baseUrl: process.env.SALLYPORT_BASE_URL });
const signal = AbortSignal.timeout(task.time_limit_ms);

/** Under HTTP 200 a rejection is JSON, also where text was asked for. */
function isRejection(text: string) {
  try {
    return "code" in JSON.parse(text);
  } catch {
    return false;
  }
}

async function extract(num: number) {
  const { data } = await client.GET("/openapi/v1/proxy/extract", {
    params: { query: { num } },
    headers: { Authorization: `Bearer ${token}` },
    signal,
  });
  if (typeof data !== "object" || data.code !== 0) throw new Error("no success");
  return { gateways: data.data.map((entry) => `${entry.ip}:${entry.port}`) };
}

async function extractText(query: { num: number; lb: "1" | "2" | "3" | "4" | "5" | "6"; sb?: string }) {
  const { data } = await client.GET("/openapi/v1/proxy/extract", {
    params: { query: { ...query, return_type: "txt" } },
    headers: { Authorization: `Bearer ${token}` },
    parseAs: "text",
    signal,
  });
  if (typeof data !== "string" || isRejection(data)) throw new Error("no text");
  const separator = { 1: "\r\n", 2: "/br", 3: "\r", 4: "\n", 5: "\t", 6: query.sb ?? "" }[query.lb];
  return { entries: data.split(separator) };
}

async function groups() {
  const { data } = await client.GET("/openapi/v1/static/groups", {
    params: { query: { api_key: token } },
    signal,
  });
  if (data?.code !== 200) throw new Error("no success");
  return { groups: data.data.items.map((group) => group.groupId) };
}

async function search(body: { ips: string[]; pageSize: number }) {
  const instances: number[] = [];
  for (let page = 1; ; page++) {
    const { data } = await client.POST("/openapi/v1/static/instances/search", {
      params: { query: { api_key: token } },
      body: { ...body, page },
      signal,
    });
    if (data?.code !== 200) throw new Error("no success");
    instances.push(...data.data.items.map((item) => item.instanceId));
    const { total } = data.data;
    if (instances.length >= total || data.data.items.length === 0) return { instances, total };
  }
}

async function answer() {
  switch (task.operation) {
    case "extract":
      return extract(task.arguments.num);
    case "extract_text":
      return extractText(task.arguments);
    case "groups":
      return groups();
    default:
      return search(task.arguments);
  }
}

answer()
  .catch((error) => ({ error: { class: error.name, message: String(error.message) } }))
  .then((result) => console.log(JSON.stringify(result)));
