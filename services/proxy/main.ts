import { serveProxy } from '@heddle/host/programs'

// The proxy alone, beside a gateway and workers that run elsewhere: `node services/proxy/dist/main.js`.
await serveProxy()
