// A server without work: its longest answer is what the machine costs an answer, whoever loads it. It ends with its parent.

import { createServer } from 'node:http'

const server = createServer((_, response) => response.end('{"status":"ok"}'))
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
process.on('disconnect', () => process.exit())
