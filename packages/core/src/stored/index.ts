export * from './delta.js'
export * from './lines.js'
export * from './texts.js'
