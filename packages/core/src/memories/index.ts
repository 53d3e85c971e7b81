export * from './choose.js'
export * from './memory.js'
export * from './render.js'
