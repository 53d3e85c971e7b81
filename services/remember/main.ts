import { serveStages } from '@heddle/host/programs'

// This stage alone, as one process of a pool: `node services/remember/dist/main.js`.
await serveStages(['remember'])
