/** A client that openapi-generator makes from our document, for `conformance client`; generated.sh runs it. */

import { readFileSync } from "node:fs";
import { ApiClient, ExtractionApi, StaticApi } from "generated";

const token = process.env.SALLYPORT_API_KEY;
const task = JSON.parse(readFileSync(0, "utf8"));
const client = new ApiClient(process.env.SALLYPORT_BASE_URL);
client.authentications.bearerToken.accessToken = token;
client.timeout = task.time_limit_ms;

function data(response, code) {
  if (response?.code !== code) throw new Error("no success");
  return response.data;
}

async function extract({ num }) {
  const entries = data(await new ExtractionApi(client).extractProxies(num, {}), 0);
  return { gateways: entries.map((entry) => `${entry.ip}:${entry.port}`) };
}

async function groups() {
  const { items } = data(await new StaticApi(client).listStaticGroups(token), 200);
  return { groups: items.map((group) => group.groupId) };
}

async function search(body) {
  const instances = [];
  for (let page = 1; ; page++) {
    const found = data(await new StaticApi(client).searchStaticInstances(token, { ...body, page }), 200);
    instances.push(...found.items.map((item) => item.instanceId));
    if (instances.length >= found.total || found.items.length === 0) return { instances, total: found.total };
  }
}

const operations = { extract, groups, search };
// The generated function reads JSON alone.
if (!(task.operation in operations)) process.exit(64);
operations[task.operation](task.arguments)
  .catch((error) => ({ error: { class: error.name, message: String(error.message) } }))
  .then((result) => console.log(JSON.stringify(result)));
