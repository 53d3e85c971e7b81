export { serveGateway, serveProxy, serveStages } from './program.js'
