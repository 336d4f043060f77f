// What a tester would tell Dredd about this API beyond its document: the token, addresses of the account, and which of the
// documented headers a response need not have. Rejections are left out: no example makes the service give one.
const hooks = require('hooks');

const own = JSON.parse(process.env.OWN_ADDRESSES);
const seen = new Set();

hooks.beforeEach((transaction) => {
  const status = transaction.expected.statusCode;
  const media = transaction.expected.headers['Content-Type'];
  // The first of each operation and media type is the success; its rejections of any status follow with the same status.
  const name = `${transaction.request.method} ${transaction.fullPath.split('?')[0]} ${media}`;
  if (status !== '200' || seen.has(name)) {
    transaction.skip = true;
    return;
  }
  seen.add(name);
  let path = transaction.fullPath.replace(/api_key=[^&]*/, `api_key=${process.env.SALLYPORT_API_KEY}`);
  if (media.startsWith('text/plain')) {
    path = path.replace('return_type=json', 'return_type=txt');
  }
  transaction.fullPath = path.replace(/request_id=[^&]*/, `request_id=${seen.size}`);
  for (const header of Object.keys(transaction.expected.headers)) {
    if (header.toLowerCase().startsWith('x-proxy-')) {
      delete transaction.expected.headers[header];
    }
  }
  if (transaction.request.body) {
    transaction.request.body = JSON.stringify({ ips: own });
  }
});
