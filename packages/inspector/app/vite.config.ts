import { defineConfig } from 'vite'

/** Relative addresses work below any path of a proxy; the routes of the application are behind `#`. */
export default defineConfig({
  base: './',
  build: {
    outDir: '../site',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of some 225 kB compressed; test/inspector holds the limit of 350 kB for all of them.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      onwarn(warning, warn) {
        // Marks for servers that render components, of which there are none here.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning)
      },
    },
  },
})
