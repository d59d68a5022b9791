// An HTTPS server that speaks HTTP/2 only: http2_server.mjs PORT FOLDER; certificate and key are in FOLDER.
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';

const [port, folder] = process.argv.slice(2);
const server = createSecureServer({ key: readFileSync(`${folder}/server.key`), cert: readFileSync(`${folder}/server.pem`) });
server.on('stream', (stream, headers) => {
  stream.respond({ ':status': 200 });
  stream.end(`HTTP/2 ${headers[':path']}`);
});
server.listen(Number(port), '0.0.0.0', () => console.log('up'));
