export * from './delta.js'
export * from './known-lines.js'
export * from './lines.js'
export * from './texts.js'
