import { serveGateway } from '@heddle/host'

// The gateway alone, before workers that run elsewhere: `node services/gateway/dist/main.js`.
await serveGateway()
