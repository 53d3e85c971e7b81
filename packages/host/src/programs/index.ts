export { serveGateway, serveStages } from './program.js'
