export { type HealthServer, startHealthServer } from './health-server.js'
