import { serveGateway } from '@heddle/host/programs'

// The gateway alone, before workers that run elsewhere: `node services/gateway/dist/main.js`.
await serveGateway()
