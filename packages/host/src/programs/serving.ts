export { type GatewayService, runGateway, type ServedGateway } from './run-gateway.js'
export { type ProxyService, runProxy } from './run-proxy.js'
export { runStages, type StagesService } from './run-stages.js'
export type { Surroundings } from './surroundings.js'
