// Puts a bearer key before suites that cannot send one: node authproxy.mjs URL KEY
// Prints its own URL, with the path of URL, once it listens on a free port of 127.0.0.1. Its own address in
// Host and Origin becomes the server's, any other value passes as it came: so the DNS-rebinding scenario
// reaches the server's own check, with a good key.
import http from 'node:http';

const [url, key] = process.argv.slice(2);
const target = new URL(url);
const proxy = http.createServer((asked, answer) => {
  const own = `127.0.0.1:${proxy.address().port}`;
  const headers = { ...asked.headers, authorization: `Bearer ${key}` };
  if (headers.host === own) headers.host = target.host;
  if (headers.origin === `http://${own}`) headers.origin = target.origin;
  const passed = http.request(
    { host: target.hostname, port: target.port, method: asked.method, path: asked.url, headers },
    (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
      answer.on('close', () => got.destroy());
    });
  passed.on('error', () => { if (!answer.headersSent) answer.writeHead(502); answer.end(); });
  // A client that gives up on its stream must be seen to do so by the server.
  answer.on('close', () => passed.destroy());
  asked.pipe(passed);
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}${target.pathname}`));
