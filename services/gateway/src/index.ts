export type { Backend as GatewayBackend } from './app.js'
export { type Gateway, type GatewayOptions, isOpenToOthers, startGateway } from './gateway.js'
export { createMcpServer, type McpServerOptions } from './mcp/server.js'
export { serveMcpOverStdio } from './mcp/stdio.js'
